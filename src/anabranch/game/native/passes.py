"""Two passes over Numba's view of a function, before types are inferred.

`BareRaises`: a compiled verb that raises only has to say that it did, for the call is then repeated interpreted. So
what is raised is dropped together with the expressions that make it: an f-string in `raise` costs no second of
compiling and no memory at run time, and any exception class will do.

`ReadOnlySelf`: `self` is shared by all states of a game, so writing to it is an error, found here with its line.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import UnsupportedError
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.untyped_passes import IRProcessing


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


class VerbCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's own way of compiling, with the two passes at its beginning."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ReadOnlySelf, IRProcessing)
        passes.add_pass_after(BareRaises, IRProcessing)
        passes.finalize()
        return [passes]
