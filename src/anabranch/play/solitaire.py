"""What an agent gets in games that it plays alone, on dice that are the same for everybody who is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.play.agent import Turn, ask, check_agents
from anabranch.play.names import as_agent
from anabranch.play.opening import opened
from anabranch.play.seeds import Purpose, seed_for


def solitaire(
    game: Game, agent: Any, games: int = 100, *, seed: int = 0, abreast: int = 256
) -> npt.NDArray[np.float64]:
    """Return what an agent gets in each of so many games for one player; start and dice follow from their numbers."""
    if game.players != 1:
        raise UsageError(f"{game.name} has {game.players} players; a match is what compares agents there")
    player = as_agent(agent, game)
    check_agents([player], game)
    found: list[float] = []
    for first in range(0, games, abreast):
        numbers = range(first, min(first + abreast, games))
        playing = {number: opened(game, seed, number, 0) for number in numbers}
        while under_way := [number for number in numbers if not playing[number].state.over]:
            turns = [
                Turn(
                    state=playing[number].state,
                    seat=0,
                    seed=seed_for(seed, Purpose.CHOICE, number, len(playing[number].moves), 0),
                    moves=tuple(playing[number].moves),
                    start=playing[number].start,
                    game_seed=seed_for(seed, Purpose.GAME, number, 0),
                )
                for number in under_way
            ]
            for number, action in zip(under_way, ask(player, turns), strict=True):
                playing[number].play(action)
        found += [float(playing[number].returns[0]) for number in numbers]
    return np.array(found)
