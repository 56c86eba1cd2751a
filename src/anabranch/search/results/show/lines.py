"""Lines of play by name: what the search expects to follow."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.game.state import State
from anabranch.search.maths.principal_variation import principal_variation
from anabranch.search.results.views import Action, EdgeView, NodeView, ReadableGraph


def move_name(state: State, action: Action) -> str:
    """Return what people call a move made at a state: [an outcome], (choices made at once), or an action."""
    game, turn = state.game, state.turn
    if isinstance(turn, int):
        assert isinstance(action, int)
        return f"[{game.outcome_name(action)}]"
    if isinstance(action, tuple):
        return "(" + " ".join(game.move_name(state, seat, one) for seat, one in zip(turn, action, strict=True)) + ")"
    return game.move_name(state, turn[0], action)


def variation_names(graph: ReadableGraph, number: int | None, most: int) -> list[str]:
    """Name the first moves of the principal variation from a node on; … where there is more."""
    names: list[str] = []
    views: dict[int, NodeView] = {}

    def edges_of(at: int) -> list[EdgeView]:
        views[at] = graph.node(at)
        return views[at].edges

    for at, edge in principal_variation(number, edges_of, lambda edge: edge.child):
        if len(names) == most:
            return [*names, "…"]
        names.append(move_name(views[at].state, edge.action))
    return names


def line_names(state: State, line: Sequence[Action], most: int) -> list[str]:
    """Name the first moves of a line, replaying it for what each of them is; … where there is more."""
    names = []
    for action in line[:most]:
        names.append(move_name(state, action))
        state = state.step(action)[0]
    return [*names, "…"] if len(line) > most else names
