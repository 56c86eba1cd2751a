"""A checksum at the end of an ONNX file, which readers that do not know it take for a line of metadata.

ONNX files are protocol buffers, in which a repeated field may stand anywhere: the last one here is an entry of
`metadata_props` (field 14 of ModelProto) that says `anabranch.sha256` and the SHA-256 of every byte before it. A file
without one, written by others, is read all the same.
"""

from __future__ import annotations

import hashlib

from anabranch.errors import DataError

KEY = b"anabranch.sha256"
DIGITS = 64


def _entry(digest: bytes) -> bytes:
    """Return the field: tag 14, then a message of the fields 1 (key) and 2 (value), all with lengths below 128."""
    inside = b"\x0a" + bytes([len(KEY)]) + KEY + b"\x12" + bytes([len(digest)]) + digest
    return b"\x72" + bytes([len(inside)]) + inside


LENGTH = len(_entry(b"0" * DIGITS))


def sealed(data: bytes) -> bytes:
    """Return a model with its checksum."""
    return data + _entry(hashlib.sha256(data).hexdigest().encode())


def check_seal(data: bytes, name: str) -> None:
    """Refuse a model whose checksum is not its own; one that has none passes."""
    body, end = data[:-LENGTH], data[-LENGTH:]
    if KEY in end and end != _entry(hashlib.sha256(body).hexdigest().encode()):
        raise DataError(
            f"{name} is damaged: its checksum is not that of its contents (a program that changed it on purpose should "
            f"have dropped the metadata entry {KEY.decode()})"
        )
