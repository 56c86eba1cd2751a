"""Pig: roll as often as you dare, a one loses the turn's points."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.pieces import race
from anabranch.errors import UsageError, shown
from anabranch.game.parameters import whole
from anabranch.game.pictures import player_names

ROLL, HOLD = 0, 1
SCORE = re.compile(r"player [0-9] ([0-9]{1,5})\b")
TEXT = re.compile(
    r" of (?P<target>[0-9]{1,5}): (?:over|player (?P<mover>[0-9]) (?P<doing>rolls|to roll or hold)"
    r"(?: with (?P<pot>[0-9]{1,4}) on the table)?)"
)


class Pig(ab.CompiledGame):
    """The mover rolls a die again and again: a one ends the turn and loses its points, any other face adds to them.

    Holding banks the turn's points and passes the die. Whoever has banked `target` points wins; with enough on the
    table to win only holding is legal. The winner gets 1, the others −1/(P−1) each. Outcome = face − 1.

    These are the rules of OpenSpiel's `pig`, but without its limit on the number of moves. So the game has cycles:
    players who roll ones (or hold with nothing) come back to where they were, and since no one gains by doing so
    for ever, `cycles = "bootstrap"`.

    The record counts turns and rolls only to name the event of a roll, (player, its turns so far, roll in the
    turn), so that two matches with one seed see the same dice. No future depends on the counts and they are not in
    the key.

    A player observes, as shares of the target: its score, the others' in seat order, the turn's points; then 1 if
    the turn is its own.
    """

    title = "pig"

    def __init__(self, target: int = 20, sides: int = 6, players: int = 2) -> None:
        self.target = whole("target", target, 1, 10_000)
        self.outcomes = whole("sides", sides, 2, 1_000)
        self.players, self.actions = whole("players", players, 2, 10), 2
        self.cycles, self.zero_sum = "bootstrap", self.players == 2
        self.observation = (players + 2,)
        position = {"scores": (np.int16, players), "pot": np.int16, "mover": np.int8, "rolling": np.bool_}
        self.state = ab.record(turns=np.int32, rolls=np.int32, **position)
        self.key_record = ab.record(**position)

    def turn(self, state: Any) -> int:
        if has_won(state.scores, self.players, self.target):
            return ab.OVER
        return ab.CHANCE if state.rolling else ab.player(state.mover)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        if state.scores[player] + state.pot >= self.target:
            actions[0] = HOLD
            return 1
        actions[0], actions[1] = ROLL, HOLD
        return 2

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        for face in range(self.outcomes):
            outcomes[face] = face
            chances[face] = 1.0 / self.outcomes
        return self.outcomes

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.mover
        if state.rolling:
            state.rolling = False
            if actions[0] == 0:
                pass_on(state, self.players)
            else:
                state.pot += actions[0] + 1
        elif actions[mover] == ROLL:
            state.rolling = True
            state.rolls += 1
        else:
            state.scores[mover] += state.pot
            if state.scores[mover] >= self.target:
                for seat in range(self.players):
                    rewards[seat] = 1.0 if seat == mover else -1.0 / (self.players - 1)
            pass_on(state, self.players)

    def key(self, state: Any, key: Any) -> None:
        ab.copy(key.scores, state.scores)
        key.pot = state.pot
        key.mover = state.mover
        key.rolling = state.rolling

    def event(self, state: Any, event: Any) -> None:
        event[0] = state.mover
        event[1] = state.turns // self.players
        event[2] = state.rolls

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for row in range(self.players):
            planes[row] = min(1.0, state.scores[(player + row) % self.players] / self.target)
        planes[self.players] = min(1.0, state.pot / self.target)
        planes[self.players + 1] = 1.0 if state.mover == player else 0.0

    def text(self, state: ab.State) -> str:
        scores = ", ".join(f"player {seat} {score}" for seat, score in enumerate(state.scores.tolist()))
        if state.over:
            return f"{scores} of {self.target}: over"
        doing = "rolls" if state.rolling else "to roll or hold"
        return f"{scores} of {self.target}: player {state.mover} {doing} with {state.pot} on the table"

    def read(self, text: str) -> ab.State:
        """Read `player 0 7, player 1 12 of 20: player 1 to roll or hold with 5 on the table`.

        Only the position is read: turns and rolls, which name the dice that a match sees, are counted from here.
        """
        found = TEXT.search(text)
        scores = [int(points) for points in SCORE.findall(text.partition(" of ")[0])]
        if not found or len(scores) != self.players or int(found["target"]) != self.target:
            raise UsageError(f"pig: write a position as it is printed, e.g.\n{self.start()}\nfound {shown(text)}")
        winners = [seat for seat, points in enumerate(scores) if points >= self.target]
        if len(winners) != (found["mover"] is None):
            raise UsageError(
                f"pig: with the scores {scores} the game is {'' if winners else 'not '}over; correct one or the other"
            )
        mover = (winners[0] + 1) % self.players if winners else int(found["mover"])
        if mover >= self.players:
            raise UsageError(f"pig: there is no player {mover}; players are 0 to {self.players - 1}")
        pot, rolling = int(found["pot"] or 0), found["doing"] == "rolls"
        for points in (*scores, pot):
            if points == 1 or (self.outcomes == 2 and points % 2):
                raise UsageError(
                    f"pig: no rolls add up to {points} points, for a one loses them all; correct the points"
                )
        reached = scores[winners[0]] if winners else scores[mover] + pot
        if reached >= self.target + (0 if rolling else self.outcomes):
            raise UsageError(f"pig: nobody rolls on to {reached} of {self.target} points; correct the points")
        return self.start().replace(
            scores=scores, pot=pot, mover=mover, rolling=rolling, turns=mover, rolls=int(rolling or pot > 0)
        )

    def svg(self, state: ab.State) -> str:
        """Draw the race to the target; what is at stake is paler."""
        mover = None if state.over else int(state.mover)
        scores, pot = state.scores.tolist(), int(state.pot)
        return race(player_names(self), scores, pot, self.target, mover, rolling=bool(state.rolling))

    def action_name(self, action: int) -> str:
        return ("roll", "hold")[action]

    def outcome_name(self, outcome: int) -> str:
        return str(outcome + 1)


def pass_on(state: Any, players: int) -> None:
    """End the turn."""
    state.pot = 0
    state.rolls = 0
    state.turns += 1
    state.mover = (state.mover + 1) % players


def has_won(scores: Any, players: int, target: int) -> bool:
    """Whether somebody has banked enough."""
    best = 0
    for seat in range(players):
        best = max(best, scores[seat])
    return best >= target
