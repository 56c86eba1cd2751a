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


def test_every_node_can_be_reached():
    for seed in SEEDS:
        game = random_game(seed, simultaneous=0.3, zero_sum=True)
        assert ab.solve(game).states == len(game.table["nodes"])


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 0}, "players must be"),
        ({"chance": 1.5}, "chance is a share"),
        ({"players": 3, "zero_sum": True}, "two players"),
        ({"players": 1, "simultaneous": 0.5}, "at least two"),
        ({"tie_free": True, "simultaneous": 0.5}, "gap"),
        ({"tie_free": True, "rewards_along": False, "width": 1, "chance": 0.0}, "no tie-free game"),
        ({"choices": 64}, "from 1 to 63"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        RandomGame(**options)
