"""The law of parsers: what they are given is accepted, or refused by an error of the library in a few lines, soon."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

from anabranch.errors import AnabranchError

MOST_LINES = 12  # of a message; boards are in some of them
MOST_LETTERS = 3000
MOST_SECONDS = 5.0  # of the processor: others may be at work
MOST_BYTES = 300 * 2**20


class LawBrokenError(AssertionError):
    """What a parser did that it must not."""


def peak() -> int:
    """Return the most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def judged(read: Callable[[bytes], object], data: bytes) -> str:
    """Let a parser read something and return "accepted" or the name of its refusal; LawBrokenError else."""
    held, started = peak(), time.process_time()
    try:
        read(data)
        verdict = "accepted"
    except AnabranchError as error:
        verdict = type(error).__name__
        message = str(error)
        if not message.strip():
            raise LawBrokenError(f"{verdict} without a message") from error
        lines = message.count("\n") + 1
        if lines > MOST_LINES or len(message) > MOST_LETTERS:
            raise LawBrokenError(f"{verdict} with {lines} lines, {len(message)} letters: {message[:300]!r}") from error
    except Exception as error:
        raise LawBrokenError(f"{type(error).__name__}: {str(error)[:300]}") from error
    seconds, grown = time.process_time() - started, peak() - held
    if seconds > MOST_SECONDS:
        raise LawBrokenError(f"{seconds:.1f} seconds")
    if grown > MOST_BYTES:
        raise LawBrokenError(f"{grown / 2**20:.0f} MB more than ever before")
    return verdict
