"""Bytes as they come, cut into lines that are never longer than allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

LONGEST = 262_144  # bytes of a line


def lines(read: Callable[[], bytes], longest: int = LONGEST) -> Iterator[bytes | None]:
    """Yield each line without its end, and None for one that is too long, of which no more than `longest` is kept.

    `read` returns the next bytes, none at the end; what follows the last line's end is a line too.
    """
    kept, skipping = bytearray(), False
    while data := read():
        *whole, rest = data.split(b"\n")
        for part in whole:
            kept += part
            yield None if skipping or len(kept) > longest else bytes(kept)
            kept, skipping = bytearray(), False
        kept += rest
        if len(kept) > longest:
            kept, skipping = bytearray(), True
    if skipping:
        yield None
    elif kept:
        yield bytes(kept)
