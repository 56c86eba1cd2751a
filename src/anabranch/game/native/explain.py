"""What Numba says about an error, in the user's terms: which verb, which file and line, and the line that says why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from anabranch.errors import CompileError
from anabranch.game.native.entries import Entry
from anabranch.game.native.phrases import DICT, ELSEWHERE, in_words
from anabranch.game.native.reachable import Reachable, verb_function, where
from anabranch.game.native.suspects import first_suspect, last_line
from anabranch.game.native.unchecked import READ_ONLY

_PLACE = re.compile(r'File "([^"]+)", line (\d+)|(?:at|from) (\S+) \((\d+)\)')
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NOISE = re.compile(
    r"^(Failed in .* pipeline|During: |There are \d+ candidate|.* candidate implementation|>>> |raised from )|^$"
)
# A write to an array whose type forbids it, in the user's code or in a method of NumPy's (`fill`, `sort`).
_WRITES = re.compile(
    r"setitem\((readonly|fixed|Array\([^()]*, True,)|Cannot modify (value|readonly array)|output that is read-only"
)


def explained(game: Any, name: str, entry: Entry, error: Exception, reachable: Reachable) -> CompileError:
    """Return Numba's error as one of ours."""
    text = _COLOUR.sub("", str(error))
    lines = [line.strip() for line in text.splitlines()]
    reason = next((line for line in lines if not _NOISE.match(line)), "no reason given")
    if not hasattr(error, "loc"):  # not one of Numba's own errors
        reason = f"{type(error).__name__}: {reason}"
    call = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), None)
    if call and reason.endswith("signature:"):
        reason = f"{reason} {call}"
    if _WRITES.search(text) or (isinstance(error, AttributeError) and text.endswith("no attribute 'args'")):
        words: str | None = READ_ONLY  # the second is how Numba 0.68 fails at `array += …`
    else:
        words = in_words(reason)
    verb = verb_function(game, entry.verbs[0])
    found = _place(text, error, reachable)
    vague = found is None or found[1] == found[0].__code__.co_firstlineno
    suspect = first_suspect((verb, *reachable.functions)) if vague and words is None else None
    if suspect is not None:
        found, words = (suspect.function, suspect.line), suspect.words
    return CompileError(
        f"{game.name}: {name} cannot be compiled, {where(*(found or (verb, None)))}: {words or reason} "
        f"(Numba's full message is the cause of this error; compiled=False plays the game interpreted)"
    )


def calls_python(game: Any, entries: Mapping[str, Entry], names: Sequence[str], reachable: Reachable) -> CompileError:
    """Return the error for code that needs the interpreter, without whose lock the engine runs: dicts do."""
    suspect = first_suspect(reachable.functions, only=DICT)
    if suspect is not None:
        return CompileError(f"{game.name}: {where(suspect.function, suspect.line)}: {suspect.words}")
    return CompileError(
        f"{game.name}: {', '.join(entries)} call the Python interpreter ({', '.join(names)}), which compiled verbs "
        f"cannot: use numbers, tuples and arrays, {ELSEWHERE}"
    )


def _place(text: str, error: Exception, reachable: Reachable) -> tuple[FunctionType, int] | None:
    """Return the first place of the message, innermost comes first, that lies inside of a function of the user's."""
    found = [(file or other, int(line or number)) for file, line, other, number in _PLACE.findall(text)]
    location = getattr(error, "loc", None)
    if location is not None:
        found.append((location.filename, location.line))
    for file, line in found:
        for function in reachable.functions:
            code = function.__code__
            if str(function.__module__).startswith("anabranch.game."):  # entries and twins are ours
                continue
            if code.co_filename.endswith(file.rpartition("/")[2]) and code.co_firstlineno <= line <= last_line(
                function
            ):
                return function, line
    return None
