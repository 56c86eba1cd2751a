"""Lanes: every root finds what it would find alone, wherever its lane is and whoever shares its batches."""

from __future__ import annotations

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.search.engine.lanes import Lanes
from anabranch.search.maths.draws import Purpose
from anabranch.search.maths.policies import capped


def network(observations):
    """Numbers that depend on each row alone."""
    flat = observations.reshape(len(observations), -1)
    waves = np.sin(flat @ np.arange(1, flat.shape[1] + 1)[:, None] * 0.37 * np.arange(1, 10)[None, :])
    return waves * 2.0, np.stack([waves[:, 0], -waves[:, 0]], axis=1) * 0.5


CONFIG = ab.SearchConfig(noise=ab.RootNoise(), forced=ab.ForcedPlayouts(), seed=3)
GAME = ab.games.load("tic_tac_toe")


def searcher(config: ab.SearchConfig = CONFIG) -> ab.Searcher:
    return ab.Searcher(GAME, ab.Network(network), config, threads=1)


def states(count: int) -> list[ab.State]:
    found: list[ab.State] = []
    draws = np.random.default_rng(0)
    while len(found) < count:
        state = GAME.start()
        for _ in range(draws.integers(0, 5)):
            if not state.over:
                state, _ = state.step(int(draws.choice(state.legal())))
        if not state.over:
            found.append(state)
    return found


def told(result: ab.Result) -> tuple[object, ...]:
    return (
        result.visits.tolist(),
        np.nan_to_num(result.q, nan=9.0).tolist(),
        result.target.tolist(),
        result.value.tolist(),
    )


@pytest.mark.parametrize("width", [1, 4])
def test_a_root_in_a_lane_finds_what_it_finds_alone(width):
    """Twelve searches with goals of their own through three lanes, and each of them alone by `run`."""
    config = ab.SearchConfig(noise=ab.RootNoise(), forced=ab.ForcedPlayouts(), seed=3, width=width)
    positions, goals = states(12), [7, 40, 3, 25, 64, 11, 2, 33, 18, 5, 50, 9]
    alone = []
    for number, (state, goal) in enumerate(zip(positions, goals, strict=True)):
        one = searcher(config)
        alone.append(told(one.run(one.root(state, stream=number), visits=goal)[0]))
    many = searcher(config)
    roots = [many.root(state, stream=number) for number, state in enumerate(positions)]
    found: dict[int, object] = {}
    waiting, lanes_of = list(range(3, 12)), {0: 0, 1: 1, 2: 2}
    with Lanes(many, roots[:3], goals[:3]) as lanes:
        while len(found) < 12:
            for lane in lanes.go_on():
                number = lanes_of[lane]
                found[number] = told(roots[number].result_of(goals[number], 0.0))
                if waiting:
                    lanes_of[lane] = waiting.pop(0)
                    lanes.put(lane, roots[lanes_of[lane]], goals[lanes_of[lane]])
    assert [found[number] for number in range(12)] == alone


def test_a_root_that_moves_on_keeps_its_graph_and_gets_noise_anew():
    one, many = searcher(), searcher()
    alone, root = one.root(GAME.start(), stream=0), many.root(GAME.start(), stream=0)
    expected = []
    for move in (4, 0):
        expected.append(told(one.run(alone, visits=60)[0]))
        alone.advance(move)
    with Lanes(many, [root], [60]) as lanes:
        for move, wanted in zip((4, 0), expected, strict=True):
            while not lanes.go_on():
                pass
            assert told(root.result_of(60, 0.0)) == wanted
            root.advance(move)
            lanes.put(0, root, 60)


def test_policies_of_many_lanes_are_those_of_their_results():
    """Read at once, with what results do not tell left out: the same numbers, and forced playouts taken out."""
    config = ab.SearchConfig(noise=ab.RootNoise(), forced=ab.ForcedPlayouts(), proofs="off")
    many = searcher(config)
    roots = [many.root(state, stream=number) for number, state in enumerate(states(6))]
    with Lanes(many, roots, [40] * 6) as lanes:
        arrived: list[int] = []
        while len(arrived) < 6:
            arrived += lanes.go_on()
        policies, targets, values, visits, priors = lanes.policies(arrived)
        results = [roots[lane].result for lane in arrived]
        assert policies.tolist() == [result.policy.tolist() for result in results]
        assert targets.tolist() == [result.target.tolist() for result in results] != policies.tolist()
        assert values.tolist() == [result.value.tolist() for result in results]
        assert visits.tolist() == [roots[lane].native.root_visits for lane in arrived]
        plain = searcher(ab.SearchConfig(proofs="off"))
        told = [result for lane in arrived for result in plain.run([plain.root(roots[lane].state)], visits=2)]
        assert priors.tolist() == [result.prior.tolist() for result in told]
        assert priors.tolist() != [result.prior.tolist() for result in results]  # which have noise on them


def test_a_cap_drawn_by_the_engine_is_that_of_the_root_s_draws():
    many, cap = searcher(), ab.PlayoutCap(full=128, fast=24, chance=0.5)
    for stream in range(20):
        root = many.root(GAME.start(), stream=stream)
        for move in (4, 0, 8):
            expected = capped(cap, root.draws.key(Purpose.CAP, 0, 0, 0))
            assert (root.use_cap(cap), root.explores) == expected
            root.advance(move)


def test_batches_stay_full():
    """Goals of 128 and 24: by `run` most batches hold the few long searches alone, in lanes they are never small."""
    many = searcher(ab.SearchConfig())
    goals = [60 if number % 4 == 0 else 6 for number in range(64)]
    roots = iter([many.root(state, stream=number) for number, state in enumerate(states(64))])
    goal = iter(goals)
    with Lanes(many, [next(roots) for _ in range(8)], [next(goal) for _ in range(8)]) as lanes:
        under_way = 8
        while under_way == 8:
            for lane in lanes.go_on():
                following = next(roots, None)
                if following is None:
                    under_way -= 1
                else:
                    lanes.put(lane, following, next(goal))
        assert lanes.fill > 0.75 * 8


def test_another_evaluator_answers_from_then_on_and_graphs_stay():
    asked: list[str] = []

    def named(name):
        def answer(observations):
            asked.append(name)
            return network(observations)

        return ab.Network(answer)

    one = ab.Searcher(GAME, named("old"), CONFIG, threads=1)
    root = one.root(GAME.start(), stream=0)
    one.run(root, visits=20)
    nodes = len(root.graph)
    one.use(named("new"))
    one.run(root, visits=40)
    assert set(asked[-5:]) == {"new"}
    assert len(root.graph) >= nodes
    other = searcher()
    assert told(root.result) == told(other.run(other.root(GAME.start(), stream=0), visits=40)[0])  # they answer alike
    with pytest.raises(UsageError, match="runs inside the engine"):
        one.use(ab.Rollout())


def test_what_fails_leaves_roots_that_can_be_searched_on():
    class FailingError(Exception):
        pass

    calls = [0]

    def sometimes(observations):
        calls[0] += 1
        if calls[0] == 7:
            raise FailingError
        return network(observations)

    many = ab.Searcher(GAME, ab.Network(sometimes), CONFIG, threads=1)
    roots = [many.root(state, stream=number) for number, state in enumerate(states(3))]
    with Lanes(many, roots, [30] * 3) as lanes, pytest.raises(FailingError):
        endless(lanes)
    clean = searcher()
    expected = [
        told(result)
        for result in clean.run([clean.root(state, stream=n) for n, state in enumerate(states(3))], visits=30)
    ]
    assert [told(result) for result in many.run(roots, visits=30)] == expected


def endless(lanes: Lanes) -> None:
    while True:
        lanes.go_on()


def test_evaluators_inside_the_engine_let_all_lanes_arrive_at_once():
    """They find what a run to the same visits finds, on a new root and on one that was moved on."""
    inside = ab.Searcher(GAME, ab.Rollout(), threads=1)
    roots = [inside.root(GAME.start(), stream=n) for n in range(3)]
    alone = [inside.root(GAME.start(), stream=n) for n in range(3)]
    with Lanes(inside, roots, [10, 200, 30]) as lanes:
        assert lanes.go_on() == [0, 1, 2]
        assert lanes.fill == pytest.approx(3, abs=0.1)
        for root, other, goal in zip(roots, alone, (10, 200, 30), strict=True):
            (found,) = inside.run(other, visits=goal)
            assert found.visits.tolist() == root.result.visits.tolist()
        roots[1].advance(int(roots[1].result.visits.argmax()))
        lanes.put(1, roots[1], 100)
        with pytest.raises(UsageError, match="lane 1 is taken"):
            lanes.put(1, roots[2], 10)
        assert lanes.go_on() == [1]
        assert roots[1].native.root_visits == 100
        assert lanes.go_on() == []


def test_a_lane_is_taken_until_its_root_arrives():
    many = searcher()
    roots = [many.root(GAME.start(), stream=n) for n in range(2)]
    with Lanes(many, [roots[0]], [50]) as lanes:
        with pytest.raises(UsageError, match="lane 0 is taken"):
            lanes.put(0, roots[1], 10)
        with pytest.raises(UsageError, match="being searched"):
            many.run(roots[0], visits=10)
    many.run(roots[0], visits=60)


def test_a_root_that_is_solved_has_arrived():
    """With proofs a search may end before its goal: nobody waits for visits that will not come."""
    config = ab.SearchConfig(proofs="on")
    one, many = searcher(config), searcher(config)
    state = GAME.start()
    for move in (0, 4, 1, 3):  # x completes its row
        state, _ = state.step(move)
    alone = one.root(state, stream=0)
    expected = told(one.run(alone, visits=10_000)[0])
    root = many.root(state, stream=0)
    with Lanes(many, [root], [10_000]) as lanes:
        while not lanes.go_on():
            pass
    assert told(root.result_of(1, 0.0)) == expected
    assert root.native.root_visits < 10_000
    assert root.result.proven
