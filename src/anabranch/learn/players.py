"""Where games come from, as the loop sees it; and self-play in this process, one batch at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Protocol

from anabranch.game.game import Game
from anabranch.learn.records import GameRecord
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import TrainConfig


class Players(Protocol):
    """Where games come from: this process, or others."""

    @property
    def rows(self) -> int: ...  # states evaluated so far
    @property
    def fill(self) -> float: ...  # how full batches are, as a share
    @property
    def idle(self) -> float: ...  # the share of the time in which nobody played
    def games(self) -> list[GameRecord]: ...
    def use(self, evaluator: Any, version: int) -> None: ...
    def close(self) -> None: ...


class InProcess:
    """Self-play in this process, one batch at a time."""

    def __init__(self, game: Game, config: TrainConfig, evaluator: Any, version: int, numbers: Iterator[int]) -> None:
        self.worker = Worker(game, config, evaluator, version)
        self._batches = self.worker.play(numbers)
        self._begun, self._played = time.perf_counter(), 0.0

    @property
    def rows(self) -> int:
        """States evaluated so far."""
        return self.worker.rows

    @property
    def fill(self) -> float:
        """How full batches are."""
        return self.worker.fill

    @property
    def idle(self) -> float:
        """The share of the time in which this process did something else: learnt, exported, measured."""
        return 1.0 - self._played / max(1e-9, time.perf_counter() - self._begun)

    def games(self) -> list[GameRecord]:
        """Return the games that end with the next batch."""
        begun = time.perf_counter()
        ended = next(self._batches)
        self._played += time.perf_counter() - begun
        return ended

    def use(self, evaluator: Any, version: int) -> None:
        """Go on with other weights."""
        self.worker.use(evaluator, version)

    def close(self) -> None:
        """End all games."""
        self.worker.__exit__(None, None, None)
