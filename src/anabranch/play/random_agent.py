"""The agent everybody should beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anabranch.game.random import below
from anabranch.play.agent import Agent, Turn


class RandomAgent(Agent):
    """Chooses uniformly at random; ids that do the same are one choice."""

    @property
    def name(self) -> str:
        return "random"

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        chosen = []
        for turn in turns:
            choices = list(turn.state.choices(turn.seat))
            chosen.append(choices[below(turn.random(), len(choices))])
        return chosen

    def probabilities(self, turns: Sequence[Turn]) -> list[npt.NDArray[np.float64]]:
        """Return with which probability it chooses what: one array over action ids per turn."""
        rows = []
        for turn in turns:
            choices = list(turn.state.choices(turn.seat))
            row = np.zeros(turn.state.game.actions)
            row[choices] = 1.0 / len(choices)
            rows.append(row)
        return rows
