"""What must hold of a writer whose disk fails: the old file or the new one, no litter, an error that names the file."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.disk import Disk
from tests.writers import Writer

from anabranch.errors import AnabranchError, FileError


def outcome(writer: Writer, path: Path, version: int) -> str:
    """Let it write and return how that went; trouble must be told with the file's name and what to do."""
    try:
        writer.write(path, version)
    except AnabranchError as error:
        caught = error
    else:
        return "went well"
    assert isinstance(caught, FileError), caught
    assert str(path) in str(caught)
    assert caught.filename == str(path)
    assert caught.errno in (errno.ENOSPC, errno.EIO)
    assert "make room" in str(caught) or "the disk has failed" in str(caught)
    return "told"


class Trial:
    """A writer and a file of its own: to be written over an old one, or under a new name, on disks that fail."""

    def __init__(self, writer: Writer, folder: Path, *, first: bool) -> None:
        self.writer, self.version = writer, int(not first)
        self.path = folder / f"file{writer.ending}"
        self.old: bytes | None = None
        if not first:
            writer.write(self.path, 0)
            self.old = self.path.read_bytes()
        writer.write(self.path, self.version)
        self.new: Any = writer.read(self.path.read_bytes())

    def on(self, disk: Disk, *, litter: bool = False) -> str:
        """Write on a disk and return how that went; `litter` may be left where a disk lets nothing be cleared away."""
        writer, path, new = self.writer, self.path, self.new
        path.unlink(missing_ok=True)
        if self.old is not None:
            path.write_bytes(self.old)
        with disk.used():
            how = outcome(writer, path, self.version)
        found = path.read_bytes() if path.exists() else None
        whole = found
        if writer.grows and found is not None and "ftruncate" in disk.failed:
            whole = found[: found.rfind(b"\n") + 1]  # a torn line stays behind, and goes before the next one
        read = None if whole is None else writer.read(whole)
        if writer.grows:
            assert read is None or read == new[: len(read)], disk.names
            assert self.old is None or (found is not None and found.startswith(self.old)), disk.names
        else:
            assert found == self.old or read == new, disk.names
        rest = {left.name for left in path.parent.iterdir()} - {path.name}
        assert not rest or litter or "unlink" in disk.failed, disk.names
        for left in rest:
            (path.parent / left).unlink()
        assert how == "told" or read == new or writer.silent, disk.names
        if not (writer.keeps and found):
            writer.write(path, self.version)  # the disk is well again
        assert writer.read(path.read_bytes()) == new, disk.names
        return how


def every_operation(trial: Trial, plan: Callable[[int], dict[int, str]], *, litter: bool = False) -> tuple[int, int]:
    """Let the k-th operation fail, for every k, as a plan says; return how many cases, and how many were told."""
    number = told = 0
    while True:
        disk = Disk(plan=plan(number))
        how = trial.on(disk, litter=litter)
        if disk.done <= number:  # it never came to that
            assert how == "went well"
            return number, told
        told += how == "told"
        number += 1
