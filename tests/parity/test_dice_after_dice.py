"""Two places in which the engine once was not the reference, in six cases shrunk by hand.

Self loop: an edge from a node to itself enters the range of the scale `graph` with Q(n) from after the refresh.
Dice after dice: a nested visit refreshes an enumerated chance node that another path of the wave has opened and not yet
backed up. Its outcomes must be read then; where they counted as 0, the range or a loop remembered the wrong Q.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.parity.compare import compare
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.games.explicit import Explicit

GRAPH = ab.Puct(scale="graph")
EXACT = ab.Chance(exact_up_to=100, offset=0.5)
OFF = ab.VirtualLoss(mode="off")
BOTH_WAYS = (-3.0, 3.0)

LOOP = table(1, "R", BOTH_WAYS, R=decision(0, [0.0], ("R", [0.5]), ("end", [0.25])), end=OVER)
ROW = table(
    1,
    "R",
    BOTH_WAYS,
    R=decision(0, [0.6], ("c1", [0.0]), ("end", [0.7])),
    c1=chance((1.0, "c2", [0.0])),
    c2=chance((0.2, "e0", [0.8]), (0.8, "e1", [0.9])),
    e0=OVER,
    e1=OVER,
    end=OVER,
)
BACK = table(
    1,
    "R",
    BOTH_WAYS,
    R=decision(0, [0.4144], ("c1", [0.0])),
    c1=chance((1.0, "c2", [0.0])),
    c2=chance((0.336, "R", [0.0]), (0.664, "e", [0.819])),
    e=OVER,
)


class Case(NamedTuple):
    """A table and how it is searched."""

    table: Mapping[str, Any]
    config: ab.SearchConfig
    discount: float = 1.0
    cycles: str | None = None


CASES = {
    "self loop": Case(LOOP, ab.SearchConfig(selector=GRAPH), 0.5, "bootstrap"),
    "graph scale": Case(ROW, ab.SearchConfig(selector=GRAPH, chance=EXACT, width=2, virtual_loss=OFF)),
    "graph scale, width 8, loss": Case(ROW, ab.SearchConfig(selector=GRAPH, chance=EXACT, width=8)),
    "cycle": Case(BACK, ab.SearchConfig(chance=EXACT, width=6), cycles="bootstrap"),
    "range scale": Case(ROW, ab.SearchConfig(selector=ab.Puct(scale="range"), chance=EXACT, width=2, virtual_loss=OFF)),
    "one path at a time": Case(ROW, ab.SearchConfig(selector=GRAPH, chance=EXACT)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_dice_after_dice(case):
    game = Explicit(case.table, discount=case.discount, cycles=case.cycles)

    def evaluate(batch: Any) -> tuple[None, Any]:
        return None, np.array([game.evaluations[game.id_of(state)][0] for state in batch.states])

    for simulations in (*range(1, 12), 49, 50, 200):
        assert compare(game.start(), evaluate, case.config, simulations=simulations)
