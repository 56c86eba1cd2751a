"""Search a state with the engine and with the reference, and demand that they agree on everything both can tell."""

from __future__ import annotations

from typing import Any

import numpy as np

import anabranch as ab
from anabranch import _native
from anabranch.search.reference.nodes import Kind, Node, ReferenceGraph
from anabranch.search.results.proof import Proof

TOLERANCE = 1e-9


def compare(
    state: ab.State,
    evaluator: Any,
    config: ab.SearchConfig | None = None,
    *,
    simulations: int = 100,
    reference_state: ab.State | None = None,
) -> bool:
    """Assert that both find the same graph, node by node in creation order, and the same result.

    Visits, children and actions must be equal, values equal to 1e-9; returns whether the values are equal bit for bit.
    The reference may be given a state of its own, e.g. the same one of a game that runs interpreted.
    """
    searcher = ab.Searcher(state.game, evaluator, config, threads=1)
    root = searcher.root(state)
    (result,) = searcher.run(root, simulations=simulations)
    result.graph.check()
    reference = ab.Reference(reference_state or state, evaluator, config)
    expected = reference.run(simulations=simulations)
    expected.graph.check()
    exact = compare_graphs(result.graph, expected.graph)
    compare_results(result, expected)
    return exact


def compare_graphs(graph: Any, expected: ReferenceGraph) -> bool:
    """Assert equal nodes, edges and ranges; return whether all values are equal bit for bit."""
    nodes = expected.nodes
    assert len(graph) == len(nodes)
    columns, numbers = graph.columns, {id(node): number for number, node in enumerate(nodes)}
    values = columns["value"].reshape(len(nodes), -1)
    assert [("over", "chance", "decision")[kind] for kind in columns["kind"]] == [node.kind.value for node in nodes]
    assert columns["visits"].tolist() == [node.visits for node in nodes]
    assert columns["key"].tolist() == [node.key for node in nodes]
    means = np.array([node.mean for node in nodes])
    assert np.abs(values - means).max() <= TOLERANCE
    exact = bool((values == means).all())
    if "proof" in columns:
        found = columns["proof"].reshape(len(nodes), -1)
        proofs = [
            [*(low for low, _ in node.intervals), *(high for _, high in node.intervals), node.distance]
            for node in nodes
        ]
        assert found.tolist() == proofs
    for number, node in enumerate(nodes):
        rows = _native.edges(graph.native, number)
        assert len(rows) == len(node.edges), f"node {number}"
        for row, edge in zip(rows, node.edges.values(), strict=True):
            actions, visits, child, value, chance, reward = row
            assert reward == edge.reward, f"node {number}, edge {actions}"
            assert actions == actions_of(node, edge.move), f"node {number}"
            assert visits == edge.visits, f"node {number}, edge {actions}"
            assert child == (None if edge.child is None else numbers[id(edge.child)]), f"node {number}, edge {actions}"
            if edge.visits or edge.frozen is not None or node.exact:
                q = [edge.value(player) for player in range(len(value))]
                assert np.abs(np.array(value) - q).max() <= TOLERANCE, f"node {number}, edge {actions}"
                exact &= value == q
            assert node.kind is not Kind.CHANCE or not node.outcomes or chance == edge.chance
        exact &= compare_learnt(columns, number, node)
    seen = _native.value_range(graph.native)  # a moment's wrong value stays in the range of the scale `graph`
    if np.isfinite(seen).any():  # else that scale is not in use
        np.testing.assert_allclose(seen, [expected.low, expected.high], rtol=0, atol=TOLERANCE, err_msg="range")
        exact &= bool((seen == [expected.low, expected.high]).all())
    return exact


def compare_learnt(columns: Any, number: int, node: Node) -> bool:
    """Assert that averaging selectors learnt the same at a node; return whether it is equal bit for bit."""
    if "sums" not in columns or len(node.acting) < 2 or node.visits == 0:
        return True
    first, exact = int(columns["rows"][number]), True
    for name, learnt in (("sums", node.sums), ("regrets", node.regrets), ("current", node.current)):
        numbers = np.array([x for row in learnt for x in row])
        if name in columns and len(numbers):
            found = columns[name][first : first + len(numbers)]
            np.testing.assert_allclose(found, numbers, rtol=1e-9, atol=TOLERANCE, err_msg=f"{name} of node {number}")
            exact &= bool((found == numbers).all())
    assert "solved_at" not in columns or columns["solved_at"][number] == (node.solved_at if node.current else 0)
    return exact


def actions_of(node: Node, move: tuple[int, ...]) -> list[int]:
    """Return what an edge of the reference stands for: an id per acting player, or the outcome."""
    if node.kind is Kind.CHANCE:
        return [node.outcomes[move[0]][0] if node.outcomes else move[0]]
    return [ids[choice] for ids, choice in zip(node.choices, move, strict=True)]


def compare_results(result: ab.Result, expected: ab.Result) -> None:
    """Assert that two results say the same."""
    assert result.visits.tolist() == expected.visits.tolist()
    for name in ("policy", "q", "prior", "value", "target"):
        np.testing.assert_allclose(getattr(result, name), getattr(expected, name), rtol=0, atol=TOLERANCE, err_msg=name)
    assert result.proven == expected.proven
    assert (result.proof is None) == (expected.proof is None)
    if result.proof is not None and expected.proof is not None:
        assert _told(result.proof) == _told(expected.proof)
    assert result.line == expected.line
    assert (result.nodes, result.simulations, result.action) == (
        expected.nodes,
        expected.simulations,
        expected.action,
    )
    assert len(result.outcomes) == len(expected.outcomes)
    for ours, theirs in zip(result.outcomes, expected.outcomes, strict=True):
        np.testing.assert_allclose(
            np.array([*ours[:3], *ours[3]]), np.array([*theirs[:3], *theirs[3]]), rtol=0, atol=TOLERANCE
        )


def _told(proof: Proof) -> list[Any]:
    """Return what is certain of a root and of its edges, to be compared."""
    edges = [(edge.action, edge.interval.tolist(), edge.proven, edge.distance) for edge in proof.edges]
    return [proof.interval.tolist(), proof.proven, proof.distance, edges]


def midgame(game: ab.Game, plies: int, seed: int = 0) -> ab.State:
    """Return a state some random plies into a game, before its end."""
    dice = np.random.default_rng(seed)
    state = game.start(seed)
    for _ in range(plies):
        if state.turn == ab.CHANCE:
            following = state.step(state.draw(int(dice.integers(2**31))))[0]
        else:
            assert isinstance(state.turn, tuple)
            following = state.step([int(dice.choice(state.legal(seat))) for seat in state.turn])[0]
        if following.over:
            break
        state = following
    return state
