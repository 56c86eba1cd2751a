"""An agent that searches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from anabranch.errors import UsageError
from anabranch.evaluate.load import load
from anabranch.evaluate.native import Rollout
from anabranch.game.game import Game
from anabranch.game.random import Random, uniform
from anabranch.play.agent import Agent, Turn
from anabranch.search.arguments import check_budget, checked_config
from anabranch.search.config import SearchConfig
from anabranch.search.formulas import first_above
from anabranch.search.native import supported
from anabranch.search.policies import tempered
from anabranch.search.reference import Reference
from anabranch.search.result import Result
from anabranch.search.searcher import Searcher


class SearchAgent(Agent):
    """Searches every turn afresh, all turns abreast, and plays what the search found.

    The budget is one of `simulations`, `visits` and `seconds`; the first two play the same game every time, a time does
    not. Where one player acts, it plays the choice with the largest policy, the first of equals, or with a
    `temperature` T > 0 draws in proportion to policy^(1/T). Where several choose at once a policy is a mixed strategy,
    and playing its largest entry could be exploited: there it draws from the policy itself, or with another
    `simultaneous_temperature` from policy^(1/T).
    """

    def __init__(
        self,
        *,
        simulations: int | None = None,
        visits: int | None = None,
        seconds: float | None = None,
        evaluator: Any = None,
        config: SearchConfig | None = None,
        temperature: float = 0.0,
        simultaneous_temperature: float = 1.0,
        threads: int | None = None,
    ) -> None:
        if simulations is visits is seconds is None:
            simulations = 1000
        check_budget(simulations, visits, seconds)
        for value in (temperature, simultaneous_temperature):
            if not isinstance(value, (int, float)) or not 0.0 <= value < math.inf:
                raise UsageError(f"a temperature is a finite number, at least 0, found {value!r}")
        self.budget: dict[str, Any] = {"simulations": simulations, "visits": visits, "seconds": seconds}
        self.evaluator = (
            Rollout() if evaluator is None else load(evaluator) if isinstance(evaluator, str) else evaluator
        )
        self.config = checked_config(config)
        self.temperature, self.simultaneous_temperature = temperature, simultaneous_temperature
        self.threads = threads
        self._searcher: Searcher | None = None

    @property
    def name(self) -> str:
        """Every setting that differs from the default, so that equal names play alike."""
        from anabranch.play.search_names import search_name

        return search_name(self)

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        return [self.pick(turn, result) for turn, result in zip(turns, self.results(turns), strict=True)]

    def results(self, turns: Sequence[Turn]) -> list[Result]:
        """Return what the search finds for every turn: its opinion, before anything is drawn from it."""
        if not supported(self.config):  # averaging selectors are not in the engine yet
            return [
                Reference(turn.state, self.evaluator, self.config, stream=turn.seed).run(**self.budget)
                for turn in turns
            ]
        searcher = self._searcher_of(turns[0].state.game)
        together = len(turns)
        if self.budget["seconds"] is not None:  # roots that share a thread would share its time
            together = searcher.threads if searcher.native else 1
        found: list[Result] = []
        for at in range(0, len(turns), together):
            roots = [searcher.root(turn.state, stream=turn.seed) for turn in turns[at : at + together]]
            found += searcher.run(roots, **self.budget)
        return found

    def pick(self, turn: Turn, result: Result) -> int:
        """Return the action a result stands for, drawn with the turn's random numbers where it mixes."""
        chances = result.policy[turn.seat].tolist()
        alone = turn.state.turn == (turn.seat,)
        temperature = self.temperature if alone else self.simultaneous_temperature
        if temperature == 0.0:
            return int(chances.index(max(chances)))
        return sampled(chances, temperature, turn.random())

    def _searcher_of(self, game: Game) -> Searcher:
        if self._searcher is None or self._searcher.game is not game:
            self._searcher = Searcher(game, self.evaluator, self.config, threads=self.threads)
        return self._searcher


def sampled(chances: Sequence[float], temperature: float, random: Random) -> int:
    """Return an index drawn in proportion to p^(1/T), never one without probability, whatever the sums round to."""
    possible = [index for index, p in enumerate(chances) if p > 0.0]
    return possible[first_above(uniform(random), tempered([chances[index] for index in possible], temperature))]
