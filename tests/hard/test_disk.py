"""Disks that fail twice: for every writer and any two operations, whichever way each of them fails."""

from __future__ import annotations

import resource
import signal
from itertools import count

import pytest
from tests.disk import KINDS, Disk
from tests.failing import Trial, every_operation
from tests.writers import WRITERS, Writer

from anabranch.errors import FileError

TWICE = (("ENOSPC", "EIO"), ("EIO", "ENOSPC"), ("short", "ENOSPC"), ("short", "EIO"), ("short", "short, then full"))
CASES = [
    pytest.param(name, writer, first, id=f"{name}, {'a new name' if first else 'over an old file'}")
    for name, writer in WRITERS.items()
    for first in (True, False)
    if first or not writer.keeps
]


def counted(counts: dict[str, str], kind: str, cases: int, told: int) -> None:
    """Add to what is printed in the end."""
    before = [int(number.replace(",", "")) for number in counts.get(kind, "0 0").replace("cases, told", "").split()[:2]]
    counts[kind] = f"{before[0] + cases:,} cases, told {before[1] + told:,}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "writer", "first"), CASES)
def test_any_operation_fails(name, writer: Writer, first, kind, tmp_path, counts):
    trial = Trial(writer, tmp_path, first=first)
    cases, told = every_operation(trial, lambda number: {number: kind}, litter="for ever" in kind)
    assert cases >= 5
    assert told or kind == "short" or writer.silent
    counted(counts, f"disk: {name}", cases, told)


@pytest.mark.parametrize("kinds", TWICE, ids=" and ".join)
@pytest.mark.parametrize(("name", "writer", "first"), CASES)
def test_any_two_operations_fail(name, writer: Writer, first, kinds, tmp_path, counts):
    """The second may be one that clears up after the first, or a later one altogether."""
    trial = Trial(writer, tmp_path, first=first)
    for number in count():
        cases, told = 0, 0
        for second in count(number + 1):
            disk = Disk(plan={number: kinds[0], second: kinds[1]})
            told += trial.on(disk) == "told"
            cases += 1
            if disk.done <= second:  # it never came to that
                break
        counted(counts, f"disk: {name}, twice", cases, told)
        if disk.done <= number:
            break


@pytest.mark.parametrize(("name", "writer", "first"), CASES)
def test_files_may_only_be_so_large(name, writer: Writer, first, tmp_path, counts):
    """The system's own limit on the size of files, at many steps below the file's: real short writes and refusals."""
    trial = Trial(writer, tmp_path, first=first)
    size = trial.path.stat().st_size
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    cases = told = 0
    try:
        for limit in sorted({size * step // 40 for step in range(40)} | {0, 1, size - 1}):
            trial.path.unlink(missing_ok=True)
            if trial.old is not None:
                trial.path.write_bytes(trial.old)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
            try:
                writer.write(trial.path, trial.version)
            except FileError as error:
                caught: FileError | None = error
            else:
                caught = None
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            found = trial.path.read_bytes() if trial.path.exists() else None
            if writer.grows:
                assert found is None or writer.read(found) == trial.new[: len(writer.read(found))]
                assert found is None or found.startswith(trial.old or b"")
            else:
                assert found == trial.old
            assert caught is None or (str(trial.path) in str(caught) and "ulimit -f" in str(caught))
            assert caught is not None or writer.silent
            assert {left.name for left in tmp_path.iterdir()} <= {trial.path.name}
            cases, told = cases + 1, told + (caught is not None)
    finally:
        signal.signal(signal.SIGXFSZ, before)
    counted(counts, f"disk: {name}, size", cases, told)
