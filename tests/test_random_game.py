"""The generator of random games: every option does what it says, for every seed tried."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.game.random import key_of_bytes
from anabranch.games.random_game import RandomGame

SEEDS = range(40)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"players": 1, "chance": 0.5},
    {"players": 3, "simultaneous": 0.4, "choices": 2},
    {"simultaneous": 0.4, "zero_sum": True, "discount": 0.9},
    {"merge": False, "rewards_along": False},
    {"layers": 9, "width": 2},
]


def random_game(seed: int, **options: Any) -> RandomGame:
    return RandomGame(seed, **options, compiled=False)  # type: ignore[call-arg]


def edges(game: RandomGame) -> list[tuple[dict[str, Any], float, str, list[float]]]:
    """Return every (node, probability or 1, child, rewards) of a game."""
    found = []
    for node in game.table["nodes"].values():
        found += [(node, chance, child, rewards) for chance, child, rewards in node.get("outcomes", [])]
        found += [(node, 1.0, child, rewards) for _, child, rewards in node.get("edges", [])]
    return found


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_returns_are_the_range_of_what_paths_pay(options):
    """Every path is walked: the declared range holds them all and is not wider than needed."""
    for seed in SEEDS[:10]:
        game = random_game(seed, **options | {"width": min(options.get("width", 6), 3)})
        low, high = np.inf, -np.inf
        walks = [(game.start(), np.zeros(game.players), 1.0)]
        while walks:
            state, paid, factor = walks.pop()
            if state.over:
                low, high = min(low, paid.min()), max(high, paid.max())
                continue
            if state.turn == ab.CHANCE:
                steps: Any = [outcome for outcome, _ in state.outcomes()]
                step_factor = 1.0
            else:
                assert isinstance(state.turn, tuple)
                steps = itertools.product(*(state.legal(seat) for seat in state.turn))
                step_factor = game.discount
            for step in steps:
                following, rewards = state.step(step)
                walks.append((following, paid + factor * rewards, factor * step_factor))
        assert game.returns == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_numbers_are_exact(options):
    """Rewards survive rounding to float32 and probabilities add up to 1 without any rounding."""
    for seed in SEEDS:
        game = random_game(seed, **options)
        for _, _, child, rewards in edges(game):
            last = game.table["nodes"][child]["kind"] == "over"
            assert all(
                float(np.float32(reward)) == reward and abs(reward) <= (1.0 if last else 0.25) for reward in rewards
            )
            assert last or options.get("rewards_along", True) or not any(rewards)
        for node in game.table["nodes"].values():
            if node["kind"] == "chance":
                assert sum(chance for chance, _, _ in node["outcomes"]) == 1.0
                assert len(node["outcomes"]) >= 2


def test_kinds_of_nodes_come_in_the_shares_asked_for():
    counts: Counter[str] = Counter()
    for seed in range(150):
        for node in random_game(seed, players=3, chance=0.3, simultaneous=0.6).table["nodes"].values():
            counts[node["kind"]] += 1
            counts["together"] += len(node.get("acting", [])) > 1
    inner = counts["chance"] + counts["decision"]
    assert counts["chance"] / inner == pytest.approx(0.3, abs=0.05)
    assert counts["together"] / counts["decision"] == pytest.approx(0.6, abs=0.05)
    for node in random_game(0, chance=0.0, simultaneous=1.0).table["nodes"].values():
        assert node["kind"] == "over" or node["acting"] == [0, 1]
    assert all(node["kind"] != "decision" for node in random_game(0, chance=1.0).table["nodes"].values())


def test_lines_of_play_meet_unless_the_game_is_a_tree():
    meetings = 0
    for seed in SEEDS:
        arrivals = Counter(child for _, _, child, _ in edges(random_game(seed)))
        meetings += sum(count > 1 for count in arrivals.values())
        tree = random_game(seed, merge=False)
        assert set(Counter(child for _, _, child, _ in edges(tree)).values()) == {1}
        assert len(edges(tree)) == len(tree.table["nodes"]) - 1
    assert meetings > 5 * len(SEEDS)


def test_lines_of_different_length_meet():
    """Some node is reached after two different numbers of steps: a search must not tell states apart by depth."""
    meetings = 0
    for seed in SEEDS:
        depths: dict[str, set[int]] = {"n0_0": {0}}
        game = random_game(seed)
        for name, node in game.table["nodes"].items():  # parents come first
            for _, child, _ in node.get("outcomes", []) + node.get("edges", []):
                depths.setdefault(child, set()).update(depth + 1 for depth in depths[name])
        meetings += sum(len(lengths) > 1 for lengths in depths.values())
    assert meetings > len(SEEDS)


@pytest.mark.parametrize(
    "options", [{"simultaneous": 0.3}, {"chance_after_chance": 0.7}, {"loops": 0.4, "discount": 0.5}], ids=str
)
def test_every_node_can_be_reached(options):
    for seed in SEEDS:
        game = random_game(seed, zero_sum=True, **options)
        assert ab.solve(game).states == len(game.table["nodes"])


@pytest.mark.parametrize("size", [{"layers": 6, "width": 8}, {"layers": 4, "width": 60, "merge": False}], ids=str)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_dice_follow_dice_as_often_as_asked(share, size):
    """Counted where there is room for it: not in front of the last layer, which is over."""
    again, all_of_them, rows = 0, 0, Counter[int]()
    for seed in range(60):
        game = random_game(seed, chance=0.4, chance_after_chance=share, **size)
        in_a_row: Counter[str] = Counter()
        for name, node in reversed(game.table["nodes"].items()):  # children come first
            outcomes = [child for _, child, _ in node.get("outcomes", [])]
            in_a_row[name] = 1 + max(in_a_row[child] for child in outcomes) if outcomes else 0
            for child in outcomes if layer_of(name) < size["layers"] - 2 else []:
                all_of_them += 1
                again += game.table["nodes"][child]["kind"] == "chance"
        rows[max(in_a_row.values())] += 1
    assert again / all_of_them == pytest.approx(share, abs=0.06)
    assert (max(rows) == 1) if share == 0.0 else sum(count for row, count in rows.items() if row >= 3) > 15


def layer_of(name: str) -> int:
    return int(name[1:].split("_")[0])


LOOPS: list[dict[str, Any]] = [
    {"loops": 0.3, "discount": 0.9},
    {"loops": 0.3, "rewards_along": False, "cycles": 0.25},
    {"loops": 0.6, "discount": 0.5, "chance_after_chance": 0.7, "players": 1},
    {"loops": 1.0, "discount": 0.9, "zero_sum": True, "simultaneous": 0.3, "merge": False},
]


@pytest.mark.parametrize("options", LOOPS, ids=str)
def test_loops_lead_back_and_yet_random_play_ends(options):
    all_of_them, back, loops, lengths = 0, 0, Counter[str](), []
    for seed in SEEDS:
        game = random_game(seed, **options)
        for name, node in game.table["nodes"].items():
            entries = node.get("outcomes", []) + node.get("edges", [])
            returning = [layer_of(child) <= layer_of(name) for _, child, _ in entries]
            all_of_them, back = all_of_them + len(entries), back + sum(returning)
            loops[node["kind"]] += sum(child == name for _, child, _ in entries)
            assert not entries or not all(returning)
            if node["kind"] == "chance":
                assert not returning[int(np.argmax([p for p, _, _ in entries]))], "the likeliest outcome goes on"
        assert game.cycles in (options.get("cycles", "bootstrap"), None)
        loops["games"] += game.cycles is not None
        lengths.append(expected_length(game))
    assert 0.4 * options["loops"] < back / all_of_them < options["loops"]  # some edges must go on
    assert loops["chance"] > 10
    assert loops["decision"] > 10
    assert loops["games"] > 0.9 * len(SEEDS)
    assert max(lengths) < 1000, "steps, on average"


def expected_length(game: RandomGame) -> float:
    """Return the mean length of random games: (1 − T)⁻¹·1 of the chain of states that go on."""
    places = {name: place for place, name in enumerate(game.table["nodes"])}
    steps = np.zeros((len(places), len(places)))
    for name, node in game.table["nodes"].items():
        edges = [(p, child) for p, child, _ in node.get("outcomes", [])]
        edges += [(1.0 / len(node["edges"]), child) for _, child, _ in node.get("edges", [])]
        for p, child in edges:
            steps[places[name], places[child]] += p
    going_on = steps.sum(axis=1) > 0.0
    chain = np.eye(int(going_on.sum())) - steps[np.ix_(going_on, going_on)]
    return float(np.linalg.solve(chain, np.ones(len(chain)))[0])


@pytest.mark.parametrize("options", [*LOOPS, {"chance_after_chance": 0.8, "chance": 0.5}], ids=str)
def test_check_finds_nothing(options):
    for seed in range(4):
        report = ab.check(RandomGame(seed, **options), seconds=30.0, games=10)
        assert not report.violations
        assert report.games == 10


def test_lines_with_loops_pay_what_returns_say():
    """Long random games come near both ends of the range and never leave it."""
    nearest = []
    for seed in range(10):
        game = random_game(seed, players=1, layers=2, width=2, loops=0.6, discount=0.8)
        dice, paid = np.random.default_rng(seed), []
        for _ in range(150):
            state, total, factor = game.start(), 0.0, 1.0
            while not state.over:
                moves: Any = [o for o, _ in state.outcomes()] if state.turn == ab.CHANCE else state.legal(0)
                following, rewards = state.step(int(dice.choice(moves)))
                total += factor * rewards[0]
                factor *= 1.0 if state.turn == ab.CHANCE else game.discount
                state = following
            paid.append(total)
        low, high = game.returns
        assert low <= min(paid)
        assert max(paid) <= high
        nearest.append(max(min(paid) - low, high - max(paid)) / (high - low))
    assert np.median(nearest) < 0.2


def test_loops_of_dice_have_the_value_of_their_markov_chain():
    """Where nobody decides, V = (1 − T)⁻¹·r; the solver iterates, and agrees."""
    for seed in SEEDS[:20]:
        game = random_game(seed, players=1, chance=1.0, loops=0.5, rewards_along=False)
        nodes = game.table["nodes"]
        places = {name: place for place, name in enumerate(nodes)}
        chain, rewards = np.eye(len(nodes)), np.zeros(len(nodes))
        for name, node in nodes.items():
            for p, child, paid in node.get("outcomes", []):
                chain[places[name], places[child]] -= p
                rewards[places[name]] += p * paid[0]
        values = np.linalg.solve(chain, rewards)
        assert ab.solve(game).value[0] == pytest.approx(values[0], abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"players": 1, "discount": 0.9},
        {"players": 1, "rewards_along": False},
        {"zero_sum": True, "discount": 0.9, "simultaneous": 0.3},
        {"zero_sum": True, "rewards_along": False},
    ],
    ids=str,
)
def test_games_with_loops_can_be_solved(options):
    """One player, or two with opposite payoffs: the value is a fixed point, and within what is declared."""
    for seed in SEEDS[:15]:
        game = random_game(seed, loops=0.4, chance_after_chance=0.5, **options)
        solution = ab.solve(game)
        assert game.returns[0] <= solution.value.min() <= solution.value.max() <= game.returns[1]
        for name, node in game.table["nodes"].items():
            state = game.node(name)
            if node["kind"] == "decision" and len(node["acting"]) == 1:
                (worth,) = solution.action_values_of(state).values()
                assert np.nanmax(worth) == pytest.approx(solution.value_of(state)[node["acting"][0]], abs=1e-9)


def test_zero_sum_games_pay_what_they_take():
    for seed in SEEDS:
        assert all(
            sum(rewards) == 0.0 for _, _, _, rewards in edges(random_game(seed, zero_sum=True, simultaneous=0.3))
        )
        assert any(sum(rewards) != 0.0 for _, _, _, rewards in edges(random_game(seed)))


@pytest.mark.parametrize(
    "options",
    [{}, {"players": 3}, {"zero_sum": True, "discount": 0.9}, {"rewards_along": False, "merge": False}, {"players": 1}],
    ids=str,
)
def test_tie_free_games_have_no_ties(options):
    """The solver, which shares no code with the generator, finds all choices of a mover apart."""
    for seed in SEEDS[:25]:
        assert ab.solve(random_game(seed, tie_free=True, **options)).gap() >= 2.0**-8


def test_ties_do_occur_where_they_are_allowed():
    assert min(ab.solve(random_game(seed)).gap() for seed in SEEDS) == 0.0


def test_the_same_seed_gives_the_same_game_and_another_seed_another():
    assert random_game(5) == random_game(5)
    assert random_game(5) != random_game(6)
    assert repr(random_game(5, players=3)) == "random_game(5, players=3)"
    assert ab.games.load("random_game", seed=5) == RandomGame(5)


def test_games_do_not_change_between_releases():
    """Seeds in bug reports must keep their meaning; whoever changes the generator changes this number knowingly."""
    games = [random_game(seed, simultaneous=0.3, chance=0.3) for seed in range(5)]
    words = [
        key_of_bytes(game.instance[name].tobytes()) for game in games for name in ("children", "rewards", "chances")
    ]
    assert f"{key_of_bytes(b''.join(word.to_bytes(8, 'little') for word in words)):016x}" == "ea84e63450363fa9"
    looping = [random_game(seed, chance_after_chance=0.6, loops=0.4, discount=0.9) for seed in range(5)]
    words = [
        key_of_bytes(game.instance[name].tobytes()) for game in looping for name in ("children", "rewards", "chances")
    ]
    assert f"{key_of_bytes(b''.join(word.to_bytes(8, 'little') for word in words)):016x}" == "9a4f17c39c8c6d72"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 0}, "players must be"),
        ({"chance": 1.5}, "chance must be a number from 0 to 1"),
        ({"players": 3, "zero_sum": True}, "two players"),
        ({"players": 1, "simultaneous": 0.5}, "at least two"),
        ({"tie_free": True, "simultaneous": 0.5}, "gap"),
        ({"tie_free": True, "rewards_along": False, "width": 1, "chance": 0.0}, "no tie-free game"),
        ({"choices": 64}, "from 1 to 63"),
        ({"chance_after_chance": -0.1}, "chance_after_chance must be a number from 0 to 1"),
        ({"loops": 2.0}, "loops must be a number from 0 to 1"),
        ({"loops": 0.5}, "pay without end"),
        ({"loops": 0.5, "discount": 2.0, "rewards_along": False}, "discount must be a number from 0 to 1"),
        ({"loops": 0.5, "discount": 0.9, "tie_free": True}, "leave one out"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        RandomGame(**options)
