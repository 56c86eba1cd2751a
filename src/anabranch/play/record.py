"""What is kept of a game that was played: enough to play it again, and who got what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.play.agent import Move, spelled

EQUAL = 1e-9  # returns nearer than this are a draw: sums of the same rewards in another order


@dataclass(frozen=True)
class GameRecord:
    """One game of a match."""

    pair: int  # games with the same start, opening and dice, told apart by who sits where
    seats: tuple[int, ...]  # which agent sat in each seat: 0 for the first
    start: int  # the seed of game.start
    dice: int  # the seed of the rolls
    opening: int  # how many of the moves, rolls included, were drawn before the agents began
    moves: tuple[Move, ...]  # actions, tuples of actions chosen at once, and outcomes of dice
    returns: tuple[float, ...]  # what each seat got
    finished: bool  # False if it was cut off for its length
    position: str | None = None  # the text of where it began, if that was given

    def score(self, agent: int) -> float:
        """Return an agent's score: over its seats and the others', 1 where it got more, ½ as much, 0 less, on average.

        For two players that is 1 for a win, ½ for a draw and 0 for a loss. With more, it is the share of opponents that
        were beaten, so that agents of equal strength have ½ whatever their number.
        """
        return score_of(agent, self.seats, self.returns)

    def own_return(self, agent: int) -> float:
        """Return what an agent got, the mean over its seats."""
        got = [value for seat, value in zip(self.seats, self.returns, strict=True) if seat == agent]
        return sum(got) / len(got)

    def states(self, game: Game) -> list[State]:
        """Return every state of the game, played again from its start."""
        states = [self._first(game)]
        for move in self.moves:
            states.append(states[-1].step(move)[0])
        return states

    def text(self, game: Game) -> str:
        """Return the moves as people call them."""
        return spelled(game, self.moves, self._first(game))

    def _first(self, game: Game) -> State:
        return game.start(self.start) if self.position is None else game.position(self.position)


def score_of(agent: int, seats: Sequence[int], returns: Sequence[float]) -> float:
    """Return an agent's score in a game, as `GameRecord.score` has it."""
    points = [
        0.5 if abs(own - other) <= EQUAL else float(own > other)
        for seat, own in enumerate(returns)
        if seats[seat] == agent
        for rival, other in enumerate(returns)
        if seats[rival] != agent
    ]
    return sum(points) / len(points)


def rotations(players: int, agents: int) -> Sequence[tuple[int, ...]]:
    """Return who sits where in the games of one pair: every agent in every seat equally often.

    As many agents as players move round the table. Two agents in a game of more players: the first takes each seat in
    turn, the second all the others.
    """
    if agents == players:
        return [tuple((seat + shift) % players for seat in range(players)) for shift in range(players)]
    return [tuple(int(seat != own) for seat in range(players)) for own in range(players)]
