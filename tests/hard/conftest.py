"""Hard tests: a quick part of them runs with all others, all of it with `pytest tests/hard --hard`."""

from __future__ import annotations

from pathlib import Path

import pytest

ONLY_HARD = {"test_disk.py", "test_cold_compiles.py"}  # quick parts: tests/test_writers.py, tests/test_cache.py
COUNTS = pytest.StashKey[dict[str, str]]()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is too long for every day."""
    return True if collection_path.name in ONLY_HARD and not config.getoption("--hard") else None


@pytest.fixture
def hard(request: pytest.FixtureRequest) -> bool:
    """Whether all is to be done."""
    return bool(request.config.getoption("--hard"))


@pytest.fixture
def counts(request: pytest.FixtureRequest) -> dict[str, str]:
    """What was counted, by kind, to be printed in the end."""
    return request.config.stash.setdefault(COUNTS, {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many cases of each kind there were."""
    counted = config.stash.get(COUNTS, {})
    if config.getoption("--hard") and counted:
        terminalreporter.section("cases")
        for kind, number in counted.items():
            terminalreporter.write_line(f"{kind:44} {number}")
