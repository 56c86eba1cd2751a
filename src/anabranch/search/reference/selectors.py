"""How an acting player chooses at a node, what averaging selectors learn there, and the policy that results.

Stateful code that calls `formulas` and contains none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.matrix_game import equilibrium
from anabranch.search.reference.nodes import Edge, Kind, Move, Node, ReferenceGraph
from anabranch.search.settings.config import (
    Exp3,
    FirstPlay,
    MatrixGame,
    Puct,
    RegretMatching,
    Scale,
    SearchConfig,
    Ucb1,
    VirtualLoss,
)

Averaging = (RegretMatching, MatrixGame, Exp3)


def selector_at(config: SearchConfig, node: Node) -> Puct | Ucb1 | RegretMatching | MatrixGame | Exp3:
    """Return the selector in charge of a decision node."""
    if len(node.acting) > 1 and config.simultaneous is not None:
        return config.simultaneous
    return config.selector


def choose(graph: ReferenceGraph, node: Node, config: SearchConfig, draws: Draws) -> Move:
    """Return the joint choice of the acting players, each choosing alone from the node as it is now."""
    selector = selector_at(config, node)
    if isinstance(selector, Averaging):
        played = [formulas.with_exploration(s, selector.exploration) for s in strategies(node, selector)]
        return tuple(
            formulas.first_above(draws.uniform(Purpose.SELECT, seat, node.key, node.visits + node.in_flight), chances)
            for seat, chances in zip(node.acting, played, strict=True)
        )
    return tuple(_best(graph, node, index, selector, config.virtual_loss, draws) for index in range(len(node.acting)))


# PUCT and UCB1


@dataclass
class Marginals:
    """What one acting player sees of its choices: N_i(a), v_i(a) and q_i(a) (0 where never visited)."""

    visits: list[int]
    in_flight: list[int]
    values: list[float]


def marginals(node: Node, index: int, weights: str) -> Marginals:
    """Sum joint edges into the choices of the `index`-th acting player.

        N_i(a) = Σ N(e),   v_i(a) = Σ v(e),   q_i(a) = Σ w(e)·q_i(e) / Σ w(e)      over edges with e_i = a

    With one acting player q(a) = q(e).
    """
    player, size = node.acting[index], len(node.choices[index])
    visits = _visits_of(node, index)
    in_flight = [0] * size
    for edge in node.edges.values():
        in_flight[edge.move[index]] += edge.in_flight
    values = [0.0] * size
    if len(node.acting) == 1:
        for edge in node.edges.values():
            if edge.visits > 0:
                values[edge.move[0]] = edge.value(player)
        return Marginals(visits, in_flight, values)
    totals, by_visits, visit_totals = [0.0] * size, [0.0] * size, [0.0] * size
    others = [j for j in range(len(node.acting)) if j != index]
    other_visits = {j: _visits_of(node, j) for j in others}
    for edge in node.edges.values():
        if edge.visits == 0:
            continue
        choice, q = edge.move[index], edge.value(player)
        weight = float(edge.visits) if weights == "D" else 1.0
        for j in others if weights != "D" else []:
            prior, count = node.priors[j][edge.move[j]], other_visits[j][edge.move[j]]
            weight *= prior if weights == "A" else float(count) if weights == "B" else prior + count
        values[choice] += weight * q
        totals[choice] += weight
        by_visits[choice] += edge.visits * q
        visit_totals[choice] += edge.visits
    for choice in range(size):
        if totals[choice] > 0.0:
            values[choice] /= totals[choice]
        elif visit_totals[choice] > 0.0:
            values[choice] = by_visits[choice] / visit_totals[choice]
    return Marginals(visits, in_flight, values)


def _visits_of(node: Node, index: int) -> list[int]:
    visits = [0] * len(node.choices[index])
    for edge in node.edges.values():
        visits[edge.move[index]] += edge.visits
    return visits


def _best(
    graph: ReferenceGraph, node: Node, index: int, selector: Puct | Ucb1, virtual_loss: VirtualLoss, draws: Draws
) -> int:
    """Return the choice with the largest score."""
    player = node.acting[index]
    seen = marginals(node, index, selector.weights)
    if virtual_loss.mode == "off":
        seen.in_flight = [0] * len(seen.in_flight)
    scale, lowest = _scale(graph, node, player, seen, selector.scale)
    first = _first_play(node, index, seen, selector.first_play, scale(node.mean[player]), lowest)
    loss = 1.0 if virtual_loss.mode == "loss" else 0.0
    values = [
        formulas.choice_value(first, scale(q), n, v, w0=selector.w0, loss=loss, lowest=lowest)
        for q, n, v in zip(seen.values, seen.visits, seen.in_flight, strict=True)
    ]
    tried = [n + v for n, v in zip(seen.visits, seen.in_flight, strict=True)]
    if graph.forced > 0.0 and node is graph.nodes[0]:
        for choice, (n, p) in enumerate(zip(tried, node.priors[index], strict=True)):
            if 0 < n < formulas.forced_visits(p, sum(tried), graph.forced):
                return choice
    if isinstance(selector, Ucb1):
        scores = formulas.ucb1_scores(values, tried, c=selector.c)
    else:
        c = formulas.puct_weight(
            sum(tried), c_init=selector.c_init, c_log=selector.c_log, c_base=selector.c_base, c_off=selector.c_off
        )
        scores = formulas.puct_scores(values, node.priors[index], tried, c=c, epsilon=selector.epsilon)
    if selector.ties == "first":
        return formulas.argmax(scores)
    top = max(scores)
    best = [choice for choice, score in enumerate(scores) if score == top]
    return best[int(draws.uniform(Purpose.TIES, player, node.key, node.visits + node.in_flight) * len(best))]


def resolved_scale(kind: Scale, game: Game) -> Scale:
    """Return the scale that `auto` means for a game: `range` where it is tight, else `node`."""
    if kind != "auto":
        return kind
    return "range" if game.has("bounds") or not game.rewards_along else "node"


def _scale(
    graph: ReferenceGraph, node: Node, player: int, seen: Marginals, kind: Scale
) -> tuple[Callable[[float], float], float]:
    """Return the map from values to scaled units, and the lower end of the scale."""
    game = node.state.game
    kind = resolved_scale(kind, game)
    if kind == "none":
        return (lambda q: q), game.returns[0]
    if kind == "range":
        lows, highs = node.state.bounds()
        low, high = float(lows[player]), float(highs[player])
        return (lambda q: formulas.to_signed(q, low, high)), -1.0
    if kind == "node":
        known = [q for q, n in zip(seen.values, seen.visits, strict=True) if n > 0] + [node.mean[player]]
        low, high = min(known), max(known)
    else:
        low, high = graph.low[player], graph.high[player]
    return (lambda q: formulas.to_unit(q, low, high)), 0.0


def _first_play(node: Node, index: int, seen: Marginals, rule: FirstPlay, parent: float, lowest: float) -> float:
    """Return what an untried choice is worth, in scaled units."""
    if rule.kind == "parent":
        return parent
    if rule.kind == "parent_minus":
        return parent - rule.amount
    if rule.kind == "reduced":
        tried = formulas.total_of(p for p, n in zip(node.priors[index], seen.visits, strict=True) if n > 0)
        return parent - rule.amount * math.sqrt(tried)
    return rule.amount if rule.kind == "constant" else lowest


# Regret matching+, matrix, Exp3


def strategies(node: Node, selector: RegretMatching | MatrixGame | Exp3) -> list[list[float]]:
    """Return what the acting players would play now, without exploration."""
    if isinstance(selector, RegretMatching):
        return [formulas.normalised(regret) for regret in node.regrets]
    if isinstance(selector, Exp3):
        return [formulas.exp3_strategy(gains, selector.exploration) for gains in node.regrets]
    return node.current or [formulas.normalised([0.0] * len(ids)) for ids in node.choices]


def learn(node: Node, edge: Edge, config: SearchConfig) -> None:
    """Let an averaging selector learn from one backed-up visit; N(e) already counts it, the cells below are fresh."""
    selector = selector_at(config, node)
    if not isinstance(selector, Averaging):
        return
    old = strategies(node, selector)
    if isinstance(selector, RegretMatching):
        payoffs = expected_payoffs(node, old, selector.view)
        for i in range(len(node.acting)):
            node.regrets[i] = formulas.regret_update(node.regrets[i], payoffs[i], old[i])
        _add(node, old, node.visits)
    elif isinstance(selector, MatrixGame):
        grown = node.visits - node.solved_at
        if not node.current or grown >= max(1.0, selector.growth * node.solved_at):
            node.current = _solve(node)
            node.solved_at = node.visits
            _add(node, node.current, node.visits)
    else:
        lows, highs = node.state.bounds()
        for i, (player, choice) in enumerate(zip(node.acting, edge.move, strict=True)):
            payoff = formulas.to_unit(edge.value(player), float(lows[player]), float(highs[player]))
            chance = formulas.with_exploration(old[i], selector.exploration)[choice]
            node.regrets[i][choice] += payoff / chance
        _add(node, old, 1)


def _add(node: Node, played: list[list[float]], weight: int) -> None:
    for sums, strategy in zip(node.sums, played, strict=True):
        for choice, p in enumerate(strategy):
            sums[choice] += weight * p


def cell(node: Node, move: Move, player: int) -> float:
    """Return q of a joint choice where visited, else U."""
    edge = node.edges.get(move)
    assert node.evaluation is not None
    return edge.value(player) if edge is not None and edge.visits > 0 else node.evaluation.values[player]


def payoff(node: Node, move: Move, index: int, view: str) -> float:
    """Return u_i of a joint choice: half the difference (two acting players), or one's own value."""
    own = cell(node, move, node.acting[index])
    if view == "own" or len(node.acting) != 2:
        return own
    return 0.5 * (own - cell(node, move, node.acting[1 - index]))


def all_moves(node: Node) -> list[Move]:
    """Return every joint choice, the first acting player's varying slowest."""
    return list(itertools.product(*(range(len(ids)) for ids in node.choices)))


def expected_payoffs(node: Node, played: list[list[float]], view: str) -> list[list[float]]:
    """Return u_i(a) = Σ_b σ_{−i}(b)·u_i(a, b) for every acting player and choice."""
    payoffs = [[0.0] * len(ids) for ids in node.choices]
    for move in all_moves(node):
        for i, choice in enumerate(move):
            reach = 1.0
            for j, other in enumerate(move):
                if j != i:
                    reach *= played[j][other]
            payoffs[i][choice] += reach * payoff(node, move, i, view)
    return payoffs


def _solve(node: Node) -> list[list[float]]:
    if len(node.acting) != 2:
        raise UsageError(
            f"the matrix selector needs two acting players, here are {len(node.acting)}; use RegretMatching"
        )
    rows, columns = (range(len(ids)) for ids in node.choices)
    mine, theirs, _ = equilibrium([[payoff(node, (a, b), 0, "difference") for b in columns] for a in rows])
    return [list(mine), list(theirs)]


def strategy_value(node: Node, selector: RegretMatching | MatrixGame, player: int) -> float:
    """Return the value of the average strategies, as MODEL section 9 reports it.

    Regret matching+ reads every cell and forgets U; the others read visited cells, renormalise, and keep U's visit.
    """
    assert node.evaluation is not None
    average = [formulas.normalised(sums) for sums in node.sums]
    value, mass = 0.0, 0.0
    for move in all_moves(node):
        edge = node.edges.get(move)
        if isinstance(selector, MatrixGame) and (edge is None or edge.visits == 0):
            continue
        reach = 1.0
        for strategy, choice in zip(average, move, strict=True):
            reach *= strategy[choice]
        value += reach * cell(node, move, player)
        mass += reach
    visits = node.edge_visits
    if isinstance(selector, RegretMatching):
        return value
    if mass == 0.0:  # the strategies' support was never visited: what was visited speaks
        return visit_value(node, player)
    return (visits * (value / mass) + node.evaluation.values[player]) / (1 + visits)


def visit_value(node: Node, player: int) -> float:
    """Return (U + Σ N(e)·q(e)) / (1 + Σ N(e)), edges in creation order, U added last."""
    assert node.evaluation is not None
    total, visits = 0.0, 0
    for edge in node.edges.values():
        if edge.visits > 0:
            total += edge.visits * edge.value(player)
            visits += edge.visits
    return (total + node.evaluation.values[player]) / (1 + visits)


def decision_value(node: Node, config: SearchConfig, player: int) -> float:
    """Return Q of a decision node for one player."""
    selector = selector_at(config, node)
    by_strategy = isinstance(selector, (RegretMatching, MatrixGame)) and selector.value == "strategy"
    if by_strategy and any(sum(sums) > 0.0 for sums in node.sums):
        assert isinstance(selector, (RegretMatching, MatrixGame))
        return strategy_value(node, selector, player)
    return visit_value(node, player)


def policy(node: Node, index: int, config: SearchConfig) -> list[float]:
    """Return the policy of an acting player over its choices: average strategy, visits, or the prior before any."""
    assert node.kind is Kind.DECISION
    if node.edge_visits == 0:
        return node.priors[index]
    if isinstance(selector_at(config, node), Averaging) and sum(node.sums[index]) > 0.0:
        return formulas.normalised(node.sums[index])
    return formulas.normalised([float(n) for n in _visits_of(node, index)])
