"""Writing explicit games in tests: one line per node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Child = tuple[str, Sequence[float]]  # where an edge leads, and what it pays


def decision(player: int, evaluation: Sequence[float], *edges: Child) -> dict[str, Any]:
    rows = [[[index], child, list(rewards)] for index, (child, rewards) in enumerate(edges)]
    prior = [[1.0 / len(edges)] * len(edges)]
    return {
        "kind": "decision",
        "acting": [player],
        "choices": [len(edges)],
        "edges": rows,
        "U": list(evaluation),
        "priors": prior,
    }


def chance(*outcomes: tuple[float, str, Sequence[float]]) -> dict[str, Any]:
    return {"kind": "chance", "outcomes": [[p, child, list(rewards)] for p, child, rewards in outcomes]}


OVER: Mapping[str, Any] = {"kind": "over"}


def table(players: int, root: str, returns: tuple[float, float] = (-1.0, 1.0), **nodes: Any) -> dict[str, Any]:
    return {"players": players, "returns": list(returns), "root": root, "nodes": dict(nodes)}
