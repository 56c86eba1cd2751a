"""Self-play in processes of their own on this machine: numbers of games go out, whole games come back.

Who hands out the numbers owns them: a process that dies is replaced, and the games it had not sent are played again
under the same numbers. A game counts when the run has committed it, so a number that comes twice does no harm. What a
process raises, rules that fail say, is raised here.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anabranch.errors import AnabranchError
from anabranch.learn.messages import ERROR, GAMES, NUMBERS, SETUP, WEIGHTS, receive, send
from anabranch.learn.records import GameRecord, read_shard
from anabranch.learn.settings import TrainConfig
from anabranch.learn.worker import read_error, weights_message
from anabranch.search.settings.mapping import to_mapping

WAIT = 0.05  # seconds for games, before the learner has its turn
MOST = 256  # games taken in before it has: who plays faster than that waits, and says so
AHEAD = 2  # games a process knows of for each one it plays
POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # whose threads would fight for cores
MOST_DEATHS = 5  # of processes that sent nothing at all, in a row


class Process:
    """One process, the numbers it has and has not sent back, and a thread that reads what it says."""

    def __init__(self, setup: bytes, news: queue.SimpleQueue[tuple[Process, bytes, bytes]]) -> None:
        self.numbers: set[int] = set()
        self.sent = 0  # games it has sent back
        self.rows, self.fill, self.idle = 0, 0.0, 0.0
        self.child = subprocess.Popen(
            [sys.executable, "-m", "anabranch.learn.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(POOLS, "1"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            process_group=0,  # Ctrl-C is for the learner, also while a process that plays is importing
        )
        self._news = news
        self.tell(SETUP, setup)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        try:
            while (message := receive(self.child.stdout)) is not None:  # type: ignore[arg-type]
                self._news.put((self, *message))
        except (AnabranchError, OSError, ValueError):
            self.child.kill()

    @property
    def dead(self) -> bool:
        """Whether it has ended."""
        return self.child.poll() is not None

    def tell(self, kind: bytes, body: bytes) -> None:
        """Send a message; one who is dead does not hear it."""
        assert self.child.stdin is not None
        try:
            send(self.child.stdin, kind, body)  # type: ignore[arg-type]
        except (BrokenPipeError, OSError):
            return

    def end(self) -> None:
        """Let it go, and make sure that it has gone."""
        assert self.child.stdin is not None
        with contextlib.suppress(OSError):  # what was not sent is not needed
            self.child.stdin.close()
        self.child.kill()
        self.child.wait()
        assert self.child.stdout is not None
        self.child.stdout.close()


class Processes:
    """As many processes as settings say, seen as one source of games."""

    def __init__(
        self,
        said: dict[str, Any],
        config: TrainConfig,
        evaluator: Any,
        version: int,
        numbers: Iterator[int],
        say: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._setup = json.dumps({"game": said, "config": to_mapping(config)}).encode()
        self._numbers, self._abreast, self._say = numbers, config.self_play.abreast, say
        self._weights = weights_message(evaluator, version)
        self._news: queue.SimpleQueue[tuple[Process, bytes, bytes]] = queue.SimpleQueue()
        self._gone_rows = 0  # of processes that are dead
        self._deaths = 0
        self.processes: list[Process] = []
        try:
            for _ in range(config.workers or 0):
                self.processes.append(self._started())
        except BaseException:
            self.close()
            raise

    def _started(self, again: Sequence[int] = ()) -> Process:
        made = Process(self._setup, self._news)
        made.tell(WEIGHTS, self._weights)
        self._hand_out(made, self._abreast * AHEAD, again)
        return made

    def _hand_out(self, process: Process, count: int, first: Sequence[int] = ()) -> None:
        given = list(itertools.islice(itertools.chain(first, self._numbers), count))
        process.numbers.update(given)
        process.tell(NUMBERS, json.dumps(given).encode())

    @property
    def rows(self) -> int:
        """States evaluated so far."""
        return self._gone_rows + sum(process.rows for process in self.processes)

    @property
    def fill(self) -> float:
        """How full batches are."""
        return sum(process.fill for process in self.processes) / max(1, len(self.processes))

    @property
    def idle(self) -> float:
        """In which share of their time processes waited to be told what to play."""
        return sum(process.idle for process in self.processes) / max(1, len(self.processes))

    def games(self) -> list[GameRecord]:
        """Return the games that have come in meanwhile; wait a moment if there are none."""
        found: list[GameRecord] = []
        deadline = time.monotonic() + WAIT
        while len(found) < MOST:
            try:
                left = max(0.0, deadline - time.monotonic())
                process, kind, body = self._news.get(timeout=left) if not found and left else self._news.get_nowait()
            except queue.Empty:
                break
            if kind == GAMES:
                games = [game for game in read_shard(body) if game.id in process.numbers]
                process.numbers.difference_update(game.id for game in games)
                process.sent += len(games)
                self._deaths = 0
                found += games
                if not process.dead:
                    self._hand_out(process, len(games))
            elif kind == ERROR:
                raise read_error(body)
            else:
                told = json.loads(body)
                process.rows, process.fill, process.idle = told["rows"], told["fill"], told["idle"]
        self._replace_dead()
        return found

    def _replace_dead(self) -> None:
        for place, process in enumerate(self.processes):
            if not process.dead or not self._news.empty():  # what it sent before counts
                continue
            code = process.child.returncode
            self._deaths += not process.sent
            self._gone_rows += process.rows
            process.end()
            if self._deaths > MOST_DEATHS:
                raise AnabranchError(
                    f"{self._deaths} processes in a row ended before their first game, the last with code {code}; "
                    f"train with --set workers=0 to see why"
                )
            self._say(f"a process that played has ended with code {code}; another one takes over its games")
            self.processes[place] = self._started(sorted(process.numbers))

    def use(self, evaluator: Any, version: int) -> None:
        """Send other weights to all, once a version."""
        self._weights = weights_message(evaluator, version)
        for process in self.processes:
            process.tell(WEIGHTS, self._weights)

    def close(self) -> None:
        """End all processes."""
        for process in self.processes:
            process.end()
