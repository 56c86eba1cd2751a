"""One cache of compiled games for the whole test run, inside the checkout: tests leave the user's own alone.

And one thread for torch: workers of pytest share the cores, and OpenMP's threads stall where they must.
"""

import os
from pathlib import Path

import pytest

os.environ["ANABRANCH_CACHE"] = str(Path(__file__).resolve().parent.parent / "build" / "test-cache")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", type=int, help="random games that engine and reference search, seed by seed (default 600)"
    )
