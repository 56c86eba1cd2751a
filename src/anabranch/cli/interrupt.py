"""Ctrl-C, wherever it comes: while modules load, inside callbacks that swallow exceptions, and on the way out."""

from __future__ import annotations

import os
import signal
import sys

from anabranch.cli import INTERRUPTED

# The first module that a command loads, so it loads few itself.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

AGAIN = 0.02  # seconds


def leave_at_once() -> None:
    """From now on Ctrl-C ends the process on the spot: nothing was begun yet that would have to be finished."""
    signal.signal(signal.SIGINT, _leave)
    sys.unraisablehook = _repeat


def raise_again() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt, for commands that have something to finish."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def leave() -> None:
    """End the process after an interruption.

    Python would first take down what the interruption may have left half done, threads and compilers included; and if
    it went through code made of text, as dataclasses are, Python forgets that it was handled and dies of the signal.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(INTERRUPTED)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def _repeat(unraisable: sys.UnraisableHookArgs) -> None:
    """Send Ctrl-C again if it hit a callback whose exceptions Python drops, e.g. one of the import system's."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import threading
    import time

    def later() -> None:  # here and now it would be dropped once more
        time.sleep(AGAIN)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=later, daemon=True).start()
