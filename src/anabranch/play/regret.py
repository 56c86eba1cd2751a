"""Regret: what an agent's choices lose against exact play, over a fixed set of positions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Protocol

from anabranch.errors import UsageError
from anabranch.game.state import State
from anabranch.play.agent import ask, check_agents, name_of
from anabranch.play.fixed_set import FixedSet
from anabranch.play.interval import CONFIDENCE, student_quantile
from anabranch.play.names import as_agent
from anabranch.search.exact.oracle import EQUAL, SolvedOracle
from anabranch.search.exact.oracle import oracle as oracle_of
from anabranch.search.exact.solve import Solution

SLICE = 16  # positions an agent is asked about at once


class Oracle(Protocol):
    """Who knows what every choice is worth."""

    def regret(self, state: State, action: int) -> float:
        """Return what an action loses against the best one, to the player who moves."""
        ...


@dataclass(frozen=True)
class Regret:
    """What an agent's choices lost, position by position."""

    game: str
    agent: str
    actions: tuple[int, ...]
    regrets: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean regret, in the game's own points."""
        return fmean(self.regrets)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean over all such positions lies, with 95 % confidence; regret is never below 0."""
        n = len(self.regrets)
        if n < 2:
            return 0.0, math.inf
        variance = math.fsum((x - self.mean) ** 2 for x in self.regrets) / (n - 1)
        reach = student_quantile(0.5 + CONFIDENCE / 2.0, n - 1) * math.sqrt(variance / n)
        return max(0.0, self.mean - reach), self.mean + reach

    @property
    def equal(self) -> float:
        """The share of positions in which nothing was lost."""
        return sum(x <= EQUAL for x in self.regrets) / len(self.regrets)

    @property
    def worst(self) -> int:
        """The number of the position in which most was lost."""
        return max(range(len(self.regrets)), key=self.regrets.__getitem__)

    def facts(self) -> dict[str, Any]:
        """Return everything as plain data."""
        low, high = self.interval
        return {
            "game": self.game,
            "agent": self.agent,
            "positions": len(self.regrets),
            "mean": self.mean,
            "low": low,
            "high": high if math.isfinite(high) else None,
            "equal": self.equal,
            "worst": self.worst,
            "actions": list(self.actions),
            "regrets": list(self.regrets),
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.facts(), ensure_ascii=False)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.game.removesuffix('()')}: {self.agent} in {len(self.regrets):,} positions\n"
            f"mean regret {self.mean:.4f}, 95 % interval {low:.4f} to {high:.4f}; nothing lost in {self.equal:.1%}; "
            f"at most {self.regrets[self.worst]:.4f}, in position {self.worst}"
        )


def regret(
    agent: Any,
    positions: FixedSet,
    oracle: Any = None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Regret:
    """Let an agent choose in every position of a set and say what that loses against exact play.

    `oracle` is one with regret(state, action), an ab.solve solution, or None: that of the game, where it has one, else
    a solution of the whole game. `seed` is what agents draw from; the same call gives the same numbers, on any number
    of threads. `progress` is called with positions done and positions.
    """
    if not isinstance(positions, FixedSet):
        raise UsageError(f"positions are an ab.fixed_set, found {positions!r}")
    player = as_agent(agent, positions.game)
    check_agents([player], positions.game)
    knows = as_oracle(oracle, positions)
    turns = positions.turns(seed)
    actions: list[int] = []
    for first in range(0, len(turns), SLICE):
        actions += ask(player, turns[first : first + SLICE])
        if progress is not None:
            progress(len(actions), len(turns))
    lost = tuple(float(knows.regret(turn.state, action)) for turn, action in zip(turns, actions, strict=True))
    return Regret(repr(positions.game), name_of(player), tuple(actions), lost)


def as_oracle(given: Any, positions: FixedSet) -> Oracle:
    """Return an oracle: the one given, a solution as one, or that of the game."""
    if isinstance(given, Solution):
        return SolvedOracle(given)
    if given is not None:
        if not callable(getattr(given, "regret", None)):
            raise UsageError(f"an oracle has regret(state, action), or is an ab.solve solution; found {given!r}")
        oracle: Oracle = given
        return oracle
    return oracle_of(positions.game)
