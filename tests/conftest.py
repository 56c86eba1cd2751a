"""One cache of compiled games for the whole test run, inside the checkout: tests leave the user's own alone."""

import os
from pathlib import Path

os.environ["ANABRANCH_CACHE"] = str(Path(__file__).resolve().parent.parent / "build" / "test-cache")
