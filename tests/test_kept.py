"""Agents that follow a game: what they keep is a shortcut, and what they find a function of the game so far."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.play.agent import Turn
from anabranch.play.played import PlayedGame

NOISY = ab.SearchConfig(width=3, noise=ab.RootNoise(), seed=5)
CASES = {
    "alternating": ("connect_four", {}, None, NOISY),
    "dice": ("pig", {"target": 8}, ab.Hashing(), ab.SearchConfig()),
    "at once": ("goofspiel", {"cards": 6}, None, NOISY),
    "interpreted": ("tic_tac_toe", {"compiled": False}, ab.Hashing(), NOISY),
    "reference": ("goofspiel", {"cards": 6}, ab.Hashing(), ab.SearchConfig(simultaneous=ab.RegretMatching())),
}


def turns_of(game, seed=0, most=6, opening=2):
    """Play a game at random and return the turns of its first player, with one memory for all of them."""
    played, random = PlayedGame(game.start(), seed), ab.Random(seed)
    memory: dict[Any, Any] = {}
    turns: list[Turn] = []
    while not played.state.over and len(turns) < most:
        acting: Any = played.state.turn
        if 0 in acting and len(played.moves) >= opening:
            turns.append(
                Turn(played.state, 0, 7 * len(turns), tuple(played.moves), played.start, opening, 99, memory=memory)
            )
        chosen = tuple(played.state.legal(seat)[random.next() % len(played.state.legal(seat))] for seat in acting)
        played.play(chosen if len(chosen) > 1 else chosen[0])
    return turns


def same(one, other):
    assert (one.visits == other.visits).all()
    assert np.array_equal(one.q, other.q, equal_nan=True)
    assert (one.prior == other.prior).all()
    assert one.nodes == other.nodes


def forgetful(turn):
    return dataclasses.replace(turn, memory={})


@pytest.mark.parametrize("keep", ["graph", "evaluations"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_found_is_a_function_of_the_game_so_far(case, keep):
    """Law: with the memory of the turn before, without any, asked twice, or asked about an earlier turn again."""
    name, options, evaluator, config = case
    turns = turns_of(ab.games.load(name, **options))
    assert len(turns) >= 3
    agent = ab.SearchAgent(simulations=20, evaluator=evaluator, config=config, keep=keep)
    found = [agent.results([turn])[0] for turn in turns]
    assert agent.results([turns[-1]])[0] is found[-1]
    for turn, result in zip(turns, found, strict=True):
        assert result.state == turn.state
    other = ab.SearchAgent(simulations=20, evaluator=evaluator, config=config, keep=keep)
    together = other.results([forgetful(turn) for turn in reversed(turns)])
    for result, again in zip(found, reversed(together), strict=True):
        same(result, again)
    same(agent.results([turns[1]])[0], together[-2])  # taken back


def test_a_root_follows_the_game_from_the_first_own_turn():
    """What the agent does is what one does by hand: plant, search, move on, search."""
    turns = turns_of(ab.games.load("connect_four"), seed=3, most=3)
    agent = ab.SearchAgent(visits=400, config=NOISY, keep="graph")
    searcher = ab.Searcher(turns[0].state.game, config=NOISY)
    root, kept = searcher.root(turns[0].state, stream=99), []
    for number, turn in enumerate(turns):
        if number:
            for move in turn.moves[len(turns[number - 1].moves) :]:
                root.advance(move)
        before = root.native.root_visits
        (expected,) = searcher.run(root, visits=400)
        (found,) = agent.results([turn])
        same(found, expected)
        kept.append(before)
        assert found.simulations == 400 - before
    assert any(kept)
    afresh = agent.afresh(turns[2:])[0]
    assert afresh.simulations == 400
    assert turns[2].memory[agent].result is found  # which was neither used nor changed


def test_kept_evaluations_find_what_nothing_kept_finds_and_ask_less():
    """Law, where an evaluator draws nothing: the same visits at every turn, for fewer evaluations."""
    turns, asked = turns_of(ab.games.load("connect_four")), {}
    visits = {}
    for keep in ("nothing", "evaluations", "graph"):
        count: list[int] = []

        def evaluator(batch, count=count):
            count.append(len(batch))
            return ab.Hashing().evaluate(batch)

        agent = ab.SearchAgent(visits=300, evaluator=evaluator, keep=keep)
        memory: dict[Any, Any] = {}
        played = [dataclasses.replace(turn, memory=memory) for turn in turns]
        visits[keep] = [agent.results([turn])[0].visits.tolist() for turn in played]
        asked[keep] = sum(count)
    assert visits["evaluations"] == visits["nothing"]
    assert asked["evaluations"] < asked["nothing"] > asked["graph"]


def test_a_search_that_fails_leaves_nothing_half_done():
    """An interruption in the middle of a turn, then the same turn again: as if nothing had happened."""
    turns, left = turns_of(ab.games.load("connect_four"), most=3), [10**9]

    def evaluator(batch):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return ab.Hashing().evaluate(batch)

    agent = ab.SearchAgent(simulations=30, evaluator=evaluator, keep="graph")
    expected = ab.SearchAgent(simulations=30, evaluator=ab.Hashing(), keep="graph").results([forgetful(turns[2])])[0]
    agent.results(turns[:1])
    agent.results(turns[1:2])
    left[0] = 11
    with pytest.raises(KeyboardInterrupt):
        agent.results(turns[2:])
    same(agent.results(turns[2:])[0], expected)


def test_turns_without_a_start_are_searched_afresh_among_others():
    known = turns_of(ab.games.load("connect_four"), most=2)
    lost = Turn(known[1].state, 0, seed=4, moves=known[1].moves)
    agent = ab.SearchAgent(simulations=20, keep="graph")
    one, two, three = agent.results([known[1], lost, forgetful(known[0])])
    same(one, agent.results([forgetful(known[1])])[0])
    same(two, ab.SearchAgent(simulations=20).results([lost])[0])
    same(three, agent.results([forgetful(known[0])])[0])
    timed = ab.SearchAgent(seconds=0.0, keep="graph")  # turns that took time are not repeated
    assert timed.results([forgetful(known[1])])[0].state == known[1].state


def test_a_playout_cap_is_drawn_turn_by_turn():
    config = ab.SearchConfig(cap=ab.PlayoutCap(full=40, fast=10, chance=0.5), forced=ab.ForcedPlayouts())
    turns = turns_of(ab.games.load("connect_four"))
    agent = ab.SearchAgent(config=config, keep="graph")
    found = [agent.results([turn])[0] for turn in turns]
    assert {result.simulations for result in found} == {10, 40}
    assert all(result.config and (result.config.forced is None) == (result.simulations == 10) for result in found)
    averaging = dataclasses.replace(config, simultaneous=ab.RegretMatching())
    turns = [Turn(ab.games.load("matrix").start(), 0, seed) for seed in range(20)]
    assert {result.simulations for result in ab.SearchAgent(config=averaging).results(turns)} == {10, 40}


def test_a_rule_decides_where_one_acts():
    """Rules differ where one acts; where several choose at once the search's own mixed strategy is played."""
    game = ab.games.load("connect_four")
    turns = [Turn(game.start(), 0, seed) for seed in range(40)]
    agents = [ab.SearchAgent(simulations=30, rule=rule, config=NOISY) for rule in ("visits", "lcb", "regularised")]
    results = agents[0].results(turns)
    for agent in agents:
        policies = [ab.move_policy(result, 0, agent.rule) for result in results]
        assert [agent.pick(*pair) for pair in zip(turns, results, strict=True)] == [
            int(row.argmax()) for row in policies
        ]
    assert len({tuple(agent.choose(turns)) for agent in agents}) == 3
    together = [Turn(ab.games.load("matrix").start(), 0, seed) for seed in range(40)]
    assert len({tuple(agent.choose(together)) for agent in agents}) == 1
