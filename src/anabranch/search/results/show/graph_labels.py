"""What stands on the edges of a drawn graph: the name of the move, and what it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anabranch.draw.palette import PAPER, ink_on
from anabranch.draw.svg import group, printed, rect, shortened, text, text_width
from anabranch.search.results.show.lines import move_name
from anabranch.search.results.show.numbers import Spread, reward
from anabranch.search.results.views import EdgeView, NodeView

Edges = Sequence[tuple[NodeView, EdgeView]]
Rewards = npt.NDArray[np.float64]  # [edges, players]
SIZE, HIGH = 11, 16.0
LONGEST_NAME = 22


@dataclass(frozen=True)
class Label:
    """The words on one edge; `pays` is empty where the move pays nobody anything."""

    name: str
    pays: str
    colour: str  # behind what it pays

    @property
    def width(self) -> float:
        """Pixels across."""
        return text_width(self.name, SIZE) + 8 + self._chip

    @property
    def _chip(self) -> float:
        return text_width(self.pays, SIZE, bold=True) + 8 if self.pays else 0.0

    def drawn(self, x: float, y: float, ink: str) -> str:
        """Draw the words around a point, on a ground that hides the edge behind them."""
        left, top = x - self.width / 2, y - HIGH / 2
        parts = [
            rect(left, top, self.width, HIGH, fill=PAPER, rx=5),
            text(left + (self.width - self._chip) / 2, y + 4, self.name, size=SIZE, anchor="middle", fill=ink),
        ]
        if self.pays:
            end = left + self.width
            middle, dark = end - self._chip / 2, ink_on(self.colour)
            parts += [
                rect(end - self._chip, top + 1, self._chip, HIGH - 2, fill=self.colour, rx=5, class_="reward"),
                text(middle, y + 4, self.pays, size=SIZE, anchor="middle", fill=dark, font_weight=700),
            ]
        return group(*parts, class_="label")


def edge_rewards(edges: Edges, players: int) -> Rewards:
    """Return what each edge pays every player."""
    paid = [edge.reward for _, edge in edges]
    return np.array(paid, dtype=np.float64).reshape(len(edges), players)


def pays_opposite(rewards: Rewards) -> bool:
    """Whether what one of two players is paid the other one pays, so that one number says both; or one plays alone."""
    return rewards.shape[1] == 1 or (rewards.shape[1] == 2 and bool((np.abs(rewards.sum(axis=1)) < 1e-9).all()))


def edge_labels(edges: Edges, rewards: Rewards, player: int, spread: Spread) -> list[Label]:
    """Return the label of each edge, with what it pays `player` or, unless that says all, everybody in their order."""
    one = pays_opposite(rewards)
    labels = []
    for (node, edge), paid in zip(edges, rewards, strict=True):
        name = shortened(move_name(node.state, edge.action), LONGEST_NAME)
        told = [paid[player]] if one else paid
        pays = " ".join(printed(reward(float(part))) for part in told) if paid.any() else ""
        labels.append(Label(name, pays, spread.colour(float(paid[player]))))
    return labels
