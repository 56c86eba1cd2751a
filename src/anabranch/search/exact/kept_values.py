"""Solved values on disk: one compressed file per set of rules, believed only if its checksum is right.

A file is a magic line, the SHA-256 of all that follows, and a compressed array of doubles, their first bytes before all
second ones, and so on. It lies in the cache folder, beside compiled games; one that cannot be read is the same as none.
"""

from __future__ import annotations

import hashlib
import math
import warnings
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from anabranch.errors import FileError
from anabranch.files import read_file, replace_file
from anabranch.game.native.cache import folder

Floats = npt.NDArray[np.float64]
ENDING = ".values"
_MAGIC = b"anabranch values 1\n"


def path_of(name: str) -> Path:
    """Return where values are kept under a name."""
    return folder() / (name + ENDING)


def read(name: str, shape: tuple[int, ...]) -> Floats | None:
    """Return what is kept under a name, None if there is nothing or it is damaged or of another shape."""
    try:
        data = read_file(path_of(name), len(_MAGIC) + 32 + 8 * math.prod(shape) + 2**16)
    except (FileError, OSError):
        return None
    return decode(data, shape)


def write(name: str, values: Floats) -> None:
    """Keep values under a name; a folder that cannot be written to costs a warning and nothing else."""
    try:
        path = path_of(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, encode(values))
    except (FileError, OSError) as error:
        warnings.warn(
            f"solved values cannot be kept ({error}) and will be computed again; set ANABRANCH_CACHE to a folder that "
            f"can be written to",
            RuntimeWarning,
            stacklevel=2,
        )


def encode(values: Floats) -> bytes:
    """Return values as the bytes of a file."""
    columns = np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(-1, 8).T
    body = zlib.compress(np.ascontiguousarray(columns).tobytes(), 6)
    return _MAGIC + hashlib.sha256(body).digest() + body


def decode(data: bytes, shape: tuple[int, ...]) -> Floats | None:
    """Return the values in a file's bytes, None unless every one of them is as it was written."""
    start, size = len(_MAGIC) + 32, 8 * math.prod(shape)
    body = data[start:]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        return None
    reader = zlib.decompressobj()
    try:
        columns = reader.decompress(body, size)
    except zlib.error:
        return None
    if len(columns) != size or (not reader.eof and reader.decompress(reader.unconsumed_tail, 1)):
        return None
    rows = np.frombuffer(columns, np.uint8).reshape(8, -1).T
    values: Floats = np.ascontiguousarray(rows).view("<f8").reshape(shape).astype(np.float64, copy=False)
    return values
