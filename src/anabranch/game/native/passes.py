"""What is changed in Numba's way of compiling: passes over its view of a function.

`BareRaises`: a compiled verb that raises only has to say that it did, for the call is then repeated interpreted. So
what is raised is dropped together with the expressions that make it: an f-string in `raise` costs no second of
compiling and no memory at run time, and any exception class will do.

`ReadOnlySelf`: `self` is shared by all states of a game, so writing to it is an error, found here with its line. Where
`self` or an array of it was handed on, their types say the same: see `Instance`.

`InnerFunctions`: a function inside a verb that is handed on (`map(lambda …)`) is compiled as the verb is. Numba would
compile it apart, without checks of indices.

`Checked`, after the inference of types, has a file of its own; so has `AsText`, before code is made.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

import numba
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import UnsupportedError
from numba.core.ir_utils import build_definitions, convert_code_obj_to_function, get_definition, guard
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import IRProcessing, RewriteDynamicRaises

from anabranch.game.native.checked import Checked
from anabranch.game.native.library import AsText


@register_pass(mutates_CFG=False, analysis_only=False)
class BareRaises(FunctionPass):  # type: ignore[misc]
    """Replace `raise anything` by a raise without arguments."""

    _name = "anabranch_bare_raises"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Do it for one function; say whether anything changed."""
        blocks = state.func_ir.blocks
        changed = False
        for block in blocks.values():
            for index, statement in enumerate(block.body):
                bare = {ir.Raise: ir.StaticRaise, ir.TryRaise: ir.StaticTryRaise}.get(type(statement))
                if bare is not None and statement.exception is not None:
                    block.body[index] = bare(RuntimeError, None, statement.loc)
                    _drop(blocks, block, index, statement.exception.name)
                    changed = True
                    break  # what follows a raise in its block never runs
        if changed:
            state.func_ir._definitions = build_definitions(blocks)
        return changed


def _drop(blocks: dict[int, Any], block: Any, end: int, exception: str) -> None:
    """Remove the assignments before `end` that serve nothing but the exception."""
    useless, dropped = {exception}, set()
    for index in reversed(range(end)):
        statement = block.body[index]
        if isinstance(statement, ir.Assign) and statement.target.name in useless:
            others = (each for any_block in blocks.values() for each in any_block.body if id(each) not in dropped)
            name = statement.target.name
            if not any(name == var.name for each in others if each is not statement for var in each.list_vars()):
                useless.update(var.name for var in statement.list_vars())
                dropped.add(id(statement))
    block.body[:] = [statement for statement in block.body if id(statement) not in dropped]


@register_pass(mutates_CFG=False, analysis_only=True)
class ReadOnlySelf(FunctionPass):  # type: ignore[misc]
    """Refuse `self.x = …` and `self.x[i] = …`."""

    _name = "anabranch_read_only_self"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Look through one function."""
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                if isinstance(statement, (ir.SetAttr, ir.SetItem, ir.StaticSetItem)):
                    target = guard(get_definition, state.func_ir, statement.target)
                    while isinstance(target, ir.Expr) and target.op in ("getattr", "getitem", "static_getitem"):
                        target = guard(get_definition, state.func_ir, target.value)
                    if isinstance(target, ir.Arg) and target.name == "self":
                        raise UnsupportedError(
                            "self is read-only; what changes during play belongs into the state", statement.loc
                        )
        return False


INNER: WeakSet[Any] = WeakSet()  # what was compiled of them


@register_pass(mutates_CFG=False, analysis_only=False)
class InnerFunctions(FunctionPass):  # type: ignore[misc]
    """Compile functions inside functions like those they are in; what is called right there was put in place before."""

    _name = "anabranch_inner_functions"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Do it for one function; say whether anything changed."""
        changed = False
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                value = statement.value if isinstance(statement, ir.Assign) else None
                if isinstance(value, ir.Expr) and value.op == "make_function":
                    function = convert_code_obj_to_function(value, state.func_ir)
                    compiled = numba.njit(**OPTIONS, _nrt=bool(state.flags.nrt))(function)
                    INNER.add(compiled)
                    statement.value = ir.Global(value.code.co_name, compiled, statement.loc)
                    changed = True
        if changed:
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return changed


class VerbCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's own way of compiling, with these passes in between."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ReadOnlySelf, IRProcessing)
        passes.add_pass_after(BareRaises, IRProcessing)
        passes.add_pass_after(InnerFunctions, RewriteDynamicRaises)
        passes.add_pass_after(Checked, NopythonTypeInference)
        passes.add_pass_after(AsText, Checked)
        passes.finalize()
        return [passes]


OPTIONS = {
    "boundscheck": True,  # an overrun of `legal` must not write past its buffer
    "error_model": "python",  # x / 0 raises
    "no_cpython_wrapper": True,  # nobody calls these from Python
    "no_cfunc_wrapper": True,
    "pipeline_class": VerbCompiler,
}
