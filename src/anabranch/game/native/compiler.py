"""Numba → LLVM → object code: the entries of a unit, compiled and linked into one object.

Entries use the calling convention of Numba's own functions,

    int32 status = entry(int64* result, void** error, arguments…),

in which a record is a pointer to it. So a verb that raises gives a status, and no wrapper stands between C++ and rules.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaWarning, UnsupportedError

from anabranch.errors import CompileError
from anabranch.game.native.cache import ObjectCode
from anabranch.game.native.constants import Constants
from anabranch.game.native.entries import Entry, Layout
from anabranch.game.native.explain import calls_python, explained
from anabranch.game.native.instance import Instance
from anabranch.game.native.loader import target_machine
from anabranch.game.native.passes import INNER, OPTIONS
from anabranch.game.native.reachable import Reachable, verb_function, where

# Numba knows the width of every number but booleans, and so refuses arrays of them in records. They take a byte.
if not hasattr(types.boolean, "bitwidth"):
    types.boolean.bitwidth = 8  # type: ignore[attr-defined]


def compile_entries(
    game: Any,
    entries: Mapping[str, Entry],
    layout: Layout,
    functions: Mapping[str, FunctionType],
    reachable: Reachable,
    constants: Constants,
    built_in: bytes | None = None,
) -> ObjectCode:
    """Return the object code of a game's entries; `functions` are what `Entry.make` made of them.

    `built_in` is the instance's record where the code is to be for this instance only.
    """
    if numba.config.DISABLE_JIT:
        raise CompileError(f"{game.name}: NUMBA_DISABLE_JIT is set; unset it, or play with compiled=False")
    if numba.config.BOUNDSCHECK is not None and not numba.config.BOUNDSCHECK:
        raise CompileError(
            f"{game.name}: NUMBA_BOUNDSCHECK is 0, with which indices past an array would go unnoticed; unset it"
        )
    # Verbs that allocate nothing run without Numba's reference counting, which is faster to compile and to run and lets
    # a later process load the code without Numba. The others get it.
    for counting in (False, True):
        compiled = reachable.copies(numba.njit(**OPTIONS, **({} if counting else {"_nrt": False})), constants.frozen)
        relocatable = partial(_relocatable, game, compiled.values(), constants)
        parts: dict[str, Any] = {}
        for name, entry in entries.items():
            try:
                text = _llvm(compiled[functions[name]], entry, layout)
            except Exception as error:  # most are NumbaError; some slips come out as a bare KeyError
                _refuse_answers(game, entry, compiled)
                if counting or isinstance(error, UnsupportedError):
                    raise explained(game, name, entry, error, reachable) from error
                break
            _refuse_answers(game, entry, compiled)
            parts[name] = _named(relocatable(text), name, built_in)
        if len(parts) == len(entries):
            break
    code = _object_code(parts, compiled.values(), relocatable)
    python = [name for name in code.externals if name.startswith(("Py", "_Py", "numba_gil"))]
    if python:  # the engine runs without Python's lock
        raise calls_python(game, entries, python, reachable)
    return code


def _llvm(dispatcher: Any, entry: Entry, layout: Layout) -> str:
    """Return the LLVM code of an entry, with everything it calls."""
    signature = types.int64(*(_type(argument, argument is layout.instance) for argument in entry.arguments(layout)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaWarning)
        dispatcher.compile(signature)
    text: str = dispatcher.inspect_llvm(dispatcher.signatures[0])
    return text


def _type(argument: np.dtype[Any], is_self: bool) -> Any:
    """Return Numba's type of an entry's argument."""
    if argument.subdtype:  # a buffer: the only field of a record
        argument = np.dtype([("cells", argument)])
    kind = numba.from_dtype(argument)
    return Instance(kind) if is_self else kind


def _named(text: str, name: str, built_in: bytes | None) -> Any:
    """Parse an entry's code, promise what is known of its arguments, and give its function a name of ours."""
    module = llvm.parse_assembly(text)
    [function] = [
        each for each in module.functions if not each.is_declaration and each.linkage == llvm.Linkage.external
    ]
    promised = llvm.parse_assembly(_promised(text, function.name, built_in))
    promised.get_function(function.name).name = _symbol(name)
    return promised


def _promised(text: str, name: str, built_in: bytes | None) -> str:
    """Say in an entry's code that its arguments do not overlap, and what the instance holds if that is built in.

    Writing to one argument then need not mean reading the others anew, and sizes become constants.
    """
    start = re.search(rf"^define [^\n]*@{re.escape(name)}\(", text, re.MULTILINE)
    assert start is not None, "the function was found by this name"
    end = text.index("\n}\n", start.start())
    head, _, body = text[start.start() : end].partition("\n")
    head = re.sub(r"\bptr (?=[^,%]*%arg\.)", "ptr noalias ", head)
    if built_in is None:
        return f"{text[: start.start()]}{head}\n{body}{text[end:]}"
    body = re.sub(r"%arg\.game\b", "@anabranch_instance", body)
    cells = "".join(f"\\{byte:02x}" for byte in built_in)
    instance = f'@anabranch_instance = internal constant [{len(built_in)} x i8] c"{cells}", align 8'
    return f"{text[: start.start()]}{instance}\n\n{head}\n{body}{text[end:]}"


def _symbol(name: str) -> str:
    return f"anabranch_{name}"


_ADDRESS = re.compile(r"^@(numba\.dynamic\.globals\.([0-9a-f]+)) = .*$", re.MULTILINE)


def _relocatable(game: Any, compiled: Iterable[Any], constants: Constants, text: str) -> str:
    """Put symbols for the addresses that Numba writes into code, so that it is good in the next process too."""
    # A function that is handed to another is an address too, which nobody looks at: its type says what to call.
    names = constants.names() | {id(each): None for each in (*compiled, *INNER)}
    needed = set[str]()

    def replaced(match: re.Match[str]) -> str:
        address = int(match[2], 16)
        if address not in names:
            return match[0]  # refused below
        symbol = names[address]
        if symbol is None:
            return f"@{match[1]} = internal constant ptr null"
        needed.add(symbol)
        return f"@{match[1]} = internal constant ptr @{symbol}"

    text = _ADDRESS.sub(replaced, text)
    if "inttoptr (" in text:
        raise CompileError(
            f"{game.name}: the rules use something that Numba knows by its address in this process only, such as a "
            f"function chosen while the game is played; call functions by their names"
        )
    return text + "".join(f"\n@{symbol} = external constant i8\n" for symbol in sorted(needed))


def _object_code(parts: Mapping[str, Any], compiled: Iterable[Any], relocatable: Callable[[str], str]) -> ObjectCode:
    """Return machine code in which nothing but the entries can be seen, and list what it needs from outside."""
    symbols = {name: _symbol(name) for name in parts}
    module, *others = parts.values()
    for other in others:
        module.link_in(other)
    _resolve_recursion(module, compiled, relocatable)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in symbols.values():
            each.linkage = llvm.Linkage.internal
    builder = llvm.create_pass_builder(target_machine(), llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)  # now that all is known of the arguments
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)
    externals = tuple(
        each.name
        for each in (*module.functions, *module.global_variables)
        if each.is_declaration and not each.name.startswith("llvm.")
    )
    return ObjectCode(symbols, externals, target_machine().emit_object(module))


_UNRESOLVED = ".numba.unresolved$"


def _resolve_recursion(module: Any, compiled: Iterable[Any], relocatable: Callable[[str], str]) -> None:
    """Define what Numba leaves open where functions call each other in a circle: variables with the address of one.

    The function is in the code of its own dispatcher, which may bring further such variables.
    """
    texts: list[str] = []
    while True:
        undefined = [each.name for each in module.global_variables if each.is_declaration]
        names = [name.removeprefix(_UNRESOLVED) for name in undefined if name.startswith(_UNRESOLVED)]
        if names and not texts:
            texts = [each.inspect_llvm(signature) for each in compiled for signature in each.signatures]
        homes = {name: text for name in names for text in texts if _defines(text, name)}
        if not homes:  # nothing is left open, or it is nowhere and the loader will name it
            return
        for name, text in homes.items():
            address = f'@"{_UNRESOLVED}{name}" = constant ptr @"{name}"\ndeclare void @"{name}"()'
            module.link_in(llvm.parse_assembly(relocatable(text)))
            module.link_in(llvm.parse_assembly(address))


def _defines(text: str, name: str) -> bool:
    return re.search(rf"^define [^@]*@{re.escape(name)}\(", text, re.MULTILINE) is not None


def _refuse_answers(game: Any, entry: Entry, compiled: Mapping[FunctionType, Any]) -> None:
    """Refuse a verb that must return an integer and may return something else."""
    if not entry.integer:
        return
    [verb] = entry.verbs
    function = verb_function(game, verb)
    for overload in compiled[function].overloads.values():
        answer = overload.signature.return_type
        if not isinstance(answer, (types.Integer, types.Boolean)):
            kind = (
                "nothing" if answer == types.none else str(answer).replace("OptionalType", "sometimes nothing, else ")
            )
            raise CompileError(f"{game.name}: {verb}, {where(function)}: must return an integer, but returns {kind}")
