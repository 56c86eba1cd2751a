"""A pytest plugin: the suite on another build of the engine, e.g. one with sanitizers.

`ANABRANCH_NATIVE=FOLDER python -m pytest -p tests.hard.other_build …`, where the folder holds a `_native` module.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType


def load_native(folder: Path) -> ModuleType:
    """Make the module in a folder the engine of this process, before anybody has imported one."""
    assert "anabranch" not in sys.modules, "a process has one engine"
    (path,) = folder.glob("_native*.so")
    spec = importlib.util.spec_from_file_location("anabranch._native", path)
    assert spec
    assert spec.loader
    sys.modules["anabranch._native"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if "ANABRANCH_NATIVE" in os.environ:
    load_native(Path(os.environ["ANABRANCH_NATIVE"]))
