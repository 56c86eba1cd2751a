"""Whatever writes a file: only ordinary files and new names, whole or not at all, with an error that names the file."""

from __future__ import annotations

import ast
import errno
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.disk import KINDS, Disk, looks, special_files
from tests.failing import Trial, every_operation
from tests.sources import ROOT, files, name_of, tree_of
from tests.writers import REFUSED, WRITERS, Writer, probe

import anabranch as ab
from anabranch.errors import FileError
from anabranch.play.match import Series

every = pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)


# The list is complete


WRITES = {"write_text", "write_bytes", "touch", "rename", "hardlink_to", "symlink_to", "tofile", "savez", "savetxt"}
OS_WRITES = {"open", "replace", "rename", "link", "symlink", "truncate", "ftruncate", "mkfifo", "mknod"}
NULL_DEVICE = {"cli/output.py", "cli/failure.py"}  # open that, and write to standard output
TEMPORARY = {"evaluate/quantise.py", "learn/export.py"}  # let others write to a folder of their own, and read that
DATABASE = {"learn/ledger.py"}  # SQLite writes its file itself: tests/test_run_folder.py


def writes(tree: ast.Module) -> list[str]:
    """Return what a module calls that writes files."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func
        if isinstance(name, ast.Attribute):
            of, called = ast.unparse(name.value), name.attr
            if (
                called in WRITES
                or (of == "os" and called in OS_WRITES)
                or (of in ("shutil", "tempfile") and called != "get_terminal_size")
                or (of == "sqlite3" and called == "connect")
            ):
                found.append(f"line {node.lineno}: {of}.{called}")
        mode = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "mode")]
        told = ast.unparse(mode[0]) if mode else "'r'"
        if isinstance(name, ast.Name) and name.id == "open" and told not in ("'r'", "'rb'"):
            found.append(f"line {node.lineno}: open(…, {told})")
    return found


def test_nothing_writes_but_files_py():
    for path in files():
        if name_of(path) not in {"files.py", *NULL_DEVICE, *TEMPORARY, *DATABASE}:
            assert not writes(tree_of(path)), name_of(path)


@pytest.mark.parametrize(
    "source",
    [
        "Path(x).write_text(t)",
        "os.open(x, os.O_WRONLY)",
        "open(x, 'wb')",
        "open(x, mode='a')",
        "p.tofile(x)",
        "sqlite3.connect(x)",
    ],
)
def test_a_writer_of_another_kind_is_seen(source):
    assert writes(ast.parse(source))


def test_every_writer_is_walked_through():
    """Whoever takes the functions that write is in the list, looks after the cache, or keeps a folder of many files."""
    takes = set()
    for path in files():
        for node in ast.walk(tree_of(path)):
            names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
            if names & {"replace_file", "create_file", "GrowingFile"}:
                takes.add(name_of(path))
    assert takes == {module for writer in WRITERS.values() for module in writer.modules} | {
        "search/diagnosis/health.py",
        "learn/run_folder.py",  # tests/test_run_folder.py walks through it
    }


# What is no ordinary file


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and sockets with names")
@every
def test_what_is_no_ordinary_file_stays_and_is_named(writer: Writer, tmp_path):
    """Devices, pipes, sockets, links and folders, each in the place of the file: they are what they were before."""
    for kind, path in special_files(tmp_path).items():
        place = tmp_path / f"{kind.replace(' ', '_')}{writer.ending}"
        path.rename(place)
        before = looks(tmp_path)
        if writer.silent:
            writer.write(place, 0)
        else:
            with pytest.raises(REFUSED) as caught:
                writer.write(place, 0)
            assert str(place) in str(caught.value)
            assert writer.keeps or kind.removesuffix(" to nothing") in str(caught.value)
        assert looks(tmp_path) == before


@every
def test_permissions_stay(writer: Writer, tmp_path):
    path = tmp_path / f"file{writer.ending}"
    writer.write(path, 0)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask()
    if not writer.keeps:
        path.chmod(0o640)
        writer.write(path, 1)
        assert path.stat().st_mode & 0o777 == 0o640


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "file.svg"
    path.write_text("precious")
    path.chmod(0o444)
    monkeypatch.setattr("anabranch.files.os.access", lambda path, how: False)  # root may do everything
    with pytest.raises(FileError, match=r"file\.svg cannot be written.*permissions"):
        ab.games.load("tic_tac_toe").start().picture().save(path)
    assert path.read_text() == "precious"


@every
@pytest.mark.parametrize("name", ["nu\0ll", "half\ud800"])
def test_a_name_that_no_file_can_have_is_refused(writer: Writer, name, tmp_path):
    path = tmp_path / f"{name}{writer.ending}"
    if writer.silent:
        writer.write(path, 0)
    else:
        with pytest.raises(REFUSED, match=r"no file can have such a name|cannot name a Python file"):
            writer.write(path, 0)
    assert not list(tmp_path.iterdir())


# Disks that fail


CASES = [
    pytest.param(writer, first, id=f"{name}, {'a new name' if first else 'over an old file'}")
    for name, writer in WRITERS.items()
    for first in (True, False)
    if first or not writer.keeps
]


@pytest.mark.hard
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("writer", "first"), CASES)
def test_any_file_operation_may_fail(writer: Writer, kind, first, tmp_path):
    """For every k: the k-th operation fails. Then there is the old file or the new one, and nothing else."""
    trial = Trial(writer, tmp_path, first=first)
    cases, told = every_operation(trial, lambda number: {number: kind}, litter="for ever" in kind)
    assert cases >= 5
    assert (told > 0) != (kind == "short") or writer.silent


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_that_a_file_acknowledged_are_in_it(kind, tmp_path):
    """For every k, the k-th operation of a match fails: resumed, the file has all pairs that were kept, each once."""
    path = tmp_path / "match.jsonl"
    whole = ab.match(ab.games.load("tic_tac_toe"), "random", "random", games=12, abreast=2)
    number = 0
    while True:
        path.unlink(missing_ok=True)
        series = Series(ab.games.load("tic_tac_toe"), ("random", "random"), games=12, abreast=2)
        with Disk(number, kind).used() as disk, suppress(FileError), series.open(path):
            series.play()
        again = Series(ab.games.load("tic_tac_toe"), ("random", "random"), games=12, abreast=2)
        with again.open(path):
            assert set(series.finished) <= set(again.finished)
            again.play()
        assert again.result() == whole
        lines = path.read_bytes().splitlines()
        assert len(lines) == 7
        assert len(set(lines)) == 7
        if disk.done <= number:
            break
        number += 1
    assert number > 20


def test_a_torn_line_that_could_not_be_taken_back_goes_before_the_next(tmp_path):
    """The disk is full for a while, and what was written of a line cannot be cut off: the next append does it."""
    path = tmp_path / "match.jsonl"
    series = Series(ab.games.load("tic_tac_toe"), ("random", "random"), games=8, abreast=2)
    with series.open(path) as opened:
        good = path.read_bytes()
        disk = Disk(kind="EIO")
        with disk.used(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "write", lambda file, data: os.write(file, data[:5]) if not disk.full else 1 / 0)
            patch.setattr(disk, "ftruncate", lambda file, length: (_ for _ in ()).throw(OSError(errno.EIO, "EIO")))
            patch.setattr(disk, "fsync", lambda file: (_ for _ in ()).throw(OSError(errno.EIO, "EIO")))
            with pytest.raises(FileError):
                opened.append_begun([(0, 0, [1])])
        assert len(path.read_bytes()) > len(good)
        series.play()
    assert len(path.read_bytes().splitlines()) == 5


def test_the_doctor_says_what_is_wrong_with_the_cache(tmp_path, monkeypatch):
    from anabranch.search.diagnosis import health

    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path))
    number = 0
    while True:
        with Disk(number, "ENOSPC").used() as disk:
            (finding,) = health.cache_folder()
        for left in tmp_path.iterdir():
            left.unlink()
        if disk.done <= number:
            assert finding.status == "ok"
            break
        assert finding.status == "ok" or "No space left" in finding.text
        number += 1
    probe(tmp_path / "x", 0)
    assert not list(tmp_path.iterdir())


def test_an_interruption_does_not_hide_that_nothing_was_kept(tmp_path, monkeypatch, capsys):
    """Ctrl-C, and then the disk is full: the exit code and the message are of the file, not of the interruption."""
    from anabranch.cli import BAD_DATA, main

    class Stops(ab.RandomAgent):
        asked = 0

        def choose(self, turns):
            Stops.asked += 1
            if Stops.asked > 3:
                raise KeyboardInterrupt
            return super().choose(turns)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("anabranch.play.names._KINDS", {"stops": lambda text: Stops(), "random": "names:make_random"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anabranch.play.journal.GrowingFile.append", lambda self, data: refuse(self.path))
        code = main(["match", "tic_tac_toe", "stops", "random", "--games", "4", "--out", "match.jsonl"])
    assert code == BAD_DATA
    assert "match.jsonl was not written to" in capsys.readouterr().err


def refuse(path: Path) -> None:
    raise FileError(f"{path} was not written to: No space left on device", path)


# A real limit


PROGRAM = """
import resource, sys
from pathlib import Path
from tests.writers import WRITERS, quantised

folder = Path(sys.argv[1])
for number, (name, writer) in enumerate(WRITERS.items()):
    writer.write(folder / f"file{number}{writer.ending}", 0)
quantised(1)  # onnxruntime writes files of its own
before = {path.name: path.read_bytes() for path in folder.iterdir()}
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
for number, (name, writer) in enumerate(WRITERS.items()):
    path = folder / (f"new{number}{writer.ending}" if writer.keeps else f"file{number}{writer.ending}")
    try:
        writer.write(path, 1)
        print(name, "no error")
    except OSError as error:
        print(name, type(error).__name__, error.errno == 27, str(path) in str(error), "ulimit" in str(error))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before, name
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_system_that_allows_no_larger_files_is_told_as_such(tmp_path):
    """By the system itself and not by a stand-in: RLIMIT_FSIZE of 64 bytes, after which every file is as it was."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = [
        f"{name} no error" if writer.silent else f"{name} FileError True True True" for name, writer in WRITERS.items()
    ]
    assert done.stdout.splitlines() == expected
