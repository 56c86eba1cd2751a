"""Read flags into a command's dataclass; what cannot be read is a `UsageError` in plain words."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import TypeVar

import tyro

from anabranch.errors import UsageError

Command = TypeVar("Command")


def parse(command: type[Command], name: str, arguments: Sequence[str]) -> Command | None:
    """Return the command with its flags, or None when only help was wanted."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(command, prog=name, args=list(arguments), config=(tyro.conf.FlagCreatePairsOff,))
    except SystemExit as stop:
        if not stop.code:
            return None
        raise UsageError(_plain(said.getvalue())) from None


def _plain(box: str) -> str:
    """Return the words inside a drawn box, its title left out (the text says it again)."""
    lines = [line.strip("│ ") for line in box.splitlines() if not line.startswith(("╭", "╰"))]
    return "\n  ".join(line for line in lines if line.strip("─"))
