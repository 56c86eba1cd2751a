"""A training run that says what it acknowledges, to be killed: `python -m tests.killed FOLDER WORKERS METHOD`.

Every line is a promise: `game N` is committed, `model N` is committed; `ready` comes when the first batch was played.
`Killings` starts such programs, kills them or the processes that play for them, and keeps account of the promises.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.sources import ROOT

from anabranch.learn.run_folder import RunFolder


def main(folder: Path, workers: int, method: str) -> None:
    """Train, and say what is acknowledged, each word in one write."""
    from tests import test_muzero_runs, test_training

    from anabranch.learn.train import train

    games, model = RunFolder.commit_games, RunFolder.commit_model
    seen: list[object] = []

    def commit_games(self: RunFolder, *given: Any) -> Any:
        fresh = games(self, *given)
        os.write(1, "".join(f"game {each.id}\n" for each in fresh).encode())
        return fresh

    def commit_model(self: RunFolder, *given: Any) -> Any:
        row = model(self, *given)
        os.write(1, f"model {row['version']}\n".encode())
        return row

    def progress(status: Any) -> None:
        if not seen and not isinstance(status, str) and status.rows_per_second > 0:
            seen.append(status)
            os.write(1, b"ready\n")

    RunFolder.commit_games, RunFolder.commit_model = commit_games, commit_model  # type: ignore[method-assign,assignment]
    tiny = test_muzero_runs.tiny if method == "muzero" else test_training.tiny
    config = tiny(f"workers={workers}", "replay.least=8")
    train(
        folder,
        test_training.SAID,
        config,
        minutes=60,
        say=lambda words: print(words, file=sys.stderr),
        progress=progress,
    )


class Killings:
    """Kills, and what was promised before them."""

    def __init__(self, folder: Path, seed: int = 0, method: str = "alphazero") -> None:
        self.folder, self.draws, self.method = folder, random.Random(seed), method
        self.games: set[int] = set()
        self.models = 0
        self.killed = {"learner": 0, "worker": 0}
        self.until_ready: list[float] = []  # seconds from the start of a process to its first batch
        self.orphans = 0

    def kill_once(self, workers: int) -> None:
        """Start the program, kill one that plays on the way if there is one, then the program; look at what is left."""
        command = [sys.executable, "-m", "tests.killed", str(self.folder), str(workers), self.method]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            try:
                said, playing = self._watch(program)
            finally:  # whatever was found wrong, nobody is left behind
                program.kill()
            self.killed["learner"] += 1
            rest, _ = program.communicate()
        said += rest.splitlines()
        self.games |= {int(line.split()[1]) for line in said if line.startswith("game ")}
        self.models = max([self.models, *(int(line.split()[1]) for line in said if line.startswith("model "))])
        self.orphans += _left(playing)
        self.look()

    def _watch(self, program: subprocess.Popen[str]) -> tuple[list[str], list[int]]:
        """Wait for a random moment, killing one that plays on the way; return what was said and who played then."""
        begun = time.monotonic()
        said: list[str] = []
        early = self.draws.random() < 0.25
        if early:  # while it reads what there is
            time.sleep(self.draws.uniform(0.0, 1.2 * (self.until_ready or [3.0])[-1]))
        else:
            said += _until_ready(program)
            self.until_ready.append(time.monotonic() - begun)
            time.sleep(self.draws.uniform(0.0, 2.0))
        playing = children(program.pid)
        if playing and not early:
            os.kill(self.draws.choice(playing), signal.SIGKILL)
            self.killed["worker"] += 1
            time.sleep(self.draws.uniform(0.0, 3.0))
            playing = children(program.pid)
        assert program.poll() is None, program.stderr and program.stderr.read()
        return said, playing

    def look(self) -> None:
        """Find every promise kept, and every game once."""
        if not RunFolder.begun(self.folder):
            assert not self.games
            return
        with RunFolder.open(self.folder) as run:
            found = [record.id for row in run.ledger.rows["shards"] for record in run.games(row)]
            assert len(found) == len(set(found)) == len(run.ids)
            assert self.games <= run.ids
            assert self.models <= len(run.ledger.rows["models"])
            if self.models:
                newest = run.newest_state()
                assert newest is not None
                assert newest[0]["version"] == len(run.ledger.rows["models"])


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in listed.read_text().split()] if listed.exists() else []


def _until_ready(program: subprocess.Popen[str]) -> list[str]:
    assert program.stdout is not None
    said = []
    for line in program.stdout:
        said.append(line)
        if line == "ready\n":
            return said
    raise AssertionError(program.stderr and program.stderr.read())


def _left(processes: list[int]) -> int:
    """Return how many processes have not ended ten seconds after who started them has."""
    deadline = time.monotonic() + 10.0
    left = processes
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left = [process for process in left if _alive(process)]
    return len(left)


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
