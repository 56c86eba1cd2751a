"""What goes between a run and the processes that play for it: a kind, a length, bytes. No code ever does."""

from __future__ import annotations

import struct
from typing import BinaryIO

from anabranch.errors import DataError

SETUP, WEIGHTS, NUMBERS, GAMES, NEWS, ERROR = b"S", b"W", b"N", b"G", b"M", b"E"
KINDS = (SETUP, WEIGHTS, NUMBERS, GAMES, NEWS, ERROR)
LARGEST = 2**31
_HEAD = struct.Struct("<cQ")


def send(stream: BinaryIO, kind: bytes, body: bytes) -> None:
    """Write one message."""
    stream.write(_HEAD.pack(kind, len(body)))
    stream.write(body)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """Return the next message, None where the other side has closed, also in the middle of one."""
    head = _read(stream, _HEAD.size)
    if head is None:
        return None
    kind, length = _HEAD.unpack(head)
    if kind not in KINDS or length > LARGEST:
        raise DataError(f"a message of kind {kind!r} with {length:,} bytes is none")
    body = _read(stream, length)
    return None if body is None else (kind, body)


def _read(stream: BinaryIO, count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        part = stream.read(count - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)
