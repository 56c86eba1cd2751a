"""Two small honest games, and versions of them that break one law each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab

HIDDEN = itertools.count()  # state outside the state, which honest rules have no use for


class Duel(ab.CompiledGame):
    """A prize of 1 or 2 is drawn, both bid at once, the higher bid scores it; after two rounds the leader wins."""

    def __init__(self, rounds: int = 2) -> None:
        self.rounds = rounds
        self.players, self.actions, self.outcomes = 2, 3, 2
        self.observation = (4,)
        self.state = ab.record(lead=np.int8, round=np.int8, prize=np.int8, last=np.int8)
        self.key_record = ab.record(lead=np.int8, round=np.int8, prize=np.int8)

    def turn(self, state: Any) -> int:
        if state.round == self.rounds:
            return ab.OVER
        return ab.player(0) + ab.player(1) if state.prize else ab.CHANCE

    def legal(self, state: Any, player: int, actions: Any) -> int:
        for bid in range(3):
            actions[bid] = bid
        return 3

    def same(self, state: Any, player: int, action: int) -> int:
        return min(action, 1)  # two counts as one

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        outcomes[0], outcomes[1] = 1, 2
        chances[0], chances[1] = 0.75, 0.25
        return 2

    def draw(self, state: Any, random: Any) -> int:
        return 2 if ab.below(random, 4) == 3 else 1

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        if state.prize == 0:
            state.prize = actions[0]
            return
        first, second = min(actions[0], 1), min(actions[1], 1)
        state.lead += (first - second) * state.prize
        state.last = actions[0]
        state.round += 1
        state.prize = 0
        if state.round == self.rounds:
            rewards[0] = sign(state.lead)
            rewards[1] = -sign(state.lead)

    def key(self, state: Any, key: Any) -> None:
        key.lead, key.round, key.prize = state.lead, state.round, state.prize

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        if state.round == self.rounds:
            return
        swing = 2 * (self.rounds - state.round) + (state.prize - 2 if state.prize else 0)
        low[0], high[0] = sign(state.lead - swing), sign(state.lead + swing)
        low[1], high[1] = -high[0], -low[0]

    def event(self, state: Any, event: Any) -> None:
        event[0] = state.round

    def observe(self, state: Any, player: int, planes: Any) -> None:
        planes[0] = state.round / self.rounds
        planes[1] = state.prize
        planes[2] = state.lead if player == 0 else -state.lead

    def symmetries(self) -> list[ab.Symmetry]:
        return [ab.Symmetry(players=(1, 0))]

    def text(self, state: ab.State) -> str:
        return f"round {state.round}, prize {state.prize}, lead {state.lead}"

    def action_name(self, action: int) -> str:
        return f"bid {action}"


def sign(number: int) -> float:
    """Return −1, 0 or 1."""
    return 1.0 if number > 0 else -1.0 if number < 0 else 0.0


class Pile(NamedTuple):
    stones: int
    mover: int


class Stones(ab.ObjectGame):
    """Take one or two stones in turn; the last stone wins."""

    def __init__(self, stones: int = 5) -> None:
        self.stones = stones
        self.players, self.actions = 2, 3
        self.outcomes = 2
        self.observation = (2,)

    def setup(self, random: ab.Random) -> Any:
        return Pile(self.stones, 0)

    def turn(self, state: Any) -> int:
        return ab.player(state.mover) if state.stones else ab.OVER

    def legal(self, state: Any, player: int) -> Any:
        return [take for take in (1, 2) if take <= state.stones]

    def step(self, state: Any, actions: Any) -> Any:
        after = Pile(state.stones - actions[state.mover], 1 - state.mover)
        rewards = [0.0, 0.0]
        if after.stones == 0:
            rewards[state.mover], rewards[1 - state.mover] = 1.0, -1.0
        return after, rewards

    def observe(self, state: Any, player: int) -> Any:
        return [state.stones, float(player == state.mover)]


def interpreted(game: type[Any]) -> ab.Game:
    """Make a game of either sort without compiling it."""
    made: ab.Game = game(compiled=False)
    return made


@dataclass(frozen=True)
class Lie:
    """A dishonest game: the law it breaks, and the length of the shortest line that shows it."""

    law: str
    moves: int
    make: Callable[[], ab.Game]
    others: tuple[str, ...] = ()  # laws that cannot hold either once this one is broken; "…" for no end of them
    seen: str = ""  # a word of what is seen
    seconds: float = 6.0


LIES: dict[str, Lie] = {}


def lie(
    law: str, moves: int, *, others: tuple[str, ...] = (), seen: str = "", seconds: float = 6.0
) -> Callable[[type[Any]], type[Any]]:
    def enter(game: type[Any]) -> type[Any]:
        LIES[game.__name__] = Lie(law, moves, partial(interpreted, game), others, seen, seconds)
        return game

    return enter


# Moves.


@lie("turn", 1, seen="4")
class TurnNamesAThirdPlayer(Duel):
    def turn(self, state: Any) -> int:
        return 4 if state.prize else super().turn(state)


@lie("legal", 1, seen="ascending")
class LegalDescends(Duel):
    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[0], actions[1] = 2, 1
        return 2


@lie("legal", 3, seen="no legal action")
class LegalIsEmptyInTheSecondRound(Duel):
    def legal(self, state: Any, player: int, actions: Any) -> int:
        return super().legal(state, player, actions) if state.round == 0 else 0


@lie("legal", 1, seen="3")
class LegalIsTooLarge(Duel):
    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[0] = 3
        return 1


@lie("function", 1, seen="legal", others=("…",))
class LegalChanges(Duel):
    def legal(self, state: Any, player: int, actions: Any) -> int:
        super().legal(state, player, actions)
        return 2 + next(HIDDEN) // 3 % 2


@lie("step", 1, others=("function", "equality", "seeds"))
class StepRemembersOtherCalls(Duel):
    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        super().step(state, actions, rewards)
        state.last = next(HIDDEN) % 7


@lie("answers", 4, seen="ZeroDivisionError")
class StepRaises(Duel):
    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        super().step(state, actions, rewards)
        if state.lead == 4:
            state.last = 1 // (state.lead - 4)


@lie("answers", 0, seen="IndexError")
class ChanceOverrunsItsBuffer(Duel):
    def __init__(self) -> None:
        super().__init__()
        self.outcomes = 1


@lie("answers", 2, seen="KeyError")
class ObserveRaises(Stones):
    def observe(self, state: Any, player: int) -> Any:
        return [{5: 1.0, 4: 2.0, 3: 3.0}[state.stones], 0.0] if state.stones else [0.0, 0.0]


@lie("answers", 2, seen="overflow")
class TextOverflows(Duel):
    def text(self, state: ab.State) -> str:
        return str(np.int8(100) + np.int8(30) * np.int8(state.round))


# Purity.


@lie("state", 2, seen="observe")
class ObserveWrites(Duel):
    def observe(self, state: Any, player: int, planes: Any) -> None:
        super().observe(state, player, planes)
        state.last = 0


@lie("self", 2, seen="tally")
class StepKeepsATally(Duel):
    def __init__(self) -> None:
        super().__init__()
        self.tally = [0]

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        if state.prize:
            self.tally[0] += 1
        super().step(state, actions, rewards)


class Heap:
    """A pile that can be changed, and does not hide it."""

    def __init__(self, stones: int, mover: int) -> None:
        self.stones, self.mover = stones, mover

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heap) and (self.stones, self.mover) == (other.stones, other.mover)

    def __hash__(self) -> int:
        return hash((self.stones, self.mover))

    def __repr__(self) -> str:
        return f"Heap({self.stones}, {self.mover})"


@lie("state", 0, others=("…",))
class StepChangesItsArgument(Stones):
    def setup(self, random: ab.Random) -> Any:
        return Heap(self.stones, 0)

    def step(self, state: Any, actions: Any) -> Any:
        after, rewards = super().step(state, actions)
        state.stones, state.mover = after
        return state, rewards


# Identity.


class NamelessPile:
    """Equal only to itself."""

    def __init__(self, stones: int, mover: int) -> None:
        self.stones, self.mover = stones, mover


@lie("equality", 0, others=("function", "step", "seeds", "key"))
class StatesAreNeverEqual(Stones):
    def setup(self, random: ab.Random) -> Any:
        return NamelessPile(self.stones, 0)

    def step(self, state: Any, actions: Any) -> Any:
        after, rewards = super().step(state, actions)
        return NamelessPile(*after), rewards


class CoarsePile(Heap):
    """Forgets whose turn it is when compared."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heap) and self.stones == other.stones

    def __hash__(self) -> int:
        return hash(self.stones)


@lie("key", 2, seen="turn")
class EqualStatesDiffer(Stones):
    def setup(self, random: ab.Random) -> Any:
        return CoarsePile(self.stones, 0)

    def step(self, state: Any, actions: Any) -> Any:
        after, rewards = super().step(state, actions)
        return CoarsePile(*after), rewards


@lie("equality", 1, seen="hash", others=("answers", "key", "state", "text", "cycles"))
class StatesCannotBeHashed(Stones):
    def step(self, state: Any, actions: Any) -> Any:
        after, rewards = super().step(Pile(*state), actions)
        return list(after), rewards

    def turn(self, state: Any) -> int:
        return super().turn(Pile(*state))

    def legal(self, state: Any, player: int) -> Any:
        return super().legal(Pile(*state), player)

    def observe(self, state: Any, player: int) -> Any:
        return super().observe(Pile(*state), player)


@lie("key", 2, seen="pays")
class KeyForgetsTheLead(Duel):
    def key(self, state: Any, key: Any) -> None:
        key.round, key.prize = state.round, state.prize


@lie("cycles", 2, others=("termination",), seen="comes back")
class StonesComeBack(Stones):
    def legal(self, state: Any, player: int) -> Any:
        return [0, *super().legal(state, player)]


@lie("termination", 0, seen="moves", seconds=4.0)
class NeverEnds(Stones):
    def legal(self, state: Any, player: int) -> Any:
        return [1]

    def step(self, state: Any, actions: Any) -> Any:
        return Pile(state.stones + 1, 1 - state.mover), [0.0, 0.0]

    def observe(self, state: Any, player: int) -> Any:
        return [0.0, 0.0]


@lie("seeds", 0, others=("equality",), seen="start")
class SetupRemembersOtherCalls(Duel):
    def setup(self, state: Any, random: Any) -> None:
        state.last = next(HIDDEN) % 5


@lie("seeds", 0, seen="prizes")
class MadeDifferentlyEachTime(Duel):
    def __init__(self) -> None:
        super().__init__()
        self.prizes = np.array([next(HIDDEN)])


# Payoffs and chances.


@lie("rewards", 2, seen="rewards_along")
class RewardsComeEarly(Duel):
    def __init__(self) -> None:
        super().__init__()
        self.returns = (-4.0, 4.0)

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        super().step(state, actions, rewards)
        if state.round == 1 and state.prize == 0:
            rewards[0], rewards[1] = state.lead, -state.lead

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        low[0] = low[1] = -4.0
        high[0] = high[1] = 4.0


@lie("rewards", 4, seen="finite")
class RewardsAreInfinite(Duel):
    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        super().step(state, actions, rewards)
        if state.lead == -3:
            rewards[0] = math.inf


@lie("returns", 4, seen="2", others=("bounds",))
class WinnersGetTheirLead(Duel):
    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        super().step(state, actions, rewards)
        if state.round == self.rounds:
            rewards[0], rewards[1] = state.lead, -state.lead


@lie("zero sum", 4, seen="zero_sum", others=("bounds", "symmetry"))
class TheWinnerTakesALittleMore(Duel):
    zero_sum = True

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        super().step(state, actions, rewards)
        if rewards[0] > 0:
            rewards[0] -= 0.25


@lie("bounds", 4, seen="bounds gives")
class BoundsAreTooTight(Duel):
    def bounds(self, state: Any, low: Any, high: Any) -> None:
        super().bounds(state, low, high)
        if state.lead == 1 and state.prize:
            low[0] = 0.5


@lie("chance", 0, seen="sum to 1")
class ChancesSumToLess(Duel):
    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        super().chance(state, outcomes, chances)
        chances[0] = 0.65
        return 2


@lie("chance", 2, seen="positive")
class AChanceIsZero(Duel):
    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        super().chance(state, outcomes, chances)
        if state.round == 1:
            chances[0], chances[1] = 1.0, 0.0
        return 2


@lie("chance", 0, seen="twice")
class AnOutcomeIsListedTwice(Duel):
    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        super().chance(state, outcomes, chances)
        outcomes[1] = 1
        return 2


@lie("draw", 0, seen="75.0%")
class DrawIsUnfair(Duel):
    def draw(self, state: Any, random: Any) -> int:
        return 1 + ab.below(random, 2)


@lie("draw", 0, seen="outcome 3")
class DrawGivesAnotherOutcome(Duel):
    def draw(self, state: Any, random: Any) -> int:
        return 1 + ab.below(random, 3)


# Choices, symmetries, views.


@lie("same", 1, seen="not legal")
class RepresentativeIsIllegal(Duel):
    def legal(self, state: Any, player: int, actions: Any) -> int:
        super().legal(state, player, actions)
        return 2

    def same(self, state: Any, player: int, action: int) -> int:
        return 2 if action == 1 else action


@lie("same", 1, seen="itself", others=("symmetry",))
class RepresentativeHasAnother(Duel):
    def same(self, state: Any, player: int, action: int) -> int:
        return 3 - action if action else 0


@lie("same", 2, seen="lead to")
class ChoicesDiffer(Duel):
    def same(self, state: Any, player: int, action: int) -> int:
        return 0


@lie("heuristic", 3, seen="1.5")
class HeuristicPromisesTooMuch(Duel):
    def heuristic(self, state: Any, values: Any) -> None:
        values[0] = 0.75 * (1 + state.round) - 0.5 * (state.round == 0)

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        low[0], low[1], high[0], high[1] = -1.0, -1.0, 1.0, 1.0


@lie("heuristic", 1, seen="finite")
class HeuristicIsNoNumber(Duel):
    def heuristic(self, state: Any, values: Any) -> None:
        values[1] = math.nan if state.prize == 2 else 0.0


@lie("heuristic", 0, seen="2 finite numbers")
class HeuristicForgetsAPlayer(Stones):
    def heuristic(self, state: Any) -> Any:
        return [0.0]


@lie("heuristic", 0, seen="1.2")
class HeuristicLeavesTheReturns(Stones):
    def heuristic(self, state: Any) -> Any:
        return [1.2, -1.2] if state.stones == self.stones else [0.0, 0.0]


@lie("state", 1, seen="heuristic", others=("heuristic",))
class HeuristicWrites(Duel):
    def heuristic(self, state: Any, values: Any) -> None:
        state.last = 1


@lie("permutation", 0, seen="players")
class SymmetryIsNoPermutation(Duel):
    def symmetries(self) -> list[ab.Symmetry]:
        return [ab.Symmetry(players=(1, 1))]


@lie("permutation", 0, seen="no group")
class SymmetriesAreNoGroup(Duel):
    def symmetries(self) -> list[ab.Symmetry]:
        return [ab.Symmetry(players=(1, 0)), ab.Symmetry(actions=(0, 2, 1))]  # and both at once?


@lie("symmetry", 0, seen="chances")
class SymmetryOfUnequalFaces(Duel):
    def symmetries(self) -> list[ab.Symmetry]:
        return [ab.Symmetry(players=(1, 0), outcomes=(0, 2, 1))]


@lie("symmetry", 2, seen="observation")
class ObservationIgnoresTheSeat(Duel):
    def observe(self, state: Any, player: int, planes: Any) -> None:
        super().observe(state, 0, planes)


@lie("observation", 2, seen="inf")
class ObservationIsInfinite(Duel):
    def observe(self, state: Any, player: int, planes: Any) -> None:
        super().observe(state, player, planes)
        if state.lead:
            planes[2] = math.inf

    def symmetries(self) -> list[ab.Symmetry]:
        return []


@lie("observation", 0, seen="shape")
class ObservationHasAnotherShape(Stones):
    def observe(self, state: Any, player: int) -> Any:
        return [1.0, 2.0, 3.0]


@lie("text", 1, seen="''")
class TextIsEmpty(Duel):
    def text(self, state: ab.State) -> str:
        return "" if state.prize == 2 else super().text(state)


@lie("names", 1, seen="'pass'")
class NamesCollide(Duel):
    def action_name(self, action: int) -> str:
        return "pass" if action else super().action_name(action)


@lie("names", 1, seen="parse_action")
class NamesAreNotReadBack(Duel):
    def parse_action(self, text: str) -> int:
        return int(text)
