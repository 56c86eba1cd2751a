"""Where Numba puts the code of one function: text to be linked, which is never run in this process.

Numba optimises every function together with all it calls, and makes machine code of it, so that a helper is done again
in each of its callers. Of all this only the entries' code is wanted, and `compiler.py` optimises that when it knows
more: how their arguments lie in memory. So nothing is emitted here; and nothing is optimised but functions that count
references, where Numba has a pass of its own between two rounds. Connect four compiles in half the time.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import FunctionPass, register_pass


class TextLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A function and all it calls, as LLVM's text."""

    # What Numba would write into code that is loaded: the globals of the function, for exceptions raised in Python.
    codegen = SimpleNamespace(set_env=lambda name, environment: None)

    def __init__(self, codegen: Any, name: str, counting: bool) -> None:
        super().__init__(codegen, name)
        self.counting = counting

    def get_pointer_to_function(self, name: str) -> int:
        """Link the code, and say that there is no function that could be called."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        if self.counting:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class AsText(FunctionPass):  # type: ignore[misc]
    """Give a function a library of this kind."""

    _name = "anabranch_as_text"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Do it for one function."""
        state.library = TextLibrary(state.targetctx.codegen(), state.func_id.func_qualname, bool(state.flags.nrt))
        return False
