"""How far a run has come, in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch.learn.learner import Losses


@dataclass(frozen=True)
class Status:
    """How far a run has come."""

    seconds: float
    minutes: float  # it is to take
    games: int
    positions: int
    reanalysed: int  # positions that were searched again
    step: int
    games_per_second: float  # of this process
    rows_per_second: float
    fill: float  # states of a batch for every game under way
    idle: dict[str, float]  # shares of the time: of the learner, and of self-play
    seconds_left: float
    losses: Losses | None
    score: dict[str, Any] | None  # on the frozen set
    rating: dict[str, Any] | None

    def __str__(self) -> str:
        time = f"{self.seconds / 60:.1f} of {self.minutes:g} min, {shown_time(self.seconds_left)} left"
        if not self.games and not self.rows_per_second:
            return f"{time}, nothing is played yet: processes that play are starting, or a game is being compiled"
        words = [
            time,
            f"{self.games} games ({self.games_per_second:.1f}/s)",
            f"{self.positions} positions" + (f", {self.reanalysed} reanalysed" if self.reanalysed else ""),
            self._pace(),
            f"step {self.step}, idle: learner {self.idle['learner']:.0%}, self-play {self.idle['self_play']:.0%}",
        ]
        if self.losses is not None:
            more = "".join(f", {name} {loss:.3f}" for name, loss in self.losses.more.items())
            words.append(f"loss: policy {self.losses.policy:.3f}, value {self.losses.value:.3f}{more}")
        if self.score is not None:
            words.append(f"best moves {self.score['policy']:.1%}, searched {self.score['search']:.1%}")
        if self.rating is not None:
            words.append(f"rating {self.rating['rating']:.0f} ± {self.rating['error']:.0f}")
        return ", ".join(words)

    def _pace(self) -> str:
        """Return how fast positions are evaluated; muzero's first games, which are random, have none that are."""
        if self.games_per_second and not self.rows_per_second:
            return "random games"
        return f"{self.rows_per_second:.0f} evaluations/s, batches {shown_fill(self.fill)} full"


def shown_fill(fill: float) -> str:
    """Return how full batches are; they hold several states of a game where dice are enumerated.

    >>> shown_fill(0.97), shown_fill(11.42)
    ('97%', '11.4×')
    """
    return f"{fill:.0%}" if fill <= 1.0 else f"{fill:.1f}×"


def shown_time(seconds: float) -> str:
    """Return a time as one says it."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
