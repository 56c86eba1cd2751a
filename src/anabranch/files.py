"""Files: read within bounds, and never half written."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from anabranch.errors import DataError, UsageError


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """Return a file's bytes, if there are not too many of them."""
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    if path.stat().st_size > most:
        raise DataError(f"{path} has {path.stat().st_size:,} bytes; at most {most:,} are read")
    return path.read_bytes()


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that at every moment, crashes included, it is the old one or the new one."""
    temporary = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if hasattr(os, "O_DIRECTORY"):  # the new name is safe once its folder is
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
