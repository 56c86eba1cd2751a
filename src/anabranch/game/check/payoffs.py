"""Laws about payoffs and chances."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from anabranch.game.check.law import Finding, law
from anabranch.game.check.subject import Position, Subject
from anabranch.game.words import OVER

TOLERANCE = 1e-6  # of the larger of 1 and the bound: what rounding may do to a sum of rewards
SAMPLED = 256  # states of a long game whose bounds are compared with what came
CAREFUL, QUICK = 2000, 50  # draws at the first chance states, and at later ones
CAREFUL_STATES = 4
SLIP = 1e-12  # the probability that an honest `draw` fails the test at one outcome


@law("rewards", whole_line=True)
def rewards_come_when_declared(subject: Subject, position: Position) -> Iterator[Finding]:
    """Rewards are finite, one per player, and come on the last move only unless `rewards_along` says otherwise."""
    for number, after in enumerate(position.ancestors()):
        rewards = after.rewards
        if len(rewards) != subject.game.players or not all(map(math.isfinite, rewards)):
            yield Finding(f"the last move pays {rewards}", at=number)
        elif any(rewards) and not subject.game.rewards_along and subject.turn(after) != OVER:
            yield Finding(f"the last move pays {rewards}, the game goes on, and self.rewards_along is False", at=number)


@law("zero sum", applies=lambda subject: bool(subject.game.zero_sum), whole_line=True)
def one_gets_what_the_other_pays(subject: Subject, position: Position) -> Iterator[Finding]:
    """Where `zero_sum` is promised, the rewards of every step add up to 0, rounded to float32 as searches read them."""
    for number, after in enumerate(position.ancestors()):
        first, second = (float(np.float32(reward)) for reward in after.rewards)
        if first + second != 0.0:
            yield Finding(f"the last move pays {after.rewards}, and self.zero_sum is True", at=number)


@law("returns", at=("over",), whole_line=True)
def returns_are_declared(subject: Subject, position: Position) -> Iterator[Finding]:
    """Every player's total (discounted) return lies within `returns`."""
    low, high = subject.game.returns
    for seat, total in enumerate(position.total):
        if not _within(total, low, high):
            yield Finding(f"player {seat}'s return is {total:g}, but self.returns is ({low:g}, {high:g})")


@law("bounds", at=("over",), needs=("bounds",), whole_line=True)
def bounds_hold(subject: Subject, position: Position) -> Iterator[Finding]:
    """What a player still receives after a state lies within the state's `bounds`."""
    players = subject.game.players
    line = position.ancestors()
    for number in range(0, len(line), 1 + len(line) // SAMPLED):
        earlier = line[number]
        if subject.late():
            return
        low, high = subject.ask("bounds", earlier)
        if len(low) != players or len(high) != players or not all(a <= b for a, b in zip(low, high, strict=True)):
            yield Finding(f"after {number} moves bounds gives {low} and {high}", at=number)
            return
        if earlier.weight == 0.0:
            return
        for seat in range(players):
            rest = (position.total[seat] - earlier.total[seat]) / earlier.weight
            if not _within(rest, low[seat], high[seat]):
                bound = f"[{low[seat]:g}, {high[seat]:g}]"
                yield Finding(f"after {number} moves player {seat} still receives {rest:g}, but bounds gives {bound}")
                return


@law("heuristic", at=("decision",), needs=("heuristic",))
def heuristics_are_possible(subject: Subject, position: Position) -> Iterator[Finding]:
    """What `heuristic` says of a state is finite and possible: within its `bounds`, or `returns` where it has none."""
    game = subject.game
    values = subject.ask("heuristic", position)  # what is not finite is refused where it is asked
    if game.has("bounds"):
        lows, highs = subject.ask("bounds", position)
    else:
        low, high = game.returns
        if game.rewards_along:  # what is left of a total: anything between the loss of all and the gain of all
            span = max(high, 0.0) - min(low, 0.0)
            low, high = -span, span
        lows, highs = [low] * game.players, [high] * game.players
    for seat, value in enumerate(values):
        if not _within(value, lows[seat], highs[seat]):
            said = f"[{lows[seat]:g}, {highs[seat]:g}]"
            yield Finding(f"heuristic says {value:g} for player {seat}, who can still get something within {said}")


def _within(value: float, low: float, high: float) -> bool:
    slack = TOLERANCE * max(1.0, abs(value))
    return low - slack <= value <= high + slack


@law("chance", at=("chance",))
def chances_are_probabilities(subject: Subject, position: Position) -> Iterator[Finding]:
    """`chance` lists distinct outcomes, at most `outcomes`, with positive probabilities that sum to 1."""
    if not subject.game.has("chance") and subject.game.has("draw"):
        return
    pairs = subject.ask("chance", position)  # sums, signs and repetitions are refused where it is asked
    if len(pairs) > subject.game.outcomes:
        yield Finding(f"chance lists {len(pairs)} outcomes, but self.outcomes is {subject.game.outcomes}")
    if any(outcome < 0 for outcome, _ in pairs):
        yield Finding(f"chance lists a negative outcome: {pairs}")


@law("draw", at=("chance",), needs=("chance", "draw"))
def draws_follow_chances(subject: Subject, position: Position) -> Iterator[Finding]:
    """`draw` gives the outcomes of `chance` as often as `chance` says.

    Counts are compared by Bernstein's inequality, which holds for every n and p:

        P(|X − n·p| ≥ t) ≤ 2·exp(−t² / (2·(n·p·(1−p) + t/3)))
    """
    chances = dict(subject.ask("chance", position))
    subject.draws += 1
    n = CAREFUL if subject.draws <= CAREFUL_STATES else QUICK
    random, counts = subject.random(position, 8), dict.fromkeys(chances, 0)
    for _ in range(n):
        if subject.late():
            return
        outcome = subject.ask("draw", position, random)
        if outcome not in chances:
            yield Finding(f"draw gave outcome {outcome}; chance lists {sorted(chances)}")
            return
        counts[outcome] += 1
    weight = math.log(2.0 / SLIP)
    for outcome, p in chances.items():
        allowed = weight / 3.0 + math.sqrt(weight * weight / 9.0 + 2.0 * weight * n * p * (1.0 - p))
        if abs(counts[outcome] - n * p) > allowed:
            share = counts[outcome] / n
            yield Finding(f"draw gave outcome {outcome} in {share:.1%} of {n} draws; chance says {p:.1%}")
            return
