"""Runs on disk: what is acknowledged stays, once, whatever is killed, fails or flips."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.disk import KINDS, Disk
from tests.sources import ROOT
from tests.system_calls import GAME, game, new, preloaded
from tests.system_calls import KINDS as CALL_KINDS

from anabranch.errors import DataError, FileError, UsageError
from anabranch.learn import run_folder
from anabranch.learn.ledger import Ledger
from anabranch.learn.records import read_shard, write_shard
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.settings import TrainConfig


def grown(folder: Path) -> None:
    """A run with games, two models and other rows."""
    with new(folder) as run:
        for shard in range(3):
            run.commit_games([game(2 * shard), game(2 * shard + 1)], 2)
        for number in range(3):
            run.commit_model(b"weights" * 50 + bytes([number]), b"state" * 80 + bytes([number]), {"step": number})
        run.add("metrics", {"seconds": 3.0})


# Shards


def test_games_come_back_from_a_shard_as_they_were():
    games = [game(number, moves) for number, moves in enumerate((0, 1, 5, 2))]
    assert read_shard(write_shard(games, 2)) == games


def test_columns_that_contradict_each_other_are_refused():
    import io

    import numpy as np

    with np.load(io.BytesIO(write_shard([game(1)], 2))) as file:
        columns = dict(file)
    for name in columns:
        if columns[name].ndim:
            made = io.BytesIO()
            np.savez(made, **{**columns, name: columns[name][:-1]})
            with pytest.raises(DataError):
                read_shard(made.getvalue())


# A run


def test_a_run_is_opened_again_with_all_that_was_committed(tmp_path):
    grown(tmp_path / "run")
    with RunFolder.open(tmp_path / "run") as run:
        assert run.ids == set(range(6))
        assert run.config == TrainConfig()
        assert run.game == GAME
        assert [found.id for row in run.ledger.rows["shards"] for found in run.games(row)] == list(range(6))
        newest = run.newest_state()
        assert newest is not None
        assert newest[0]["step"] == 2
    assert len(list((tmp_path / "run" / "states").iterdir())) == 2
    assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]


def test_a_game_counts_once(tmp_path):
    with new(tmp_path / "run") as run:
        assert [found.id for found in run.commit_games([game(1), game(1), game(2)], 2)] == [1, 2]
        assert [found.id for found in run.commit_games([game(2), game(3)], 2)] == [3]
        assert run.commit_games([game(1)], 2) == []
        assert len(run.ledger.rows["shards"]) == 2


def test_two_processes_cannot_write_to_one_run(tmp_path):
    with new(tmp_path / "run"), pytest.raises(DataError, match="another process is at work on this run"):
        RunFolder.open(tmp_path / "run")
    RunFolder.open(tmp_path / "run").close()


def test_settings_that_were_edited_are_refused(tmp_path):
    new(tmp_path / "run").close()
    path = tmp_path / "run" / "run.toml"
    path.write_text(path.read_text().replace("abreast = 256", "abreast = 255"))
    with RunFolder.open(tmp_path / "run") as run, pytest.raises(DataError, match=r"run\.toml is not as it was written"):
        assert run.config


def test_what_others_keep_in_a_run_is_left_alone(tmp_path):
    """Notes, models by other names, folders: going on with a run removes what crashes left of its own, no more."""
    folder = tmp_path / "run"
    grown(folder)
    others = [folder / "notes.txt", *(folder / part / "mine.npz" for part in ("replay", "models", "states"))]
    others += [folder / "models" / "net.onnx", folder / "models" / "old" / "000009.safetensors"]
    (folder / "models" / "old").mkdir()
    for path in others:
        path.write_bytes(b"mine")
    left = [folder / "models" / "000009.safetensors", folder / "states" / ".anabranch-0123456789abcdef.tmp"]
    for path in left:
        path.write_bytes(b"of a crash")
    with RunFolder.open(folder) as run:
        run.commit_model(b"weights", b"state", {"step": 9})
    assert all(path.read_bytes() == b"mine" for path in others)
    assert not any(path.exists() for path in left)


def test_a_database_that_is_gone_is_replaced_by_its_copy(tmp_path):
    """Otherwise the same command would begin anew among the old files, and remove them the next time."""
    folder = tmp_path / "run"
    grown(folder)
    (folder / "run.sqlite").unlink()
    said: list[str] = []
    assert RunFolder.begun(folder)
    with pytest.raises(UsageError, match="has a run already"):
        new(folder)
    with RunFolder.open(folder, said.append) as run:
        assert run.ids == set(range(6))
        assert run.newest_state() is not None
    assert any("going on from its copy" in words for words in said)
    assert not [wrong for _, wrong in examine(folder) if wrong]
    for name in ("run.sqlite", "run.sqlite.copy"):
        (folder / name).unlink()
    assert RunFolder.begun(folder)
    with pytest.raises(UsageError, match=r"no run\.sqlite"):
        RunFolder.open(folder)


def test_folders_that_are_gone_are_told_with_what_was_in_them(tmp_path):
    folder = tmp_path / "run"
    grown(folder)
    shutil.rmtree(folder / "replay")
    said: list[str] = []
    with RunFolder.open(folder, said.append) as run:
        assert not [found for row in run.ledger.rows["shards"] for found in run.games(row)]
        run.commit_games([game(77)], 2)
    assert sum("games are left out" in words for words in said) == 3


def test_a_run_where_nothing_can_be_written_can_be_looked_at(tmp_path, monkeypatch):
    """SQLite wants to make files beside a database that it reads, unless it is told that nobody writes there."""
    folder = tmp_path / "run"
    grown(folder)
    before = sorted(folder.iterdir())

    def opened(path: Path, *, frozen: bool = False) -> Ledger:
        if not frozen:
            raise FileError(f"{path} cannot be opened", path)
        return Ledger(path, frozen=True)

    monkeypatch.setattr(run_folder, "Ledger", opened)
    with RunFolder.look(folder) as run:
        assert [found.id for row in run.ledger.rows["shards"] for found in run.games(row)] == list(range(6))
        with pytest.raises(FileError, match="readonly"):
            run.add("metrics", {"seconds": 4.0})
    assert not [wrong for _, wrong in examine(folder) if wrong]
    assert sorted(folder.iterdir()) == before


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"is not the folder of a run"):
        RunFolder.open(tmp_path)
    (tmp_path / "run-mine").mkdir()
    (tmp_path / "run-mine" / "run.sqlite").touch()
    for opened in (RunFolder.open, RunFolder.look, examine):
        with pytest.raises(UsageError, match=r"no such folder\. Did you mean 'run-mine'\?"):
            opened(tmp_path / "run-min")


# Killed


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.test_run_folder import game, new
from anabranch.learn import run_folder
from anabranch.learn.run_folder import RunFolder

folder, step, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
seen = 0

def passed(name):
    global seen
    seen += name == step
    if seen == count:
        os.kill(os.getpid(), signal.SIGKILL)

run_folder.passed = passed
run = RunFolder.open(folder) if RunFolder.begun(folder) else new(folder)
for shard in range(4):
    for fresh in run.commit_games([game(3 * shard), game(3 * shard + 1), game(3 * shard + 2)], 2):
        print("acknowledged", fresh.id, flush=True)
    row = run.commit_model(b"weights" + bytes([shard]), b"state" + bytes([shard]), {"step": shard})
    print("model", row["version"], flush=True)
run.close()
"""
STEPS = {
    "settings written": 1, "ledger made": 1, "run committed": 1, "first copy made": 1,
    "shard written": 2, "shard committed": 2,
    "weights written": 3, "state written": 3, "model committed": 3, "ledger copied": 3, "old states removed": 3,
}  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("step", STEPS)
def test_nothing_acknowledged_is_lost_or_doubled_by_a_kill(step, tmp_path):
    """Killed right after a named step: the same program goes on, and in the end every game is there, once."""
    folder = tmp_path / "run"
    program = [sys.executable, "-c", KILLED, str(folder), step]
    first = subprocess.run([*program, str(STEPS[step])], cwd=ROOT, capture_output=True, text=True, check=False)
    assert first.returncode == -signal.SIGKILL, first.stderr
    acknowledged = {int(line.split()[1]) for line in first.stdout.splitlines() if line.startswith("acknowledged")}
    models = [line for line in first.stdout.splitlines() if line.startswith("model")]
    if RunFolder.begun(folder):
        with RunFolder.open(folder) as run:
            assert acknowledged <= run.ids
            assert len(models) <= len(run.ledger.rows["models"])
            found = [each.id for row in run.ledger.rows["shards"] for each in run.games(row)]
            assert len(found) == len(set(found)) == len(run.ids)
    else:
        assert not acknowledged
    second = subprocess.run([*program, "99"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stderr
    with RunFolder.open(folder) as run:
        found = [each.id for row in run.ledger.rows["shards"] for each in run.games(row)]
        assert sorted(found) == list(range(12))
    assert not [wrong for _, wrong in examine(folder) if wrong]
    assert not list(folder.rglob("*.tmp"))


def test_the_steps_are_all_that_there_are():
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(run_folder))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "passed"]
    assert {ast.literal_eval(node.args[0]) for node in calls} == set(STEPS)


# Disks that fail


def test_some_file_operations_fail(tmp_path):
    """Every eleventh of those that the test below lets fail one by one."""
    assert operations_that_fail("ENOSPC", tmp_path, first=3, each=11) > 40


@pytest.mark.hard
@pytest.mark.parametrize("kind", KINDS)
def test_any_file_operation_may_fail(kind, tmp_path):
    """For every k: the k-th operation fails. What was acknowledged is there, and the run goes on when the disk can."""
    assert operations_that_fail(kind, tmp_path) > 40


def operations_that_fail(kind: str, tmp_path: Path, first: int = 0, each: int = 1) -> int:
    number = first
    while True:
        folder = tmp_path / f"run{number}"
        done: list[int] = []
        with Disk(number, kind).used() as disk, suppress(FileError, DataError), new(folder) as run:
            for shard in range(2):
                done += [fresh.id for fresh in run.commit_games([game(shard)], 2)]
                run.commit_model(b"weights", b"state", {"step": shard})
        if RunFolder.begun(folder):
            with RunFolder.open(folder) as run:
                assert set(done) <= run.ids
        else:
            assert not done
        with RunFolder.open(folder) if RunFolder.begun(folder) else new(folder) as run:
            run.commit_games([game(0), game(1)], 2)
            assert sorted(found.id for row in run.ledger.rows["shards"] for found in run.games(row)) == [0, 1]
        shutil.rmtree(folder)
        if disk.done <= number:
            return number
        number += each


def test_some_calls_of_the_system_fail(tmp_path):
    """A few of those that the test below lets fail one by one, SQLite's among them, from the 122nd on."""
    cases, ended = map(int, preloaded(tmp_path, "EIO, then killed", "122", "70").split())
    assert cases > 2
    assert ended > 0


@pytest.mark.hard
@pytest.mark.parametrize("kind", CALL_KINDS)
def test_any_call_of_the_system_may_fail(kind, tmp_path):
    """For every k: the k-th call fails, or is the last. The run is in the old or the new state, and goes on."""
    cases, ended = map(int, preloaded(tmp_path, kind).split())
    assert cases > 200
    assert ended == 0 if kind.endswith("tried again") else ended > 5


def test_a_database_without_room_keeps_what_it_has(tmp_path):
    """SQLite's own refusal, SQLITE_FULL, by a limit on its pages: the row is not there, and no file of it either."""
    with new(tmp_path / "run") as run:
        run.commit_games([game(0)], 2)
        file: sqlite3.Connection = run.ledger._file
        pages = file.execute("PRAGMA page_count").fetchone()[0]
        file.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(FileError, match="full"):
            fill(run)
        kept = len(run.ids)
        assert kept < 399
        assert len(list((tmp_path / "run" / "replay").iterdir())) == kept + 1  # until another commit holds
        file.execute("PRAGMA max_page_count=1000000")
        run.commit_games([game(1000)], 2)
        assert len(list((tmp_path / "run" / "replay").iterdir())) == kept + 1
    with RunFolder.open(tmp_path / "run") as run:
        assert len(run.ids) == kept + 1


def test_trying_a_failed_commit_again_takes_no_more_room(tmp_path):
    """A full database beside a disk with some room: a run that waits for it does not fill the rest with copies."""
    with new(tmp_path / "run") as run:
        run.commit_games([game(0)], 2)
        file: sqlite3.Connection = run.ledger._file
        file.execute(f"PRAGMA max_page_count={file.execute('PRAGMA page_count').fetchone()[0]}")
        with pytest.raises(FileError, match="full"):
            fill(run)
        waiting = max(run.ids) + 1
        facts = {"step": 1, "words": "x" * 10_000}
        for _ in range(5):
            with pytest.raises(FileError, match="full"):
                run.commit_games([game(waiting)], 2)
            with pytest.raises(FileError, match="full"):
                run.commit_model(b"weights", b"state", facts)
        count = {part: len(list((tmp_path / "run" / part).iterdir())) for part in ("replay", "models", "states")}
        assert count == {"replay": len(run.ids) + 1, "models": 1, "states": 1}
        file.execute("PRAGMA max_page_count=1000000")
        assert [each.id for each in run.commit_games([game(waiting)], 2)] == [waiting]
        run.commit_model(b"weights", b"state", facts)
    with RunFolder.open(tmp_path / "run") as run:
        assert waiting in run.ids
        newest = run.newest_state()
        assert newest is not None
        assert newest[1:] == (b"weights", b"state")
    assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]


def fill(run: RunFolder) -> None:
    for number in range(1, 400):
        run.commit_games([game(number)], 2)


# Flipped bits


def content(folder: Path) -> dict[str, object]:
    """All that a run says, read as a process that goes on with it reads it."""
    with RunFolder.open(folder) as run:
        games = [run.games(row) for row in run.ledger.rows["shards"]]
        return {"rows": run.ledger.rows, "games": games, "state": run.newest_state(), "config": run.config}


@pytest.mark.parametrize("flips", [pytest.param(60, id="60"), pytest.param(1000, id="1000", marks=pytest.mark.hard)])
def test_no_flipped_bit_goes_unnoticed(flips, tmp_path):
    """One bit of one file: it is told, or nothing that is read is any different."""
    folder = tmp_path / "run"
    grown(folder)
    expected = content(folder)
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in ("run.lock",))
    draws, told = random.Random(0), 0
    copy = tmp_path / "copy"
    for flip in range(flips):
        shutil.copytree(folder, copy)
        path = copy / paths[flip % len(paths)].relative_to(folder)
        data = bytearray(path.read_bytes())
        if data:
            place = draws.randrange(8 * len(data))
            data[place // 8] ^= 1 << place % 8
            path.write_bytes(data)
        found = [wrong for _, wrong in examine(copy) if wrong]
        told += bool(found)
        if not found and path.name != "run.sqlite.copy":
            assert content(copy) == expected, path
        shutil.rmtree(copy)
    assert told > flips / 2


def test_the_newest_good_checkpoint_is_used_and_told(tmp_path):
    grown(tmp_path / "run")
    path = tmp_path / "run" / "states" / "000003.safetensors"
    data = bytearray(path.read_bytes())
    data[7] ^= 4
    path.write_bytes(data)
    said: list[str] = []
    with RunFolder.open(tmp_path / "run", said.append) as run:
        newest = run.newest_state()
    assert newest is not None
    assert newest[0]["step"] == 1
    assert "000003.safetensors is damaged" in said[0]
    assert "going on from the checkpoint before it" in said[0]


def test_a_damaged_shard_is_left_out_and_told(tmp_path):
    grown(tmp_path / "run")
    path = tmp_path / "run" / "replay" / "000002.npz"
    path.write_bytes(path.read_bytes()[:-1])
    said: list[str] = []
    with RunFolder.open(tmp_path / "run", said.append) as run:
        found = [each.id for row in run.ledger.rows["shards"] for each in run.games(row)]
    assert found == [0, 1, 4, 5]
    assert "000002.npz is damaged" in said[0]


def test_a_damaged_database_is_replaced_by_its_copy_and_games_since_are_taken_in(tmp_path):
    folder = tmp_path / "run"
    grown(folder)
    with RunFolder.open(folder) as run:
        run.commit_games([game(77)], 2)
    data = bytearray((folder / "run.sqlite").read_bytes())
    place = data.index(b"replay/000002.npz")
    data[place] ^= 1
    (folder / "run.sqlite").write_bytes(data)
    with pytest.raises(DataError, match="row 2 of shards is not as it was written"):
        Ledger(folder / "run.sqlite")
    said: list[str] = []
    with RunFolder.open(folder, said.append) as run:
        assert run.ids == {*range(6), 77}
        assert len(run.ledger.rows["models"]) == 3
    assert "going on from its copy" in said[0]
    assert "taken in" in said[1]
