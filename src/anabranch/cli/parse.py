"""Read flags into a command's dataclass; what cannot be read is a `UsageError` in plain words."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import tyro

from anabranch.errors import UnknownNameError, UsageError

Command = TypeVar("Command")
CONFIG = (tyro.conf.FlagCreatePairsOff, tyro.conf.DisallowNone)  # `--json` alone; no `--seconds None`


def parse(command: type[Command], name: str, arguments: Sequence[str]) -> Command | None:
    """Return the command with its flags, or None when only help was wanted."""
    _refuse_unknown(flags_of(command), name, arguments)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(command, prog=name, args=list(arguments), config=CONFIG)
    except SystemExit as stop:
        if not stop.code:
            return None
        raise UsageError(_plain(said.getvalue())) from None


def flags_of(command: type) -> list[str]:
    """Return the flags of a command, with their dashes."""
    hints = get_type_hints(command, include_extras=True)
    fields: Any = command
    names = []
    for field in dataclasses.fields(fields):
        marks = _marks(hints[field.name])
        if tyro.conf.Positional not in marks:
            given = [mark.name for mark in marks if getattr(mark, "name", None)]
            names.append("--" + (given[0] if given else field.name).replace("_", "-"))
    return names


def _marks(hint: Any) -> list[Any]:
    """Return what a type is annotated with, at any depth: `Positional[int]` is an annotation inside."""
    if get_origin(hint) is not Annotated:
        return []
    inner, *marks = get_args(hint)
    return [*marks, *_marks(inner)]


def _refuse_unknown(known: Sequence[str], name: str, arguments: Sequence[str]) -> None:
    """Name the nearest flag for one nobody knows, before anything else is complained about; abbreviations are none."""
    for word in arguments:
        if word == "--":
            return
        flag = word.partition("=")[0].replace("_", "-")
        if flag.startswith("--") and flag not in known and flag != "--help":
            raise UnknownNameError(f"flag of {name}", word.partition("=")[0], known)


def _plain(box: str) -> str:
    """Return the words inside a drawn box, its title left out (the text says it again)."""
    lines = [line.strip("│ ") for line in box.splitlines() if not line.startswith(("╭", "╰"))]
    return "\n  ".join(line for line in lines if line.strip("─"))
