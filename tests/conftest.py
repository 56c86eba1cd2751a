"""How all tests run: one cache of compiled games, inside the checkout; one thread for torch; options for hard tests.

The user's own cache is left alone. Workers of pytest share the cores, and OpenMP's threads stall where they must.
"""

import os
from pathlib import Path

os.environ["ANABRANCH_CACHE"] = str(Path(__file__).resolve().parent.parent / "build" / "test-cache")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser):
    group = parser.getgroup("hard tests")
    group.addoption("--hard", action="store_true", help="do all of tests/hard, which takes long, and count the cases")
    group.addoption("--cases", type=int, default=None, help="how many inputs a parser is given, of a quick one")
    group.addoption("--seed", type=int, default=0, help="which inputs these are")
