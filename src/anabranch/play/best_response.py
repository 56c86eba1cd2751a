"""A lower bound on what a strategy leaves to be gained, for games too large to write out: search against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from anabranch.errors import UsageError
from anabranch.evaluate.batch import as_evaluator
from anabranch.evaluate.native import Rollout
from anabranch.game.game import Game
from anabranch.game.random import Random
from anabranch.game.state import State
from anabranch.game.words import CHANCE, acting
from anabranch.play.against import Against, InnerEvaluator, against
from anabranch.play.interval import interval
from anabranch.play.search_agent import sampled
from anabranch.play.seeds import Purpose, seed_for
from anabranch.play.strategies import Strategy, as_strategy, checked_policy, checked_view
from anabranch.search.engine.searcher import Searcher
from anabranch.search.exact.response import View
from anabranch.search.settings.arguments import check_whole, checked_config, checked_state
from anabranch.search.settings.config import SearchConfig


@dataclass(frozen=True)
class BestResponse:
    """What a search that knows a strategy won against it: one entry per game, by the response and by the strategy."""

    game: Game
    seat: int
    view: View
    simulations: int
    returns: tuple[float, ...]  # of the response in the seat
    usual: tuple[float, ...]  # of the strategy itself in the seat, with the same dice
    largest: float  # by how much two returns can differ
    cut: int = 0  # games that were cut off for their length

    @property
    def value(self) -> float:
        """The mean return of the response: on average no best response gets less."""
        return fmean(self.returns)

    @property
    def gain(self) -> float:
        """What the response got more than the strategy itself would have in the seat."""
        return fmean(self.returns) - fmean(self.usual)

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval for the gain, over games; see play/interval.py."""
        width = 2.0 * self.largest
        if width == 0.0:
            return 0.0, 0.0
        shares = [0.5 + (one - other) / width for one, other in zip(self.returns, self.usual, strict=True)]
        low, high = interval([min(1.0, max(0.0, share)) for share in shares])
        return (low - 0.5) * width, (high - 0.5) * width

    def facts(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return {
            "game": self.game.name,
            "seat": self.seat,
            "view": self.view,
            "simulations": self.simulations,
            "games": len(self.returns),
            "value": self.value,
            "gain": self.gain,
            "interval": list(self.interval),
            "cut": self.cut,
        }

    def __str__(self) -> str:
        low, high = self.interval
        name = self.game.player_name(self.seat)
        cut = f"; {self.cut} cut off for their length, and scored by what was got until then" if self.cut else ""
        return (
            f"{name}: a search that knows the strategy gains {self.gain:+.4f} ({low:+.4f} to {high:+.4f}) in "
            f"{len(self.returns)} games of {self.simulations} simulations; a best response gains at least as much{cut}"
        )


def best_response(
    start: State | Game,
    strategy: Any,
    seat: int = 0,
    *,
    simulations: int = 1000,
    games: int = 100,
    view: View | None = None,
    evaluator: Any = None,
    config: SearchConfig | None = None,
    seed: int = 0,
    longest: int = 1000,
    progress: Callable[[int, int], None] | None = None,
) -> BestResponse:
    """Play a search that knows a strategy against it, and return what it gains: a lower bound for any game.

    To the search the others' choices are chance, with the strategy's probabilities, so it looks for a best response and
    plays what it found so far. A true best response gains at least as much on average; how much more is not known. More
    simulations raise the bound, more games narrow its interval. Every game is also played by the strategy in all seats
    with the same dice, and the gain is the mean difference.

    `strategy` is what `ab.exploitability` takes. Positions are evaluated by an `evaluator` of the game, rollouts if
    none is given. The strategy is asked once about every state that the search or the games reach; one that searches
    itself therefore takes a search each. A game is cut off after `longest` moves and rolls and scored by what was got
    until then: two who only wait for each other may play for ever. `progress` is called with games played and games in
    all.
    """
    state = start.start() if isinstance(start, Game) else checked_state(start)
    game = state.game
    if not isinstance(seat, int) or isinstance(seat, bool) or seat not in range(game.players):
        raise UsageError(f"there is no seat {seat!r}; {game.name} has seats 0 to {game.players - 1}")
    whole = (("simulations", simulations, 1), ("games", games, 1), ("seed", seed, None), ("longest", longest, 1))
    for name, number, least in whole:
        check_whole(name, number, least)
    view = checked_view(view, game)
    known = _remembering(as_strategy(strategy, game, seed=seed))
    faced = against(state, known, seat, view)
    inner = InnerEvaluator(as_evaluator(Rollout() if evaluator is None else evaluator))
    searcher = Searcher(faced, inner, checked_config(config))
    returns, usual, cut = [], [], 0
    for number in range(games):
        found, ended = _played(faced, searcher, known, simulations, seed, number, longest)
        returns.append(found)
        found, also = _played(faced, None, known, simulations, seed, number, longest)
        usual.append(found)
        cut += not (ended and also)
        if progress is not None:
            progress(number + 1, games)
    low, high = faced.returns
    return BestResponse(game, seat, view, simulations, tuple(returns), tuple(usual), high - low, cut)


def _played(
    faced: Against,
    searcher: Searcher | None,
    strategy: Strategy,
    simulations: int,
    seed: int,
    number: int,
    longest: int,
) -> tuple[float, bool]:
    """Return what the seat collects in one game, played by a search or else by the strategy; and whether it ended."""
    state, total, weight, moment = faced.start_state, 0.0, 1.0, 0
    dice = seed_for(seed, Purpose.DICE, number)
    while not state.over and moment < longest:
        rolled = state.turn_bits == CHANCE
        if rolled:
            state, rewards = state.step(state.draw(dice, moment))
        else:
            chosen = []
            for seat in acting(state.turn_bits):
                draws = Random(seed_for(seed, Purpose.CHOICE, number, moment, seat))
                if seat == faced.seat and searcher is not None:
                    chosen.append(_found(faced, searcher, state, simulations, draws.next()))
                else:
                    chosen.append(_drawn(strategy, state, seat, draws))
            state, rewards = state.step(chosen)
        total += weight * faced.worth(rewards)
        weight *= 1.0 if rolled else faced.discount
        moment += 1
    return total, state.over


def _found(faced: Against, searcher: Searcher, state: State, simulations: int, stream: int) -> int:
    """Return the seat's choice, by search."""
    root = searcher.root(State(faced, (state.data, None)), stream=stream >> 1)
    action = searcher.run([root], simulations=simulations)[0].action
    assert isinstance(action, int)
    return action


def _drawn(strategy: Strategy, state: State, seat: int, draws: Random) -> int:
    """Return a choice drawn from the strategy."""
    choices = list(state.choices(seat))
    [policy] = strategy([state])
    return choices[sampled(checked_policy(policy, state, seat, choices).tolist(), 1.0, draws)]


def _remembering(strategy: Strategy) -> Strategy:
    """Return a strategy that is asked once about every state."""
    known: dict[Any, dict[int, Any]] = {}

    def remembered(states: Any) -> list[dict[int, Any]]:
        for state in states:
            if state.key not in known:
                [known[state.key]] = strategy([state])
        return [known[state.key] for state in states]

    return remembered
