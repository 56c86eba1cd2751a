"""A search that follows a game: what an agent found at one of its turns is kept for the next.

What it finds remains a function of the game so far. The root is planted at the first own turn after the opening with
random numbers of the game, is searched at every own turn, and moves on through all that is played between. What was
kept is only a shortcut: where there is nothing, because a match was resumed, or something else, because a move was
taken back, the own turns until now are searched again, in order, and come out as they did.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from anabranch.game.state import State
from anabranch.play.agent import Move, Turn
from anabranch.search.engine.root import Root
from anabranch.search.results.result import Result
from anabranch.search.settings.arguments import Keep

Plant: TypeAlias = Callable[[State, int], Root]  # a root of a state, with random numbers of a stream


@dataclass
class Kept:
    """A root at the turn it was searched at last, and what was found there."""

    root: Root
    start: State
    seat: int
    game_seed: int
    moves: tuple[Move, ...]
    result: Result

    def leads_to(self, turn: Turn) -> bool:
        """Whether the game of a turn went through this one."""
        return (
            (self.start, self.seat, self.game_seed) == (turn.start, turn.seat, turn.game_seed)
            and len(self.moves) <= len(turn.moves)
            and self.moves == tuple(turn.moves[: len(self.moves)])
        )


class Journey:
    """On the way to a turn: `step` to the next own turn, search its `root`, and tell it what was `found`."""

    def __init__(self, turn: Turn, kept: Kept | None, plant: Plant, keep: Keep, *, repeats: bool = True) -> None:
        assert turn.start is not None
        self.turn, self._plant, self._keep = turn, plant, keep
        self._moves = tuple(turn.moves)
        self._root: Root | None = None
        self._result: Result | None = None
        if kept is not None and kept.leads_to(turn):
            self._root, self._at = kept.root, len(kept.moves)
            self._result = kept.result if self._at == len(self._moves) else None
        elif repeats:
            self._at, self._state = 0, turn.start
        else:  # what was found in some seconds cannot be found again
            self._at, self._state = len(self._moves), turn.state

    @property
    def arrived(self) -> bool:
        """Whether the turn itself was searched."""
        return self._result is not None

    def step(self) -> Root:
        """Go on to the next own turn and return the root there, to be searched."""
        if self._root is None:
            while not (self._at >= self.turn.opening and self._own(self._state)) and self._at < len(self._moves):
                self._state, _ = self._state.step(self._moves[self._at])
                self._at += 1
            self._root = self._plant(self._state, self.turn.game_seed)
            return self._root
        while True:
            self._root.advance(self._moves[self._at], keep=self._keep)
            self._at += 1
            if self._at == len(self._moves) or self._own(self._root.state):
                return self._root

    def found(self, result: Result) -> None:
        """Take what the search found at the root."""
        self._result = result if self._at == len(self._moves) else None

    def kept(self) -> Kept:
        """Return what is kept for the next turn."""
        turn = self.turn
        assert turn.start is not None
        assert self._root is not None
        assert self._result is not None
        return Kept(self._root, turn.start, turn.seat, turn.game_seed, self._moves, self._result)

    def _own(self, state: State) -> bool:
        acting = state.turn
        return isinstance(acting, tuple) and self.turn.seat in acting
