"""Values are vectors: three players by hand, rotations to the mover's seat and back, and max^n to the end of a game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.golden.vectors import Evaluations
from tests.tables import OVER, decision, table

import anabranch as ab
from anabranch.games.explicit import Explicit
from anabranch.games.n_in_a_row import NInARow

SAID = (8.0, 4.0, 2.0)


@pytest.mark.parametrize("selector", [ab.Gumbel(), ab.Puct()], ids=["gumbel", "puct"])
@pytest.mark.parametrize("engine", [False, True], ids=["reference", "engine"])
def test_rewards_and_discounts_on_the_path_by_hand(engine, selector):
    """One line of three moves at γ = ½ that pays every player once, three simulations, U = (8, 4, 2) everywhere.

    Q(c) = (U + r3) / 2                   = (4, 4, 1)             r3 = (0, 4, 0), then the game is over
    Q(b) = (U + 2·(r2 + ½·Q(c))) / 3      = (4, 8/3, 11/3)        r2 = (0, 0, 4)
    Q(a) = (U + 3·(r1 + ½·Q(b))) / 4      = (6.5, 2, 1.875)       r1 = (4, 0, 0)
    """
    nodes: Any = {
        "a": decision(0, SAID, ("b", (4.0, 0.0, 0.0))),
        "b": decision(1, SAID, ("c", (0.0, 0.0, 4.0))),
        "c": decision(2, SAID, ("end", (0.0, 4.0, 0.0))),
        "end": OVER,
    }
    options: Any = {"discount": 0.5, "compiled": False}
    game = Explicit(table(3, "a", returns=(-20.0, 20.0), **nodes), **options)
    config = ab.SearchConfig(selector=selector)
    if engine:
        found = ab.search(game.start(), simulations=3, evaluator=Evaluations(game), config=config)
    else:
        found = ab.Reference(game.start(), Evaluations(game), config).run(simulations=3)
    assert found.value == pytest.approx([6.5, 2.0, 1.875])
    assert found.q[0, 0] == pytest.approx(4.0 + 0.5 * 4.0)


def test_rotations_compose_to_identity():
    """From seats to the mover and back, for every number of players and mover; P turns by one are none."""
    dice = np.random.default_rng(1)
    for players in range(1, 7):
        values, movers = dice.normal(size=(50, players)), dice.integers(0, players, 50)
        assert (ab.to_seats(ab.to_mover(values, movers), movers) == values).all()
        assert (ab.to_mover(ab.to_seats(values, movers), movers) == values).all()
        turned = values
        for _ in range(players):
            turned = ab.to_mover(turned, np.ones(50, int) % players)
        assert (turned == values).all()
        for row, mover in enumerate(movers):
            assert ab.to_mover(values, movers)[row].tolist() == [
                values[row, (mover + i) % players] for i in range(players)
            ]


MARGIN = 0.25


def tie_free(*moves: int, compiled: bool = True) -> tuple[Explicit, dict[str, Any], dict[str, Any]]:
    """Three in a row for three players, from some moves on, as a table without ties; and its exact max^n values.

    Every end has payoffs of its own, added to the ranking's. Where a mover's best choice was not worth `MARGIN` more
    than its next, it is paid that much at once: so every choice matters, and nobody's play hangs on a hair.
    """
    option: Any = {"compiled": compiled}
    start = NInARow(3, 3, **option).start()
    for action in moves:
        start, _ = start.step(action)
    dice = np.random.default_rng(7)
    names, order = {start: "0"}, [start]
    nodes: dict[str, Any] = {}
    values: dict[str, Any] = {}
    ends: dict[ab.State, Any] = {}
    for state in order:  # breadth first, so children come after their parents
        for action in [] if state.over else state.legal():
            following, rewards = state.step(action)
            if following not in names:
                names[following] = str(len(names))
                order.append(following)
                if following.over:
                    ends[following] = (rewards + dice.uniform(-0.5, 0.5, 3)).astype(np.float32).astype(float)
    for state in reversed(order):
        if state.over:
            nodes[names[state]], values[names[state]] = OVER, np.zeros(3)
            continue
        [seat] = state.turn  # type: ignore[misc]
        reached = [state.step(action)[0] for action in state.legal()]
        pays = [ends.get(each, np.zeros(3)).copy() for each in reached]
        worth = [pay + values[names[each]] for pay, each in zip(pays, reached, strict=True)]
        best, *others = sorted(range(len(worth)), key=lambda choice: -worth[choice][seat])
        if others and worth[best][seat] - worth[others[0]][seat] < MARGIN:
            pays[best][seat] += MARGIN
            worth[best][seat] += MARGIN
        children = [(names[each], pay.tolist()) for each, pay in zip(reached, pays, strict=True)]
        nodes[names[state]] = decision(seat, (0.0, 0.0, 0.0), *children)
        values[names[state]] = worth[best]
    return Explicit(table(3, "0", returns=(-2.0, 4.0), **nodes), **option), nodes, values


def losses(positions: int, simulations: int, proofs: Any, *moves: int, compiled: bool = True) -> list[float]:
    """Return what the action chosen from each of some random positions is worth less than the best, to the mover."""
    game, nodes, values = tie_free(*moves, compiled=compiled)
    decisions = [name for name, node in nodes.items() if node["kind"] == "decision" and node["choices"] != [1]]
    picked = np.random.default_rng(2).permutation(decisions)[:positions].tolist()
    searcher = ab.Searcher(game, ab.Uniform(), ab.SearchConfig(proofs=proofs), threads=1)
    results = searcher.run([searcher.root(game.node(name)) for name in picked], simulations=simulations)
    found = []
    for name, result in zip(picked, results, strict=True):
        _, child, pay = nodes[name]["edges"][result.action]
        [seat] = nodes[name]["acting"]
        found.append(float(values[name][seat] - pay[seat] - values[child][seat]))
    return found


@pytest.mark.parametrize("proofs", ["off", "on"])
def test_the_action_chosen_is_worth_what_max_n_says_late_in_the_game(proofs):
    """From every position after four moves; interpreted, which is sooner done than compiling."""
    found = losses(1000, 400, proofs, 4, 0, 8, 2, compiled=False)
    assert len(found) > 30
    assert max(found) == pytest.approx(0.0, abs=1e-12)


def test_the_action_chosen_is_worth_what_max_n_says_from_a_thousand_positions():
    """Of the whole game. Means of visits alone are right in all but four, after 20,000 simulations; proofs in all."""
    found = losses(1000, 4000, "on")
    assert len(found) == 1000
    assert max(found) == pytest.approx(0.0, abs=1e-12)
