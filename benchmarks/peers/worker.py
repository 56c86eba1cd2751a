"""A contender or a player in a process of its own, one core, one thread: told on stdin what to do, one JSON line each.

It runs under the interpreter of whoever is measured, ours or the peers'. Whatever a library prints goes to stderr.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure  # first: it limits threads

from peers.questions import Question


class Worker:
    """Answers requests: make a contender, call it and say how long that took."""

    contender: measure.Contender
    player: Callable[[list[int]], int]  # a game's moves so far → its next one

    def make(self, adapter: str, variant: str, package: str, question: dict[str, Any]) -> dict[str, Any]:
        """Import the library and set the search up, with whatever it compiles ahead."""
        began = time.perf_counter()
        self.contender = importlib.import_module(adapter).make(Question(**question), variant)
        return {"seconds": time.perf_counter() - began, "version": importlib.metadata.version(package)}

    def warm(self) -> dict[str, Any]:
        """Search once, with whatever is compiled on the way; what was done, by the library's own count."""
        [(seconds, _)] = self.contender.clocks(1)
        counts = {"counted": self.contender.counted, "evaluated": self.contender.evaluated}
        return {"seconds": seconds} | {name: None if count is None else count() for name, count in counts.items()}

    def clocks(self, calls: int) -> list[measure.Clock]:
        """Search so often and return the clocks."""
        return self.contender.clocks(calls)

    def sit(self, adapter: str, variant: str, folder: str) -> None:
        """Become what was trained in a folder."""
        self.player = importlib.import_module(adapter).player(variant, Path(folder))

    def choose(self, games: list[list[int]]) -> list[int]:
        """Return a move for every game, told by its moves so far."""
        return [int(self.player(moves)) for moves in games]


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us decides what Ctrl-C means, and ends us
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    measure.use_cores(1)
    sys.setrecursionlimit(10_000)  # some peers walk back by recursion
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": getattr(worker, request.pop("do"))(**request)}
        except Exception as error:  # a peer that breaks is a line of the table
            answer = {"failure": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
