"""Say what a game is: sizes, kind, verbs, parameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.random import Random, below, key_of
from anabranch.game.words import OPTIONAL, acting

MOVES = 12  # of a random game that is looked at to tell the kind


@dataclass(frozen=True)
class Description:
    """What can be said of a game without searching it; prints itself."""

    name: str
    summary: str
    players: int
    kind: str
    actions: int
    outcomes: int
    returns: tuple[float, float]
    discount: float
    rewards_along: bool
    zero_sum: bool
    cycles: str | float | None
    observation: tuple[int, ...] | None
    state_bytes: int | None  # None for games of objects
    symmetries: int
    verbs: tuple[str, ...]
    parameters: tuple[str, ...]

    def __str__(self) -> str:
        lines = {
            "players": f"{self.players}, {self.kind}",
            "actions": str(self.actions) + (f", outcomes of chance {self.outcomes}" if self.outcomes else ""),
            "returns": "from {:g} to {:g}".format(*self.returns)
            + (", rewards on the way" if self.rewards_along else "")
            + (", zero-sum" if self.zero_sum else ""),
            "discount": f"{self.discount:g}",
            "cycles": "none" if self.cycles is None else str(self.cycles),
            "observation": "none" if self.observation is None else " × ".join(map(str, self.observation)),
            "state": "Python objects" if self.state_bytes is None else f"{self.state_bytes} bytes",
            "symmetries": str(self.symmetries),
            "optional verbs": ", ".join(self.verbs) or "none",
            "parameters": ", ".join(self.parameters) or "none",
        }
        width = max(map(len, lines))
        return "\n".join([f"{self.name}: {self.summary}", *(f"  {key:{width}}  {text}" for key, text in lines.items())])


def describe(game: Game) -> Description:
    """Return what can be said of a game."""
    return Description(
        name=game.name,
        summary=(inspect.getdoc(type(game)) or "").partition("\n")[0].rstrip("."),
        players=int(game.players),
        kind=kind(game),
        actions=int(game.actions),
        outcomes=int(game.outcomes),
        returns=(float(game.returns[0]), float(game.returns[1])),
        discount=float(game.discount),
        rewards_along=bool(game.rewards_along),
        zero_sum=bool(game.zero_sum),
        cycles=game.cycles,
        observation=None if game.observation is None else tuple(map(int, game.observation)),
        state_bytes=game.state.itemsize if isinstance(game, CompiledGame) else None,
        symmetries=len(list(game.symmetries())),
        verbs=tuple(verb for verb in OPTIONAL if game.has(verb)),
        parameters=tuple(map(_shown, _parameters(game))),
    )


def kind(game: Game) -> str:
    """Return how turns are taken, as the first moves of a random game show it (interpreted: nothing is compiled)."""
    played = game.interpreted() if isinstance(game, CompiledGame) else game
    state, random, together = played.start(), Random(key_of((0,))), False
    for _ in range(MOVES):
        seats = acting(state.turn_bits)
        together |= len(seats) > 1
        if state.over:
            break
        move: Any = [(ids := state.legal(seat))[below(random, len(ids))] for seat in seats]
        state, _rewards = state.step(move if seats else state.sample(random))
    turns = "simultaneous" if together else "alternating" if game.players > 1 else "one player"
    return turns + (", chance" if game.has("chance") or game.has("draw") else "")


def _parameters(game: Game) -> list[inspect.Parameter]:
    return list(inspect.signature(type(game).__init__).parameters.values())[1:]


def _shown(parameter: inspect.Parameter) -> str:
    return parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
