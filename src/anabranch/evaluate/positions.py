"""Positions of a game that nobody had to collect: what players see in games played at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.random import Random, below, key_of
from anabranch.game.state import State
from anabranch.nets.shape import shape_of

LONGEST = 10_000  # steps of one game
BARREN = 50  # games in a row that brought nothing new: the game has no more to show


@dataclass(frozen=True)
class Positions:
    """What acting players see, `[N, …]`, and which actions are legal for them, `[N, A]`."""

    observations: npt.NDArray[np.float32]
    legal: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.observations)

    def rows(self, part: slice) -> Positions:
        """Return some of them."""
        return Positions(self.observations[part], self.legal[part])


def random_positions(game: Game, count: int, seed: int = 0) -> Positions:
    """Return so many different things that acting players see in random games; fewer if the game has no more.

    Of every game about a tenth is taken: neighbours tell little that is new.
    """
    shape_of(game)
    if count < 1:
        raise UsageError(f"at least one position is needed, found {count}")
    seen: dict[bytes, tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]] = {}
    random, barren, number = Random(key_of((seed, 0x706F73))), 0, 0
    while len(seen) < count and barren < BARREN:
        before = len(seen)
        state = game.start(number)
        for _ in range(LONGEST):
            seats = () if isinstance(state.turn, int) else state.turn
            if state.over:
                break
            if below(random, 10) == 0 or barren > 10:
                for seat in seats:
                    mask = np.zeros(game.actions, np.bool_)
                    mask[state.legal(seat)] = True
                    sight = state.observe(seat)
                    seen.setdefault(sight.tobytes() + mask.tobytes(), (sight, mask))
            state = _next(state, seats, random)
            if len(seen) >= count:
                break
        number, barren = number + 1, 0 if len(seen) > before else barren + 1
    kept = list(seen.values())[:count]
    return Positions(np.stack([sight for sight, _ in kept]), np.stack([mask for _, mask in kept]))


def _next(state: State, seats: tuple[int, ...], random: Random) -> State:
    if not seats:
        return state.step(state.sample(random))[0]
    choices = [state.legal(seat) for seat in seats]
    return state.step([own[below(random, len(own))] for own in choices])[0]
