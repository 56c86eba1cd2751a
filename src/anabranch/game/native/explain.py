"""What Numba says about an error, in the user's terms: which verb, which file and line, and the line that says why."""

from __future__ import annotations

import re
from typing import Any

from anabranch.errors import CompileError
from anabranch.game.native.entries import Entry
from anabranch.game.native.reachable import Reachable, verb_function, where
from anabranch.game.native.unchecked import READ_ONLY

_PLACE = re.compile(r'File "([^"]+)", line (\d+)|at (\S+) \((\d+)\)')
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
        reason = READ_ONLY  # the second is how Numba 0.68 fails at `array += …`
    place = _place(text, error, reachable) or where(verb_function(game, entry.verbs[0]))
    return CompileError(
        f"{game.name}: {name} cannot be compiled, {place}: {reason} "
        f"(Numba's full message is the cause of this error; compiled=False plays the game interpreted)"
    )


def _place(text: str, error: Exception, reachable: Reachable) -> str | None:
    """Return the first file:line of the message, innermost comes first, that lies in a function of the user's."""
    found = [(file or other, int(line or number)) for file, line, other, number in _PLACE.findall(text)]
    location = getattr(error, "loc", None)
    if location is not None:
        found.append((location.filename, location.line))
    for file, line in found:
        for function in reachable.functions:
            code = function.__code__
            if str(function.__module__).startswith("anabranch.game."):  # entries and twins are ours
                continue
            last = max((number for *_, number in code.co_lines() if number), default=code.co_firstlineno)
            if code.co_filename.endswith(file.rpartition("/")[2]) and code.co_firstlineno <= line <= last:
                return where(function, line)
    return None
