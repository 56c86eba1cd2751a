"""How all tests run: one cache of compiled games, inside the checkout; one thread for torch; options for hard tests.

The user's own cache is left alone. Workers of pytest share the cores, and OpenMP's threads stall where they must.
"""

import os
from pathlib import Path

import pytest

os.environ["ANABRANCH_CACHE"] = str(Path(__file__).resolve().parent.parent / "build" / "test-cache")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hard tests")
    group.addoption("--hard", action="store_true", help="do what takes long, too, and count the cases")
    group.addoption(
        "--cases", type=int, default=None, help="how many: random games of tests/parity, inputs of each parser"
    )
    group.addoption("--seed", type=int, default=0, help="which inputs these are")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked as hard, unless asked for: laws at a length that finds rare things, not common ones."""
    if config.getoption("--hard"):
        return
    left_out = [item for item in items if item.get_closest_marker("hard")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("hard")]
