"""The certificate of a root where two players choose at once: what its own table still leaves to be gained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.search.maths.matrix_game import exploitability

if TYPE_CHECKING:
    from anabranch.search.results.result import Result


def root_exploitability(result: Result) -> float | None:
    """Return what a best reply to the reported policies gains in the searched table, on average over the two seats.

        u(a, b) = ½·(q_1(a, b) − q_2(a, b)),   q of a visited cell, U where nothing was visited

    It is exact for the table, and as right as the table's values are. Of a proven root it is 0: what is played secures
    the exact value, whatever cells that nobody visited seem to be worth. None where two players of two do not choose at
    once, where nothing was evaluated, and where the graph was searched on or left behind since.
    """
    state, graph = result.state, result.graph
    if state.turn != (0, 1) or state.game.players != 2 or getattr(graph, "moved_on", False):
        return None
    root = graph.node(0)
    if root.visits == 0 or sum(edge.visits for edge in root.edges) != int(result.visits[0].sum()):
        return None
    if result.proven and state.game.zero_sum:
        return 0.0
    rows, columns = (list(state.choices(seat)) for seat in (0, 1))
    known = {edge.action: edge.value for edge in root.edges if edge.visits > 0}
    table = []
    for row in rows:
        worth = [known.get((row, column), root.evaluation) for column in columns]
        table.append([0.5 * (float(value[0]) - float(value[1])) for value in worth])
    return exploitability(table, result.policy[0, rows].tolist(), result.policy[1, columns].tolist())
