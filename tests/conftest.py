"""How all tests run: one cache of compiled games, inside the checkout; one thread for torch; three levels of length.

The user's own cache is left alone. Workers of pytest share the cores, and OpenMP's threads stall where they must.
Plain `pytest` is what `make test` runs; `--long` adds what tests/long.py lists, `--hard` also what is marked as hard. A
test that is named on the command line runs whatever it is.
"""

import gc
import os
import sys
from pathlib import Path

import pytest
from tests.long import LONG, pattern_of

os.environ["ANABRANCH_CACHE"] = str(Path(__file__).resolve().parent.parent / "build" / "test-cache")
os.environ.setdefault("OMP_NUM_THREADS", "1")
gc.disable()  # while tests are collected: nearly all that is made then stays
_modules = 0  # how many there were when garbage was last looked for among them


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("long tests")
    group.addoption("--long", action="store_true", help="do what takes seconds, too")
    group.addoption("--only-long", action="store_true", help="do what takes seconds, and nothing else")
    group.addoption("--hard", action="store_true", help="do what takes long, too, and count the cases")
    group.addoption(
        "--cases", type=int, default=None, help="how many: random games of tests/parity, inputs of each parser"
    )
    group.addoption("--seed", type=int, default=0, help="which inputs these are")


def pytest_collection_finish() -> None:
    """Look for garbage from here on."""
    gc.enable()
    _leave_out_what_was_imported()


def pytest_runtest_logfinish() -> None:
    """Do it again where a test imported much: torch's exporter is as large as torch."""
    if len(sys.modules) > _modules + 100:
        _leave_out_what_was_imported()


def _leave_out_what_was_imported() -> None:
    """Leave what is there out of garbage collections: with torch there one takes half a second."""
    global _modules
    _modules = len(sys.modules)
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is long or hard, unless asked for."""
    found = {item: pattern_of(item.nodeid) for item in items}
    everything = config.args == config.getini("testpaths") and not config.getoption("lf") and not config.getoption("-k")
    if everything and (stale := set(LONG) - set(found.values())):
        raise pytest.UsageError(f"tests/long.py: no test is called {', '.join(sorted(stale))}")
    named = any("::" in argument for argument in config.args)
    all_of_it = config.getoption("--hard") or named

    def runs(item: pytest.Item) -> bool:
        if config.getoption("--only-long"):
            return found[item] is not None and not item.get_closest_marker("hard")
        if item.get_closest_marker("hard") and not config.getoption("--hard"):
            return False
        return bool(all_of_it or config.getoption("--long") or found[item] is None)

    left_out = [item for item in items if not runs(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if runs(item)]
