"""Standard output that says when it cannot be written: closed before we began, or going to a disk that is full."""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch.errors import OutputError

PAUSE = 0.005  # seconds until a reader that was slow is tried again, where writing does not wait by itself


def own() -> None:
    """Let standard output raise an OutputError where it cannot be written to; one that is closed raises it now."""
    _fill_gaps()
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (for whoever flushes it on the way out)
        raise closed()
    old = sys.stdout
    if os.name == "posix" and isinstance(old, io.TextIOWrapper):  # consoles of Windows have a class of their own
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Checked(old.fileno())),
            encoding=old.encoding,
            errors="backslashreplace" if old.errors == "strict" else old.errors,  # rather an odd letter than no answer
            line_buffering=old.line_buffering or old.write_through,
        )


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it, waiting for a slow reader also where the descriptor would not."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            time.sleep(PAUSE)


def say(words: str) -> None:
    """Print a line to standard error, if anybody can hear it: what it is about goes on in any case."""
    with suppress(OSError):
        print(words, file=sys.stderr, flush=True)


def closed() -> OutputError:
    """Return the error for standard output that was closed before we began."""
    from anabranch.errors import OutputError

    return OutputError("standard output is closed, so no result could be printed; give it somewhere to go")


def unwritable(error: OSError) -> OutputError:
    """Return the error for standard output that cannot be written to."""
    from anabranch.errors import OutputError

    return OutputError(
        f"standard output cannot be written: {error.strerror or error}; what was printed is not whole. Make room where "
        f"it goes to, or send it elsewhere",
        cause=error,
    )


class _Checked(io.FileIO):
    """A descriptor whose first failure is told; what would be written after it is dropped, so that the end is quiet."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._lost = False

    def write(self, data: Any, /) -> int:
        size = memoryview(data).nbytes
        while not self._lost:
            try:
                written = super().write(data)
            except OSError as error:
                self._lost = True
                if isinstance(error, BrokenPipeError):
                    raise
                raise unwritable(error) from error
            if written is not None:
                return written
            time.sleep(PAUSE)
        return size


def _fill_gaps() -> None:
    """Put the null device where a standard stream is closed: the next file opened would else be taken for it."""
    for descriptor, flags in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            nowhere = os.open(os.devnull, flags)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
