"""Laws of the graph: what merging, order and depth may change, and what they may not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import anabranch as ab
from anabranch.evaluate.batch import Batch
from anabranch.games.random_game import RandomGame


@pytest.mark.hard
@pytest.mark.parametrize("seed", range(200))
def test_without_transpositions_graph_equals_tree(seed):
    """Where no two lines meet, merging changes nothing, not even a last bit."""
    simultaneous = 0.2 * (seed % 3 > 0)
    game = RandomGame(seed, players=1 + seed % 3, layers=3, merge=False, simultaneous=simultaneous).interpreted()
    config = ab.SearchConfig(chance=ab.Chance(exact_up_to=2))
    merged, apart = (
        ab.Reference(
            game.start(),
            ab.Hashing(),
            dataclasses.replace(config, transposition=ab.Transposition(merge=merge)),
        ).run(simulations=120)
        for merge in (True, False)
    )
    # Over states are equal wherever they come from, so the number of nodes differs and nothing else does.
    assert merged.visits.tolist() == apart.visits.tolist()
    assert merged.value.tolist() == apart.value.tolist()


class Relabelled(ab.ObjectGame):
    """Another game with its actions called by other numbers."""

    def __init__(self, game, order):
        self.game, self.order, self.back = game, order, np.argsort(order)
        self.players, self.actions, self.returns = game.players, game.actions, game.returns
        self.rewards_along, self.discount = True, game.discount

    def setup(self, random):
        return self.game.start()

    def turn(self, state):
        return state.turn_bits

    def legal(self, state, player):
        return sorted(int(self.order[action]) for action in state.legal(player))

    def chance(self, state):
        return state.outcomes()

    def step(self, state, actions):
        seats = state.turn if isinstance(state.turn, tuple) else ()
        return state.step([int(self.back[actions[seat]]) for seat in seats] if seats else actions[0])


class ByKey:
    """Says of a state of the original game what `Hashing` says, wherever its actions are called something else."""

    def evaluate(self, batch):
        inner = [state.data if isinstance(state.game, Relabelled) else state for state in batch.states]
        logits, values = ab.Hashing().evaluate(Batch(inner, [state.node_key for state in inner]))
        game = batch.states[0].game
        if isinstance(game, Relabelled):
            logits = logits[:, :, game.back]
        return logits, values


@pytest.mark.hard
@pytest.mark.parametrize("seed", range(200))
def test_permuting_actions_permutes_results(seed):
    """Names of actions do not matter: where no scores tie, visits follow the relabelling exactly."""
    game = RandomGame(seed=seed, players=2, layers=3, chance=0.0, simultaneous=0.2).interpreted()
    order = np.random.default_rng(seed).permutation(game.actions)
    plain = ab.Reference(game.start(), ByKey()).run(simulations=150)
    other = ab.Reference(Relabelled(game, order).start(), ByKey()).run(simulations=150)
    assert other.visits[:, order].tolist() == plain.visits.tolist()
    assert other.value.tolist() == plain.value.tolist()


class Chain(ab.ObjectGame):
    """Coins with one side, one after the other, then a choice between 1/4 and 3/4."""

    def __init__(self, coins):
        self.players, self.actions, self.outcomes, self.coins = 1, 2, 1, coins

    def setup(self, random):
        return 0

    def turn(self, state):
        return ab.OVER if state > self.coins else ab.player(0) if state == self.coins else ab.CHANCE

    def legal(self, state, player):
        return (0, 1)

    def chance(self, state):
        return ((0, 1.0),)

    def step(self, state, actions):
        return state + 1, (0.25 + 0.5 * actions[0] if state == self.coins else 0.0,)


@pytest.mark.parametrize("exact_up_to", [0, 5])
def test_games_twenty_thousand_states_deep(exact_up_to):
    """Neither a walk nor an enumeration is a recursion."""
    game = Chain(20_000)
    config = ab.SearchConfig(chance=ab.Chance(exact_up_to=exact_up_to))
    result = ab.Reference(game.start(), ab.Uniform(), config).run(simulations=2)
    assert result.nodes == 20_002
    assert result.value[0] == 0.125  # the mean of U = 0 and the first choice's 1/4


def test_exact_values_of_games_a_hundred_thousand_states_deep():
    assert ab.solve(Chain(100_000)).value[0] == 0.75


def test_a_full_graph_goes_on_with_frozen_edges():
    """At the limit new leaves get no node, but the search goes on: on take-away it still finds the winning move."""
    game = ab.games.load("take_away", stones=6, compiled=False)
    result = ab.Reference(game.start(), ab.Rollout(), ab.SearchConfig(max_nodes=4)).run(simulations=400)
    result.graph.check()
    assert result.nodes == 4
    assert result.simulations == 400
    assert [e for node in result.graph.nodes for e in node.edges.values() if e.frozen is not None]
    assert isinstance(result.action, int)
    assert game.action_name(result.action) == "2"


def test_leak_is_between_stop_and_continue():
    """A leak of 1 never stops, so it is `continue`; one of 0 is `stop`; in between, something else happens."""

    def visits(game, **rule):
        config = ab.SearchConfig(transposition=ab.Transposition(**rule))
        result = ab.Reference(game.start(), ab.Hashing(), config).run(simulations=100)
        return [node.visits for node in result.graph.nodes]

    between = 0
    for seed in range(8):
        game = RandomGame(seed=seed, players=2, layers=5, width=3, chance=0.0).interpreted()
        walk, stop = visits(game), visits(game, on_visit="stop")
        assert visits(game, on_visit="stop", leak=1.0) == walk
        assert visits(game, on_visit="stop", leak=0.0) == stop
        between += visits(game, on_visit="stop", leak=0.5) not in (walk, stop)
    assert between >= 3
