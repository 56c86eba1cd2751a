"""An agent that searches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from anabranch.errors import UsageError, shown
from anabranch.evaluate.load import load
from anabranch.evaluate.native import Heuristic, Rollout
from anabranch.evaluate.network import NetworkEvaluator
from anabranch.game.game import Game
from anabranch.game.random import Random, uniform
from anabranch.game.state import State
from anabranch.play.agent import Agent, Turn
from anabranch.play.kept import Journey
from anabranch.search.engine.root import Root
from anabranch.search.engine.searcher import Searcher
from anabranch.search.maths.formulas import first_above
from anabranch.search.maths.policies import tempered
from anabranch.search.results.move_rules import MOVE_RULES, MoveRule, Regularised, Visits, move_policy, move_rule
from anabranch.search.results.result import Result
from anabranch.search.settings.arguments import Keep, check_budget, check_time, checked_config, checked_keep
from anabranch.search.settings.config import Puct, SearchConfig, Ucb1

DECOUPLED = 0.25  # temperature where players choose at once by PUCT or UCB1, each for itself


class SearchAgent(Agent):
    """Searches every turn, all turns abreast, and plays what the search found.

    The budget is one of `simulations`, `visits` and `seconds`; the first two play the same game every time, a time does
    not. Without one it is 1000 simulations, or what `SearchConfig.cap` draws. `evaluator` may be a name, such as that
    of a network's file.

    Where one player acts, it plays the choice with the largest policy under the move `rule` ("visits", "lcb",
    "regularised", or one of `ab.MoveRule`), the first of equals, or with a `temperature` T > 0 draws in proportion to
    policy^(1/T). Where several choose at once a policy is a mixed strategy, and playing its largest entry could be
    exploited: there it draws in proportion to policy^(1/T) with T the `simultaneous_temperature`. None is 1 for
    selectors that keep a strategy, and 0.25 for PUCT and UCB1, whose visits hold what was only tried. Of a Gumbel
    search it plays the choice that the run ended with, which noise has drawn already, unless a temperature or another
    rule is asked for.

    `keep` says what stays of a search for the next turn of the same game, as `Root.advance` has it: "nothing", the
    "graph" with its visits, to which simulations are added and up to which visits are counted, or the "evaluations".
    Choices are then functions of the game so far, and no longer of the state alone.
    """

    def __init__(
        self,
        *,
        simulations: int | None = None,
        visits: int | None = None,
        seconds: float | None = None,
        evaluator: Any = None,
        config: SearchConfig | None = None,
        rule: str | MoveRule = "visits",
        temperature: float = 0.0,
        simultaneous_temperature: float | None = None,
        keep: Keep = "nothing",
        threads: int | None = None,
    ) -> None:
        self.config = checked_config(config)
        if simulations is visits is seconds is None and self.config.cap is None:
            simulations = 1000
        if self.config.cap is None or not simulations is visits is seconds is None:
            check_budget(simulations, visits, seconds)
        check_time(self.config, seconds)
        for value in (temperature, 0.0 if simultaneous_temperature is None else simultaneous_temperature):
            if not isinstance(value, (int, float)) or not 0.0 <= value < math.inf:
                raise UsageError(f"a temperature is a finite number, at least 0, found {shown(value)}")
        checked_keep(keep)
        self.budget: dict[str, Any] = {"simulations": simulations, "visits": visits, "seconds": seconds}
        self.evaluator = (
            Rollout() if evaluator is None else load(evaluator) if isinstance(evaluator, str) else evaluator
        )
        self.rule = _checked_rule(rule, self.config)
        self.temperature, self.simultaneous_temperature = temperature, simultaneous_temperature
        self.keep = keep
        self.threads = threads
        self._searcher: Searcher | None = None

    @property
    def name(self) -> str:
        """Every setting that differs from the default, so that equal names play alike."""
        from anabranch.play.search_names import search_name

        return search_name(self)

    def check(self, game: Game) -> None:
        """Refuse a game that the network was not made for."""
        check_evaluator(self.evaluator, game)

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        return [self.pick(turn, result) for turn, result in zip(turns, self.results(turns), strict=True)]

    def results(self, turns: Sequence[Turn]) -> list[Result]:
        """Return what the search finds for every turn: its results, before anything is drawn from it."""
        follows = [self.keep != "nothing" and turn.start is not None for turn in turns]
        followed = iter(self._follow([turn for turn, each in zip(turns, follows, strict=True) if each]))
        others = iter(self.afresh([turn for turn, each in zip(turns, follows, strict=True) if not each]))
        return [next(followed if each else others) for each in follows]

    def _follow(self, turns: Sequence[Turn]) -> list[Result]:
        """Return what the search finds for turns of games that are followed."""
        if not turns:
            return []
        searcher = self._searcher_of(turns[0].state.game)
        journeys = [self._journey(turn, searcher) for turn in turns]
        while under_way := [journey for journey in journeys if not journey.arrived]:
            roots = [journey.step() for journey in under_way]
            for journey, result in zip(under_way, self._run(searcher, roots), strict=True):
                journey.found(result)
        kept = [journey.kept() for journey in journeys]
        for turn, each in zip(turns, kept, strict=True):
            turn.memory[self] = each
        return [each.result for each in kept]

    def afresh(self, turns: Sequence[Turn]) -> list[Result]:
        """Return what the search finds for every turn with nothing kept of any game, and keep nothing."""
        if not turns:
            return []
        searcher = self._searcher_of(turns[0].state.game)
        return self._run(searcher, [searcher.root(turn.state, stream=turn.seed) for turn in turns])

    def pick(self, turn: Turn, result: Result) -> int:
        """Return the action a result stands for, drawn with the turn's random numbers where it mixes."""
        alone = turn.state.turn == (turn.seat,)
        if result.chosen is not None and isinstance(turn.state.turn, tuple) and self._asks_nothing(alone):
            return result.chosen[turn.state.turn.index(turn.seat)]
        chances = move_policy(result, turn.seat, self.rule if alone else "visits").tolist()
        temperature = self.temperature if alone else self.mixing(result)
        if temperature == 0.0:
            return int(chances.index(max(chances)))
        return sampled(chances, temperature, turn.random())

    def _asks_nothing(self, alone: bool) -> bool:
        """Whether neither a rule nor a temperature says how to choose."""
        if not alone:
            return self.simultaneous_temperature is None
        return self.temperature == 0.0 and isinstance(self.rule, Visits)

    def mixing(self, result: Result) -> float:
        """Return the temperature of a choice that several make at once."""
        if self.simultaneous_temperature is not None:
            return self.simultaneous_temperature
        config = result.config or self.config
        return DECOUPLED if isinstance(config.simultaneous or config.selector, (Puct, Ucb1)) else 1.0

    def _journey(self, turn: Turn, searcher: Searcher) -> Journey:
        """Begin the way to a turn; what was kept is taken out, so that a search that fails leaves nothing half done."""
        kept = turn.memory.pop(self, None)
        if kept is not None and kept.root.searcher is not searcher:
            kept = None

        def plant(state: State, stream: int) -> Root:
            return searcher.root(state, stream=stream)

        return Journey(turn, kept, plant, self.keep, repeats=self.budget["seconds"] is None)

    def _run(self, searcher: Searcher, roots: Sequence[Root]) -> list[Result]:
        together = len(roots)
        if self.budget["seconds"] is not None:  # roots that share a thread would share its time
            together = searcher.threads if searcher.native else 1
        found: list[Result] = []
        for at in range(0, len(roots), together):
            found += searcher.run(list(roots[at : at + together]), **self.budget)
        return found

    def _searcher_of(self, game: Game) -> Searcher:
        """Return who searches a game."""
        if self._searcher is None or self._searcher.game is not game:
            self._searcher = Searcher(game, self.evaluator, self.config, threads=self.threads)
        return self._searcher


def check_evaluator(evaluator: Any, game: Game) -> None:
    """Refuse a game that an evaluator, or the evaluator inside it, was not made for."""
    while evaluator is not None:
        if isinstance(evaluator, (NetworkEvaluator, Heuristic)):
            evaluator.check(game)
        evaluator = getattr(evaluator, "evaluator", None)


def _checked_rule(given: str | MoveRule, config: SearchConfig) -> MoveRule:
    rule = move_rule(given)
    if not isinstance(rule, tuple(type(known) for known in MOVE_RULES.values())):
        raise UsageError(f"a rule is one of {', '.join(MOVE_RULES)}, or such an object; found {shown(given)}")
    if isinstance(rule, Regularised) and not isinstance(config.selector, Puct):
        raise UsageError(f"the regularised policy is that of PUCT; the selector is {type(config.selector).__name__}")
    return rule


def sampled(chances: Sequence[float], temperature: float, random: Random) -> int:
    """Return an index drawn in proportion to p^(1/T), never one without probability, whatever the sums round to."""
    possible = [index for index, p in enumerate(chances) if p > 0.0]
    return possible[first_above(uniform(random), tempered([chances[index] for index in possible], temperature))]
