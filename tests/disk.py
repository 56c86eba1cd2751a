"""A disk that fails when it is told to: stands for `os` in `anabranch.files`, through which the package writes."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

OPERATIONS = (
    *("open", "write", "read", "fsync", "close", "replace", "link", "unlink"),
    *("stat", "lstat", "fstat", "fchmod", "ftruncate", "lseek"),
)
#: What can go wrong: an error, for once or from then on; or a write that takes only some of its bytes, for once, and
#: then either goes on or is followed by a full disk.
KINDS = ("ENOSPC", "EIO", "ENOSPC for ever", "EIO for ever", "short", "short, then full")


class Disk:
    """Counts operations and lets some of them fail: one, or those that a plan has a kind of failure for."""

    def __init__(self, failing: int | None = None, kind: str = "ENOSPC", plan: Mapping[int, str] | None = None) -> None:
        self.plan = dict(plan or {}) if failing is None else {failing: kind}
        self.done = 0
        self.names: list[str] = []
        self.failed: list[str] = []  # the operations that did
        self.full = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._counted(name, real) if name in OPERATIONS else real

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*arguments: Any, **options: Any) -> Any:
            kind = self._kind(self.done)
            self.done += 1
            self.names.append(name)
            if self.full and name == "write":
                kind = "ENOSPC"
            if not kind or (kind.startswith("short") and name != "write"):
                return real(*arguments, **options)
            self.failed.append(name)
            if kind.startswith("short"):
                self.full = kind == "short, then full"
                file, data = arguments
                return real(file, data[: len(data) // 2])
            if name == "close":  # the descriptor goes in any case
                real(*arguments, **options)
            number = getattr(errno, kind.split()[0])
            raise OSError(number, os.strerror(number))

        return operation

    def _kind(self, number: int) -> str:
        """Return how an operation fails, "" if it does not."""
        lasting = (kind for first, kind in self.plan.items() if kind.endswith("for ever") and number > first)
        return self.plan.get(number) or next(lasting, "")

    @contextmanager
    def used(self) -> Iterator[Disk]:
        """Let the package write to this disk meanwhile."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("anabranch.files.os", self)
            yield self


def special_files(folder: Path) -> dict[str, Path]:
    """Make what is no ordinary file in a folder: each by its kind, with an ordinary file that the link leads to.

    A device is made by hand and is the null device's, so that a test that goes wrong harms nobody; without the right to
    make one it is left out.
    """
    (folder / "target").write_bytes(b"the file that the link leads to")
    made = {kind: folder / kind for kind in ("a pipe", "a socket", "a link", "a link to nothing", "a folder")}
    os.mkfifo(made["a pipe"])
    made["a link"].symlink_to("target")
    made["a link to nothing"].symlink_to("nothing")
    made["a folder"].mkdir()
    where = Path.cwd()
    os.chdir(folder)  # a socket's name must be short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("a socket")
    finally:
        os.chdir(where)
    try:
        os.mknod(folder / "a device", 0o20600, os.makedev(1, 3))
        made["a device"] = folder / "a device"
    except (OSError, AttributeError):
        pass
    return made


def looks(folder: Path) -> dict[str, Any]:
    """Return what there is in a folder: names, kinds, and contents of ordinary files and links."""
    found: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        inside: Any = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.name] = (status.st_mode, status.st_ino, status.st_nlink, inside)
    return found
