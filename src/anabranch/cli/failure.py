"""What went wrong, as one message without a traceback, and the exit code for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from anabranch.cli import BAD_DATA, GAME, GOOD, INTERRUPTED, USAGE
from anabranch.errors import (
    AgentError,
    AnabranchError,
    EvaluatorError,
    FileError,
    GameError,
    UsageError,
    blame,
    fault_of,
)
from anabranch.files import missing


def failure(error: BaseException) -> tuple[str, int]:
    """Return (message, exit code); a fault of the library itself is raised again, traceback and all."""
    if isinstance(error, FileError):  # also where it met an interruption: what was to be kept is not kept
        return f"error: {error}", BAD_DATA
    if _interrupted(error):
        return "interrupted", INTERRUPTED
    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough, e.g. `head`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return "", GOOD
    if isinstance(error, UsageError):
        return f"error: {error}", USAGE
    if isinstance(error, SyntaxError):
        where = f"{error.filename}:{error.lineno}"
        return f"error: {type(error).__name__} in the {fault_of(error)}'s file: {error.msg} ({where})", GAME
    if isinstance(error, (GameError, EvaluatorError, AgentError)):
        return f"error: {error}", GAME
    if isinstance(error, AnabranchError):
        return f"error: {error}", BAD_DATA
    if fault := fault_of(error):
        return f"error: the {fault} raised {type(error).__name__}: {error} ({blame(error)})", GAME
    if isinstance(error, OSError):
        return f"error: {file_trouble(error)}", BAD_DATA
    raise error


def file_trouble(error: OSError) -> str:
    """Return what is wrong with a file and what to do about it; what the system says, where nothing better is known."""
    if not isinstance(error.filename, (str, bytes, os.PathLike)):
        return error.strerror or str(error)
    path = Path(os.fsdecode(error.filename))
    if isinstance(error, FileNotFoundError):
        return missing(path)
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder where a file is needed; name a file"
    if isinstance(error, PermissionError):
        return f"{path}: not allowed to open it; look at its permissions, or name another place"
    return f"{path}: {error.strerror or error}"


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is at the bottom of it: some code, Python's own too, turns what it catches into an error."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
