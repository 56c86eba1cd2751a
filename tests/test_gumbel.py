"""The Gumbel search: its noise, its schedule, its plan of a run, and what it is refused."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.game.random import Random
from anabranch.games.random_game import RandomGame
from anabranch.search.maths import gumbel
from anabranch.search.maths.root_rule import RootRule, gumbel_rule

CONFIG = ab.SearchConfig(selector=ab.Gumbel(considered=4))


def game() -> Any:
    return ab.games.load("connect_four")


def searched(config: ab.SearchConfig = CONFIG, evaluator: Any = None, *, stream: int = 0) -> Any:
    searcher = ab.Searcher(game(), evaluator or ab.Hashing(), config, threads=1)
    return searcher.root(searcher.game.start(), stream=stream)


def columns(root: Any) -> list[Any]:
    return [root.graph.columns[name].tolist() for name in ("visits", "edge_visits", "edge_child", "value", "key")]


def told(result: ab.Result) -> Any:
    return result.visits.tolist(), result.policy.tolist(), result.action, result.value.tolist()


# Noise


def test_noise_is_gumbel():
    """Mean γ, variance π²/6, and P(g ≤ x) = exp(−e^−x) at the quartiles, over 200,000 draws."""
    draws = np.array(gumbel.gumbel_noise(200_000, Random(5)))
    assert draws.mean() == pytest.approx(0.5772156649, abs=0.012)
    assert draws.var() == pytest.approx(math.pi**2 / 6, abs=0.04)
    for chance in (0.25, 0.5, 0.75, 0.99):
        assert (draws <= -math.log(-math.log(chance))).mean() == pytest.approx(chance, abs=0.005)


def test_every_draw_is_finite(monkeypatch):
    """A uniform number may be 0; none is 1."""
    for u in (0.0, 2.0**-53, 1.0 - 2.0**-53):
        monkeypatch.setattr(gumbel, "uniform", lambda random, u=u: u)
        assert math.isfinite(gumbel.gumbel_noise(1, Random(0))[0])


def test_the_considered_choice_is_drawn_from_the_prior():
    """With one considered choice the search plays a sample of the prior: the Gumbel-max trick, by 4,000 streams."""
    config = ab.SearchConfig(selector=ab.Gumbel(considered=1))
    searcher = ab.Searcher(game(), ab.Hashing(), config, threads=1)
    roots = [searcher.root(searcher.game.start(), stream=stream) for stream in range(4000)]
    results = searcher.run(roots, simulations=1)
    counts = Counter(result.action for result in results)
    for action, p in enumerate(results[0].prior[0]):
        assert counts[action] == pytest.approx(4000 * p, abs=4.0 * math.sqrt(4000 * p))
    assert all(result.visits[0, result.action] == 1 for result in results)


def test_without_noise_the_likeliest_choices_are_considered():
    root = searched(ab.SearchConfig(selector=ab.Gumbel(considered=3, noise=0.0)))
    [result] = root.searcher.run(root, simulations=3)
    likeliest = np.argsort(-result.prior[0], kind="stable")[:3]
    assert sorted(np.flatnonzero(result.visits[0])) == sorted(likeliest)


# The schedule


def literal(considered: int, simulations: int) -> list[int]:
    """The schedule word for word as docs/model.md section 10 prints it."""
    if considered <= 1:
        return list(range(simulations))
    counts, left = [0] * considered, considered
    order: list[int] = []
    while len(order) < simulations:
        for _ in range(max(1, simulations // (math.ceil(math.log2(considered)) * left))):
            order += counts[:left]
            counts[:left] = [count + 1 for count in counts[:left]]
        left = max(2, left // 2)
    return order[:simulations]


def test_phases_are_the_schedule():
    """For all budgets up to 256 and up to 32 considered choices; few phases, so a long budget needs no long list."""
    for considered in range(33):
        for simulations in range(257):
            phases = gumbel.halving(considered, simulations)
            assert [gumbel.scheduled(phases, t) for t in range(simulations)] == literal(considered, simulations)
    assert len(gumbel.halving(16, 2**31)) < 12


@pytest.mark.parametrize("config", [{}, {"width": 7}, {"width": 3, "depth": 3}, {"virtual_loss": "off", "width": 5}])
def test_visits_follow_the_schedule(config):
    """Sorted, the visits of the root's choices are those of the schedule, also where paths are in flight together."""
    options = dict(config)
    if "virtual_loss" in options:
        options["virtual_loss"] = ab.VirtualLoss(mode=options["virtual_loss"])
    for simulations in (1, 3, 5, 16, 33, 100):
        root = searched(ab.SearchConfig(selector=ab.Gumbel(considered=5), **options))
        [result] = root.searcher.run(root, simulations=simulations)
        expected = Counter[int]()
        for count in literal(5, simulations):  # each entry makes a choice with `count` visits one with one more
            expected[count] -= 1
            expected[count + 1] += 1
        found = Counter(int(n) for n in result.visits[0] if n > 0)
        assert found == +Counter({n: times for n, times in expected.items() if n > 0})


# A run


def test_a_run_counts_its_own_visits_only():
    """On a kept graph the same plan is followed again: the visits added are those of the schedule."""
    root = searched()
    root.searcher.run(root, simulations=40)
    root.advance(root.result.action)
    before = root.result.visits.copy()
    assert before.sum() > 0
    [result] = root.searcher.run(root, simulations=16)
    assert sorted((result.visits - before)[result.state.turn[0]])[-4:] == [2, 2, 6, 6]


def test_a_run_without_simulations_leaves_the_winner():
    root = searched()
    [first] = root.searcher.run(root, simulations=16)
    [again] = root.searcher.run(root, simulations=0)
    assert told(again) == told(first)
    assert root.searcher.run(root, visits=7)[0].action == first.action
    [more] = root.searcher.run(root, simulations=5)
    assert more.visits.sum() == 21


def test_noise_is_drawn_once_per_root_number():
    """Two runs sample alike; moving on draws anew; streams differ."""
    reference = ab.Reference(game().start(), ab.Hashing(), CONFIG)
    reference.run(simulations=3)
    noise = reference.walker.rule.gumbel
    assert noise is not None
    assert reference.walker.rule.plans is not None
    reference.run(simulations=3)
    assert reference.walker.rule.gumbel == noise
    reference.advance(0)
    assert reference.walker.rule == RootRule()
    reference.run(simulations=1)
    assert reference.walker.rule.gumbel != noise
    other = ab.Reference(game().start(), ab.Hashing(), CONFIG, stream=1)
    other.run(simulations=1)
    assert other.walker.rule.gumbel != noise


def test_dirichlet_noise_and_forced_visits_have_no_part_in_it():
    plain, noisy = searched(), searched(ab.SearchConfig(selector=CONFIG.selector, noise=ab.RootNoise(weight=0.9)))
    assert told(plain.searcher.run(plain, simulations=30)[0]) == told(noisy.searcher.run(noisy, simulations=30)[0])
    settings = ab.Gumbel()
    rule = gumbel_rule(settings, [[0.5, 0.5]], (0,), ab.Reference(game().start(), ab.Uniform()).walker.draws, 3,
                       RootRule(), [[0, 0]], 4)  # fmt: skip
    assert (rule.priors, rule.forced) == (None, 0.0)


def test_roots_with_budgets_of_their_own_are_searched_as_alone():
    searcher = ab.Searcher(game(), ab.Hashing(), CONFIG, threads=2)
    roots = [searcher.root(searcher.game.start(), stream=stream) for stream in range(6)]
    budgets = [1, 2, 5, 16, 33, 64]
    together = searcher.run(roots, simulations=budgets)
    for stream, (budget, result) in enumerate(zip(budgets, together, strict=True)):
        root = searched(stream=stream)
        assert told(root.searcher.run(root, simulations=budget)[0]) == told(result)


@pytest.mark.parametrize("width", [1, 4])
def test_ask_and_tell_is_the_same_search(width):
    config = ab.SearchConfig(selector=CONFIG.selector, width=width)
    judge = ab.Hashing()
    ran = searched(config, judge)
    [expected] = ran.searcher.run(ran, simulations=21)
    searcher = ab.Searcher(game(), ab.Asked(), config)
    root = searcher.root(searcher.game.start(), stream=0)
    batch = searcher.ask(root, simulations=21)
    while batch is not None:
        searcher.tell(*judge.evaluate(batch))
        batch = searcher.ask()
    assert told(root.result) == told(expected)


@pytest.mark.parametrize("width", [1, 3])
def test_an_analysis_in_slices_follows_one_plan(width):
    """The schedule is that of the whole budget, whatever the slices."""
    config = ab.SearchConfig(selector=ab.Gumbel(), width=width)
    state = game().start()
    analysis = ab.Analysis(state, simulations=150, evaluator=ab.Hashing(), config=config)
    slices = 1
    while analysis.advance(1e-9):
        slices += 1
    assert slices > 3
    assert told(analysis.result) == told(ab.search(state, simulations=150, evaluator=ab.Hashing(), config=config))


def test_a_saved_root_goes_on_with_the_same_noise(tmp_path):
    root = searched()
    root.searcher.run(root, simulations=20)
    root.advance(root.result.action)
    root.searcher.run(root, simulations=9)
    loaded = ab.Searcher(root.searcher.game, ab.Hashing(), CONFIG, threads=1).load(root.save(tmp_path / "root.npz"))
    results = [each.searcher.run(each, simulations=25)[0] for each in (root, loaded)]
    assert told(results[0]) == told(results[1])
    assert columns(root) == columns(loaded)


def test_a_failed_run_leaves_the_graph_and_the_next_one_plans_anew():
    calls = [0]

    def judge(batch: Any) -> Any:
        calls[0] += 1
        if calls[0] == 9:
            raise RuntimeError("no more")
        return ab.Hashing().evaluate(batch)

    root = searched(evaluator=judge)
    with pytest.raises(RuntimeError, match="no more"):
        root.searcher.run(root, simulations=20)
    root.graph.check()
    assert root.native.root_visits == 7
    [result] = root.searcher.run(root, simulations=20)
    assert result.visits.sum() == 27


# Budgets


@pytest.mark.parametrize("field", ["selector", "simultaneous"])
def test_a_time_is_refused(field):
    config = ab.SearchConfig(**{field: ab.Gumbel()})  # type: ignore[arg-type]
    state = game().start()
    for attempt in (
        lambda: ab.search(state, seconds=0.1, config=config),
        lambda: ab.Reference(state, ab.Uniform(), config).run(seconds=0.1),
        lambda: ab.Analysis(state, seconds=0.1, config=config),
        lambda: ab.SearchAgent(seconds=0.1, config=config),
    ):
        with pytest.raises(UsageError, match=r"needs their number: give simulations= or visits="):
            attempt()


# Playing


def test_the_agent_plays_the_winner():
    """And draws from the improved policy where a temperature is asked for."""
    agent = ab.SearchAgent(simulations=16, evaluator=ab.Hashing(), config=CONFIG)
    differs = 0
    for seed in range(40):
        turn = ab.Turn(game().start(), 0, seed)
        [result] = agent.results([turn])
        assert agent.choose([turn]) == [result.action]
        differs += result.action != int(np.argmax(result.policy[0]))
    assert differs > 0
    warm = ab.SearchAgent(simulations=16, evaluator=ab.Hashing(), config=CONFIG, temperature=1.0)
    assert len({warm.choose([ab.Turn(game().start(), 0, seed)])[0] for seed in range(30)}) > 1


def test_players_who_choose_at_once_have_a_schedule_each():
    state = RandomGame(seed=3, players=2, layers=3, width=3, simultaneous=1.0, chance=0.0).start()
    assert state.turn == (0, 1)
    config = ab.SearchConfig(selector=ab.Gumbel(considered=2))
    result = ab.search(state, simulations=20, evaluator=ab.Hashing(), config=config)
    for seat in (0, 1):
        sizes = min(2, len(state.legal(seat)))
        assert (result.visits[seat] > 0).sum() == sizes
        assert result.visits[seat].sum() == 20
        assert result.policy[seat].sum() == pytest.approx(1.0)
    assert isinstance(result.action, tuple)
    assert all(result.visits[seat, action] == result.visits[seat].max() for seat, action in enumerate(result.action))
