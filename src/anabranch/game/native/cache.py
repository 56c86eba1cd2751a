"""Object code on disk: one file per fingerprint, replaced whole or not at all, believed only if its checksum is right.

A file is a magic line, the SHA-256 of all that follows, the length of a JSON header, the header, the object code.
Several processes may write the same file at once: each writes a temporary one and renames it, and all of them are
good. A file that cannot be read is the same as none. The folder is $ANABRANCH_CACHE, else the user's cache folder; when
it grows beyond `LIMIT`, the files that were not used for longest go. Whoever has no home has no cache: code is loaded
from this folder, so it is never looked for where others could write, such as the folder for temporary files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from anabranch.files import replace_file

LIMIT = 256 * 2**20  # bytes
_MAGIC = b"anabranch object code 1\n"
_ENDING = ".object"
_STALE = 3600.0  # seconds after which a temporary file has surely been left behind
_warned = False


@dataclass(frozen=True)
class ObjectCode:
    """Machine code not yet in memory: the symbol of each entry, and the symbols it needs from outside."""

    symbols: dict[str, str]
    externals: tuple[str, ...]
    code: bytes


def folder() -> Path:
    """Return where object code is kept; raise FileNotFoundError where the user has no home."""
    given = os.environ.get("ANABRANCH_CACHE")
    if given:
        return Path(given)
    base = Path(os.environ.get({"win32": "LOCALAPPDATA"}.get(sys.platform, "XDG_CACHE_HOME"), ""))
    if not base.is_absolute() or sys.platform == "darwin":
        inside = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
        base = _home() / inside
    return base / "anabranch"


def _home() -> Path:
    """Return the user's home folder, which need not exist."""
    try:
        home = Path.home()
    except RuntimeError:  # no $HOME, and no entry for the user in the list of users
        home = Path()
    if not home.is_absolute():  # HOME=here would be in the current folder, and code would be loaded from there
        raise FileNotFoundError(errno.ENOENT, "the user has no home folder, $HOME is not set", "~")
    return home


def read(fingerprint: str) -> ObjectCode | None:
    """Return what is kept under a fingerprint, None if there is nothing or it is damaged."""
    try:
        path = folder() / (fingerprint + _ENDING)
        data = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used just now
    return decode(data)


def write(fingerprint: str, unit: ObjectCode) -> None:
    """Keep object code under a fingerprint; a folder that cannot be written to costs one warning and nothing else."""
    global _warned
    where = Path("~")
    try:
        where = folder()
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(where / (fingerprint + _ENDING), encode(unit))
        _prune(where)
    except OSError as error:
        if not _warned:
            _warned = True
            warnings.warn(
                f"compiled games cannot be kept in {where} ({error.strerror or error}) and every process will compile "
                f"them again; set ANABRANCH_CACHE to a folder that can be written to",
                RuntimeWarning,
                stacklevel=2,
            )


def encode(unit: ObjectCode) -> bytes:
    """Return object code as the bytes of a file."""
    header = json.dumps({"symbols": unit.symbols, "externals": unit.externals}).encode()
    body = len(header).to_bytes(8, "little") + header + unit.code
    return _MAGIC + hashlib.sha256(body).digest() + body


def decode(data: bytes) -> ObjectCode | None:
    """Return the object code in a file's bytes, None unless every one of them is as it was written."""
    start = len(_MAGIC) + 32
    body = data[start:]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        return None
    length = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(body[8:length])
    return ObjectCode(header["symbols"], tuple(header["externals"]), body[length:])


def _prune(where: Path) -> None:
    """Remove what was used longest ago until the folder is within its limit, and temporary files nobody will finish."""
    kept = []
    for path in where.iterdir():
        try:
            status = path.stat()
            if path.suffix == ".tmp" and time.time() - status.st_mtime > _STALE:
                path.unlink()
            elif path.suffix == _ENDING:
                kept.append((status.st_mtime, status.st_size, path))
        except OSError:  # another process was faster
            continue
    total = sum(size for _, size, _ in kept)
    for _, size, path in sorted(kept):
        if total <= LIMIT:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
