"""How large settings may be: looked at before anything parses them, since parsers take long over what is made for it.

A glance at the marks outside of strings and comments is enough. It follows TOML as far as a text is TOML; where it is
none, a parser stops at the same place.
"""

from __future__ import annotations

import re

from anabranch.errors import DataError

MOST_BYTES = 65_536  # of a file or a text
MOST_KEYS = 1_000  # tables among them
DEEPEST = 8  # parts of a key, and tables or lists inside others

_TOML = re.compile(
    r'"""(?:\\.|[^"\\]|"(?!""))*(?:"{3,5})?'
    r"|'''(?:[^']|'(?!''))*(?:'{3,5})?"
    r'|"(?:\\[^\n]|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|\#[^\n]*"
    r"|(?P<mark>[\[\]{}=.,\n])",
    re.DOTALL,
)
_JSON = re.compile(r'"(?:\\.|[^"\\])*"?|(?P<mark>[\[\]{}:])', re.DOTALL)


def check_size(size: int, where: str) -> None:
    """Refuse settings that are too long."""
    if size > MOST_BYTES:
        raise DataError(f"{where}: {size:,} bytes are too many for settings; at most {MOST_BYTES:,} are read")


def check_json(text: str, where: str) -> None:
    """Refuse a JSON text that is too long, has too many keys or is too deep."""
    check_size(len(text.encode("utf-8", "replace")), where)
    depth = keys = 0
    for token in _JSON.finditer(text):
        mark = token["mark"]
        keys += mark == ":"
        depth += (mark in ("[", "{")) - (mark in ("]", "}")) if mark else 0
        if depth > DEEPEST or keys > MOST_KEYS:
            raise DataError(f"{where}: {_too_much(depth, keys)}")


def statements(text: str, where: str) -> list[int]:
    """Return where the statements of a TOML text begin, a key or a table each; refuse one that is too large or deep.

    Between two of them lie whole statements, whatever their values hold; lines that are blank count as one too.
    """
    check_size(len(text.encode("utf-8", "replace")), where)
    begins, depth, parts, keys, header = [0], 0, 1, 0, False
    for token in _TOML.finditer(text):
        mark = token["mark"]
        if mark is None:
            continue
        if mark == "\n" and (depth <= 0 or header):
            begins.append(token.end())
            depth, parts, header = 0, 1, False
        elif mark == "[" and not depth and not text[begins[-1] : token.start()].strip():
            header, depth, keys = True, 1, keys + 1
        elif mark == ".":
            parts += 1
        elif mark in "[{":
            depth, parts = depth + 1, 1
        elif mark in "]}":
            depth -= 1
        elif mark != "\n":
            keys, parts = keys + (mark == "="), 1
        if max(depth, parts) > DEEPEST or keys > MOST_KEYS:
            line = text.count("\n", 0, token.start()) + 1
            raise DataError(f"{where}:{line}: {_too_much(max(depth, parts), keys)}")
    return begins


def _too_much(depth: int, keys: int) -> str:
    if depth > DEEPEST:
        return f"deeper than {DEEPEST} parts; the deepest setting has three, selector.first_play.amount"
    return f"more than {MOST_KEYS:,} keys; there are not that many settings"
