"""The search: its settings, formulas, reference and results. The package itself is callable: `ab.search(state, …)`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """Lets the folder `search` and the verb `search` share their name, whichever of them is imported first."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from anabranch.search.searcher import search

        return search(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
