"""What averaging selectors share: draw from strategies, sum them up, report their mean (docs/model.md section 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Edge, Node, Values
from anabranch.search.reference.select.selector import Choice
from anabranch.search.reference.select.visits import visit_policy

Strategies = list[list[float]]  # one per acting player, over its choices


def drawn_choice(node: Node, played: Strategies, exploration: float, draws: Draws) -> Choice:
    """Draw every acting player's choice from (1 − x)·σ + x/|A|, and say with which probability it came up."""
    move, chances = [], []
    for seat, strategy in zip(node.acting, played, strict=True):
        explored = formulas.with_exploration(strategy, exploration)
        point = draws.uniform(Purpose.SELECT, seat, node.key, node.visits + node.in_flight)
        move.append(formulas.first_above(point, explored))
        chances.append(explored[move[-1]])
    return Choice(tuple(move), tuple(chances))


def add_to_sums(node: Node, played: Strategies, weight: int) -> None:
    """Add S_i += weight · σ_i for every acting player."""
    for sums, strategy in zip(node.sums, played, strict=True):
        for choice, p in enumerate(strategy):
            sums[choice] += weight * p


def has_average(node: Node) -> bool:
    """Whether anything was summed up yet."""
    return any(sum(sums) > 0.0 for sums in node.sums)


def average_strategies(node: Node) -> Strategies:
    """Return σ̄_i = S_i / Σ S_i, uniform where nothing was summed up."""
    return [formulas.normalised(sums) for sums in node.sums]


def average_policy(node: Node, index: int, rule: RootRule | None) -> list[float]:
    """Return the average strategy; visits where there is none, the prior before any."""
    if node.edge_visits == 0 or not sum(node.sums[index]) > 0.0:
        return visit_policy(node, index, rule)
    return formulas.normalised(node.sums[index])


def visited_edges(node: Node) -> Iterator[Edge]:
    """The cells of a node's table that were visited, as edges in creation order."""
    return (edge for edge in node.edges.values() if edge.visits > 0)


def payoff(node: Node, index: int, values: Sequence[float], view: str) -> float:
    """Return u_i of a cell worth `values`: ½·(q_i − q_j) where two act and the view is `difference`, else q_i."""
    own = values[node.acting[index]]
    if view == "own" or len(node.acting) != 2:
        return own
    return 0.5 * (own - values[node.acting[1 - index]])


def cell_values(node: Node, edge: Edge | None) -> Values:
    """Return q of a cell of the table, one component per player: that of its edge where visited, else U."""
    assert node.evaluation is not None
    if edge is None or edge.visits == 0:
        return list(node.evaluation.values)
    return [edge.value(player) for player in range(node.state.game.players)]


def visited_mean(node: Node, average: Strategies) -> tuple[Values, float]:
    """Return Σ_e ρ(e)·q(e) per player, and Σ_e ρ(e), over visited cells, ρ(e) = Π_i σ̄_i(e_i).

    Sums run over edges in creation order from 0, the product over acting players in seat order from 1.
    """
    values, mass = [0.0] * node.state.game.players, 0.0
    for edge in visited_edges(node):
        reach = 1.0
        for strategy, choice in zip(average, edge.move, strict=True):
            reach *= strategy[choice]
        for player, q in enumerate(cell_values(node, edge)):
            values[player] += reach * q
        mass += reach
    return values, mass
