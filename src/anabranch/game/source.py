"""The games in a Python file, found by reading it: nothing of it is run."""

from __future__ import annotations

import ast
from pathlib import Path

LONGEST = 1_000_000  # bytes of a file that are read


def games_in(path: Path) -> list[str]:
    """Return the classes of a file that derive from a game, going by their bases' names; none if it cannot be read."""
    try:
        with path.open("rb") as file:
            tree = ast.parse(file.read(LONGEST))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    found: list[str] = []
    for part in tree.body:
        if isinstance(part, ast.ClassDef):
            bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in part.bases]
            if any(base.endswith("Game") or base in found for base in bases):
                found.append(part.name)
    return found


def named_in_full(path: Path, example: str = "MyGame") -> list[str]:
    """Return `file.py:Name` of the games in a file, or of an example if none is seen."""
    return [f"{path}:{name}" for name in games_in(path) or [example]]
