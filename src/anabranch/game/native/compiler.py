"""Numba → LLVM → object code: the entries of a unit, compiled and linked into one object.

Entries use the calling convention of Numba's own functions,

    int32 status = entry(int64* result, void** error, arguments…),

in which a record is a pointer to it. So a verb that raises gives a status, and no wrapper stands between C++ and rules.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError, NumbaWarning, UnsupportedError

from anabranch.errors import CompileError
from anabranch.game.native.cache import ObjectCode
from anabranch.game.native.entries import Entry, Layout
from anabranch.game.native.loader import target_machine
from anabranch.game.native.passes import VerbCompiler
from anabranch.game.native.reachable import Reachable
from anabranch.game.native.refusals import where

_OPTIONS = {
    "boundscheck": True,  # an overrun of `legal` must not write past its buffer
    "error_model": "python",  # x / 0 raises
    "no_cpython_wrapper": True,  # nobody calls these from Python
    "no_cfunc_wrapper": True,
    "pipeline_class": VerbCompiler,
}


def compile_entries(
    game: Any,
    entries: Mapping[str, Entry],
    layout: Layout,
    functions: Mapping[str, FunctionType],
    reachable: Reachable,
) -> ObjectCode:
    """Return the object code of a game's entries; `functions` are what `Entry.make` made of them."""
    # Verbs that allocate nothing run without Numba's reference counting, which is faster to compile and to run and lets
    # a later process load the code without Numba. The others get it.
    for counting in (False, True):
        compiled = reachable.copies(numba.njit(**_OPTIONS, _nrt=counting))
        parts: dict[str, Any] = {}
        for name, entry in entries.items():
            try:
                text = _llvm(compiled[functions[name]], entry, layout)
            except NumbaError as error:
                _refuse_answers(game, entry, compiled)
                if counting or isinstance(error, UnsupportedError):
                    raise _explained(game, name, error, reachable) from error
                break
            _refuse_answers(game, entry, compiled)
            parts[name] = _named(text, name)
        if len(parts) == len(entries):
            break
    return _object_code(parts)


def _llvm(dispatcher: Any, entry: Entry, layout: Layout) -> str:
    """Return the optimised LLVM code of an entry, with everything it calls."""
    signature = types.int64(*(_type(argument) for argument in entry.arguments(layout)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaWarning)
        dispatcher.compile(signature)
    text: str = dispatcher.inspect_llvm(dispatcher.signatures[0])
    return text


def _type(argument: np.dtype[Any]) -> Any:
    """Return Numba's type of an entry's argument."""
    if argument.subdtype:  # a buffer: the only field of a record
        argument = np.dtype([("cells", argument)])
    return numba.from_dtype(argument)


def _named(text: str, name: str) -> Any:
    """Parse an entry's code and give its function a name of ours."""
    module = llvm.parse_assembly(text)
    [function] = [
        each for each in module.functions if not each.is_declaration and each.linkage == llvm.Linkage.external
    ]
    function.name = _symbol(name)
    return module


def _symbol(name: str) -> str:
    return f"anabranch_{name}"


def _object_code(parts: Mapping[str, Any]) -> ObjectCode:
    """Return machine code in which nothing but the entries can be seen, and list what it needs from outside."""
    symbols = {name: _symbol(name) for name in parts}
    module, *others = parts.values()
    for other in others:
        module.link_in(other)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in symbols.values():
            each.linkage = llvm.Linkage.internal
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, llvm.create_pass_builder(target_machine(), llvm.create_pipeline_tuning_options(speed_level=3)))
    externals = tuple(
        each.name
        for each in (*module.functions, *module.global_variables)
        if each.is_declaration and not each.name.startswith("llvm.")
    )
    return ObjectCode(symbols, externals, target_machine().emit_object(module))


def _refuse_answers(game: Any, entry: Entry, compiled: Mapping[FunctionType, Any]) -> None:
    """Refuse a verb that must return an integer and may return something else."""
    if not entry.integer:
        return
    [verb] = entry.verbs
    function = getattr(type(game), verb)
    for overload in compiled[getattr(function, "py_func", function)].overloads.values():
        answer = overload.signature.return_type
        if not isinstance(answer, (types.Integer, types.Boolean)):
            kind = (
                "nothing" if answer == types.none else str(answer).replace("OptionalType", "sometimes nothing, else ")
            )
            raise CompileError(f"{game.name}: {verb}, {where(function)}: must return an integer, but returns {kind}")


# What Numba says about errors: the cause on some line, and where it happened, innermost first.
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_NOISE = re.compile(
    r"^(Failed in .* pipeline|During: |There are \d+ candidate|.*candidate implementation|>>> |raised from |$)"
)


def _explained(game: Any, entry: str, error: NumbaError, reachable: Reachable) -> CompileError:
    """Return Numba's error in the user's terms: which verb, which file and line, and the line that says why."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines()]
    reason = next((line for line in lines if not _NOISE.match(line)), "it gave no reason")
    signature = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), None)
    if signature and reason.endswith("signature:"):
        reason = f"{reason} {signature}"
    place = _place(text, error, reachable)
    return CompileError(
        f"{game.name}: {entry} cannot be compiled{f', {place}' if place else ''}: {reason} "
        f"(Numba's full message is the cause of this error; compiled=False plays it anyway)"
    )


def _place(text: str, error: NumbaError, reachable: Reachable) -> str | None:
    """Return the innermost file:line of the message that lies in a function of the user's."""
    found = [(file, int(line)) for file, line in _PLACE.findall(text)]
    location = getattr(error, "loc", None)
    if location is not None:
        found.append((location.filename, location.line))
    for file, line in found:
        for function in reachable.functions:
            code = function.__code__
            last = max((number for *_, number in code.co_lines() if number), default=code.co_firstlineno)
            if code.co_filename.endswith(file.rpartition("/")[2]) and code.co_firstlineno <= line <= last:
                return where(function, line)
    return None
