"""What Numba says it cannot compile, in the words of somebody who writes a game."""

from __future__ import annotations

import re
from collections.abc import Callable

ELSEWHERE = "or derive the game from ab.ObjectGame, which runs any Python"
DICT = f"a dict cannot be compiled: use an array in the record, indexed by a number, {ELSEWHERE}"
TEXT = (
    "texts cannot be made like this in compiled verbs: keep numbers in the record, and make texts in the game's `text`"
)
GLOBAL = (
    "compiled verbs read numbers, tuples and NumPy arrays there, as they were when the game was made; what changes "
)
GLOBAL += "in play belongs into the state"
EXCEPT = "compiled verbs cannot tell kinds of errors apart: test what may go wrong before it does, e.g. an index"

Words = str | Callable[[re.Match[str]], str]

# Numba's phrase → ours; the first that is found counts.
_PHRASES: list[tuple[str, Words]] = [
    (
        r"The use of yield in a closure",
        "a generator expression cannot be compiled: write a list, [… for …], or a loop",
    ),
    (r"exception_match|Exception object cannot be stored", EXCEPT),
    (r"opcode \(IMPORT_NAME\)", "an import inside of a verb cannot be compiled: put it at the top of the file"),
    (r"opcode \((STORE|DELETE)_GLOBAL\)", "a verb cannot set a global: what changes in play belongs into the state"),
    (r"opcode \(UNPACK_EX\)", "`a, *b = …` cannot be compiled: take the parts by their index"),
    (r"opcode \((\w+)\)", lambda found: f"this kind of statement cannot be compiled ({found[1]})"),
    (r"in f-strings|f-string", TEXT),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:[\w.]+\.)?(\w+)'>",
        lambda found: f"{found[1]} is {_a(found[2])} of the module: {GLOBAL}",
    ),
    (
        r"reflected (list|set)\(.* assigned to variable '(\w+)' in globals",
        lambda found: f"{found[2]} is a {found[1]} of the module: {GLOBAL}",
    ),
    (
        r"unsupported NumPy function 'numpy\.([\w.]+)'",
        lambda found: f"np.{found[1]} cannot be compiled, or not with these arguments: write it as a loop",
    ),
    (
        r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'",
        lambda found: f"{found[2]}.{found[1]} cannot be compiled: write it as a loop, {ELSEWHERE}",
    ),
    (r"Unknown attribute '\w+' of type (Literal\[str\]|unicode_type)|mod\((Literal\[str\]|unicode_type)", TEXT),
    (
        r"Unknown attribute '(\w+)' of type (nestedarray|array)\b",
        lambda found: f"arrays have no .{found[1]} in compiled verbs: loop over their cells",
    ),
    (
        r"Cannot infer the type of variable '([^'$]+)', have imprecise type: (list|set)\(undefined\)",
        lambda found: f"nothing is ever put into the {found[2]} {found[1]}, so nobody can tell what it would hold",
    ),
    (
        r"list\.(?:append|insert|extend) for list\((\w+)\)",
        lambda found: f"a list holds one kind of thing, and this one already holds {_plain(found[1])}",
    ),
    (r"<class 'dict'>|DictType\[", DICT),
    (
        r"Cannot unify (\S+) and (\S+) for '([^'$.]+)[^']*'",
        lambda found: f"{found[3]} is {_plain(found[1])} at one time and {_plain(found[2])} at another: use two names",
    ),
    (
        r"No implementation of function Function\(<(?:[\w-]+ )*?'?([\w.]+)'?(?: at 0x\w+)?>\) "
        r"found for signature:\s*(.+)",
        lambda found: f"{found[1]} cannot be compiled for what it is given: {_plain(found[2])}",
    ),
]
_KNOWN = {"unicode_type": "texts", "int64": "whole numbers", "float64": "numbers with a point", "none": "nothing"}


def in_words(reason: str) -> str | None:
    """Return a reason of Numba's in words, None where there are none for it."""
    for phrase, words in _PHRASES:
        found = re.search(phrase, reason, re.DOTALL)
        if found:
            return words if isinstance(words, str) else words(found)
    return None


def _plain(types: str) -> str:
    """Return types as Numba writes them, less what nobody needs to read."""
    types = re.sub(r"Literal\[str\]\(([^()]*)\)", r"'\1'", types)
    types = re.sub(r"Literal\[\w+\]\(([^()]*)\)", r"\1", types)
    types = re.sub(r"type\(CPUDispatcher\(<function [^ ]+ at 0x\w+>\)\)", "a function", types)
    types = re.sub(r"<iv=[^<>]*>", "", types)
    return _KNOWN.get(types, types)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
