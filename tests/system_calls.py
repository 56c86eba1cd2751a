"""A run whose k-th call of the system fails or is its last, for every k: Python's calls and SQLite's alike.

    python -m tests.system_calls FOLDER KIND [FIRST [EACH]]

runs with `system_calls.cpp` before the C library. A child process is forked for every k and writes games and models to
a run of its own; afterwards what it had acknowledged must be there, once, and the same program must come to its end.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.sources import ROOT

from anabranch.errors import AnabranchError
from anabranch.learn.records import Decision, GameRecord
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.settings import TrainConfig

#: How a call fails; and what follows, where it is not that the error ends the program: a kill, or another try.
KINDS = (
    *("ENOSPC", "EIO", "ENOSPC for ever", "EIO for ever", "short", "short, then full", "kill", "torn"),
    *("ENOSPC, then killed", "EIO, then killed", "ENOSPC, tried again", "EIO, tried again"),
)
SHARDS = 2
TOLD, WRONG = 1, 3
GAME = {"name": "tic_tac_toe", "options": {}, "compiled": True}


def game(number: int, moves: int = 3) -> GameRecord:
    """A game of made-up numbers: nothing here plays it."""
    decisions = [
        Decision(
            actions=(move,),
            dice=(number % 6,) * (move % 2),
            rewards=(0.0, 0.5 * move),
            value=(0.25, -0.25),
            policy=({move: 0.75, move + 1: 0.25},) if move % 2 else (),
            visits=10 * move,
            full=bool(move % 2),
            model=number,
        )
        for move in range(moves)
    ]
    return GameRecord(number, 1000 + number, (1, 2), tuple(decisions), opened=1)


def new(folder: Path) -> RunFolder:
    return RunFolder.create(folder, GAME, TrainConfig())


def work(folder: Path, out: int, kind: str = "") -> None:
    """Begin a run or go on with it: games, models and figures, each acknowledged by a line."""
    again = kind.endswith("tried again")
    try:
        run = tried(lambda: RunFolder.open(folder) if RunFolder.begun(folder) else new(folder), again)
        for shard in range(SHARDS):
            games = [game(2 * shard), game(2 * shard + 1)]
            for fresh in tried(partial(run.commit_games, games, 2), again):
                os.write(out, f"game {fresh.id}\n".encode())
            if len(run.ledger.rows["models"]) <= shard:
                weights, state = b"weights" * 30 + bytes([shard]), b"state" * 40 + bytes([shard])
                row = tried(partial(run.commit_model, weights, state, {"step": shard}), again)
                os.write(out, f"model {row['version']}\n".encode())
                tried(partial(run.add, "metrics", {"seconds": shard}), again)
                os.write(out, f"row {shard}\n".encode())
    except BaseException:
        if kind.endswith("then killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        raise
    run.close()


def tried(act: Callable[[], Any], again: bool) -> Any:
    """Do something, and once more if a file stands in the way and that is wanted."""
    try:
        return act()
    except AnabranchError:
        if not again:
            raise
        return act()


def in_a_child(folder: Path, number: int, kind: str) -> tuple[int, list[str], int]:
    """Work in a child whose call of that number fails; return its status, what it acknowledged, and its calls."""
    calls, (read, write) = ctypes.CDLL(None), os.pipe()
    child = os.fork()
    if not child:
        status = WRONG
        try:
            os.close(read)
            calls.calls_arm(str(folder).encode(), number, kind.encode())
            work(folder, write, kind)
            status = 0
        except AnabranchError as error:
            status = TOLD if str(folder) in str(error) else WRONG
            os.write(write, f"told {error}\n".encode())
        finally:
            os.write(write, f"calls {calls.calls_done()}\n".encode())
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        said = file.read().decode().splitlines()
    _, status = os.waitpid(child, 0)
    counted = [int(line.split()[1]) for line in said if line.startswith("calls")]
    return status, [line for line in said if not line.startswith("calls")], counted[0] if counted else -1


def check(folder: Path, said: list[str], case: object) -> None:
    """Compare what is on disk with what was acknowledged, go on with it, and look at all of it again."""
    games = {int(line.split()[1]) for line in said if line.startswith("game")}
    models, rows = (sum(line.startswith(word) for line in said) for word in ("model", "row"))
    if RunFolder.begun(folder):
        with RunFolder.open(folder) as run:
            assert games <= run.ids, case
            assert models <= len(run.ledger.rows["models"]), case
            assert rows <= len(run.ledger.rows["metrics"]), case
            found = [each.id for row in run.ledger.rows["shards"] for each in run.games(row)]
            assert len(found) == len(set(found)) == len(run.ids), case
            if models:
                assert run.newest_state() is not None, case
            assert not run.said or all("taken in" in words for words in run.said), (case, run.said)
    else:
        assert not said or said[0].startswith("told"), case
    nothing = os.open(os.devnull, os.O_WRONLY)
    work(folder, nothing)
    os.close(nothing)
    with RunFolder.open(folder) as run:
        found = [each.id for row in run.ledger.rows["shards"] for each in run.games(row)]
        assert sorted(found) == list(range(2 * SHARDS)), case
        assert len(run.ledger.rows["models"]) == SHARDS, case
    assert not [wrong for _, wrong in examine(folder) if wrong], case
    known = {row[key] for row in run.ledger.rows["models"] for key in ("file", "state")}
    known |= {row["file"] for row in run.ledger.rows["shards"]} | {"run.toml", "run.lock", "run.sqlite"}
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - known
    assert left <= {"run.sqlite.copy"}, (case, left)


def every_call(folder: Path, kind: str, first: int = 0, each: int = 1) -> tuple[int, int]:
    """Let every each-th call fail; return how many cases there were, and how many were told or ended the process."""
    cases = ended = 0
    number = first
    while True:
        place = folder / f"run{number}"
        status, said, calls = in_a_child(place, number, kind)
        deadly = kind in ("kill", "torn") or kind.endswith("then killed")
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        tried_again = kind.endswith("tried again")
        assert not tried_again or status == 0, (kind, number, said)
        assert (deadly and killed) or os.waitstatus_to_exitcode(status) in (0, TOLD), (kind, number, status, said)
        check(place, said, (kind, number, said))
        shutil.rmtree(place)
        cases, ended = cases + 1, ended + (status != 0)
        if 0 <= calls <= number:  # it never came to that
            assert status == 0
            return cases, ended
        number += each


def preloaded(folder: Path, *words: str) -> str:
    """Build the library if its source is newer, run this module with it, and return what it prints."""
    source, library = Path(__file__).with_suffix(".cpp"), ROOT / "build" / "system_calls.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        made = library.with_suffix(f".{os.getpid()}")
        flags = ["-O1", "-fPIC", "-shared", "-Wall", "-Werror", str(source), "-o", str(made), "-ldl"]
        library.parent.mkdir(exist_ok=True)
        subprocess.run([os.environ.get("CXX", "g++"), *flags], check=True)
        made.replace(library)
    done = subprocess.run(
        [sys.executable, "-m", "tests.system_calls", str(folder), *words],
        cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    print(*every_call(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])))
