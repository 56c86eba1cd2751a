"""Symmetries as evaluators and learners use them: groups, images of examples, answers alike from every side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.networks import Duet, Network, after, batch_of, lines, seats_of

import anabranch as ab
from anabranch.errors import EvaluatorError, GameError, UnknownNameError, UsageError
from anabranch.evaluate.batch import evaluations

CENTRE = {"width": 3, "height": 3, "cheese": [(1, 1), (0, 2), (2, 0)], "max_turns": 12}
GAMES: dict[str, tuple[Any, int]] = {  # and the order of their groups
    "connect_four": (lambda: ab.games.load("connect_four"), 2),
    "tic_tac_toe": (lambda: ab.games.load("tic_tac_toe"), 8),
    "othello": (lambda: ab.games.load("othello", size=4), 4),
    "n_in_a_row": (lambda: ab.games.load("n_in_a_row", size=5, line=4, compiled=False), 8),
    "pyrat": (lambda: ab.games.load("pyrat", **CENTRE), 4),
    "goofspiel": (lambda: ab.games.load("goofspiel", cards=9, prizes="descending", compiled=False), 2),
    "duet": (Duet, 2),
}
MADE: dict[str, ab.Game] = {}


@pytest.fixture(params=GAMES)
def game(request) -> ab.Game:
    if request.param not in MADE:
        MADE[request.param] = GAMES[request.param][0]()
    return MADE[request.param]


def rows_of(answer: Any, states: list[ab.State]) -> list[tuple[Any, Any]]:
    """Return what is said about each state: its acting players' logits, and values."""
    logits, values = answer
    rows = []
    for number, state in enumerate(states):
        seats = list(seats_of(state))
        rows.append((logits[number, seats] if logits.ndim == 3 else logits[number][None], values[number]))
    return rows


def whole_rows(answer: Any, states: list[ab.State], game: ab.Game) -> list[tuple[Any, Any]]:
    """Return the same with logits `[P, A]`, zero for players who do not act."""
    made = []
    for (logits, values), state in zip(rows_of(answer, states), states, strict=True):
        table = np.zeros((game.players, game.actions))
        table[list(seats_of(state))] = logits
        made.append((table, values))
    return made


def image_of(symmetry: ab.Symmetry, table: Any, values: Any) -> tuple[Any, Any]:
    """Return an answer `[P, A]`, `[P]` relabelled: an action's number goes where the action goes, and so do seats."""
    moved, paid = np.empty_like(table), np.empty_like(values)
    for seat in range(len(values)):
        paid[symmetry.player(seat)] = values[seat]
        for action in range(table.shape[1]):
            moved[symmetry.player(seat), (symmetry.actions or range(table.shape[1]))[action]] = table[seat, action]
    return moved, paid


# Groups


def test_groups_have_the_known_orders(game, request):
    group = ab.symmetry_group(game)
    assert len(set(group)) == len(group) == GAMES[request.node.callspec.params["game"]][1]
    assert group[0].is_identity
    assert not any(symmetry.is_identity for symmetry in group[1:])


def test_a_group_is_closed_and_has_inverses(game):
    group = set(ab.symmetry_group(game))
    identity = ab.symmetry_group(game)[0]
    for one in group:
        assert one.inverse() in group
        assert one.then(one.inverse()) == one.inverse().then(one) == identity
        assert {one.then(other) for other in group} == group


def test_one_after_the_other_is_their_product():
    """A quarter turn, then a flip, of an observation and a policy, against doing it in two steps; parts may be None."""
    group = ab.symmetry_group(ab.games.load("tic_tac_toe"))
    planes, policy = np.arange(18.0).reshape(2, 3, 3), np.arange(9.0)
    for one in group:
        for other in group:
            both = one.then(other)
            assert np.array_equal(both.observation(planes), other.observation(one.observation(planes)))
            assert np.array_equal(both.policy(policy), other.policy(one.policy(policy)))
    swap = ab.Symmetry(players=(1, 0))
    assert swap.then(ab.Symmetry(actions=(1, 0))) == ab.Symmetry(players=(1, 0), actions=(1, 0))
    assert swap.inverse() == swap


class Half(Duet):
    """Lists a turn by a third of three actions without the turn by two thirds."""

    def symmetries(self) -> list[ab.Symmetry]:
        return [ab.Symmetry(actions=(1, 2, 0))]


def test_what_is_no_group_is_refused():
    with pytest.raises(GameError, match="number 1 followed by number 1 is not among them"):
        ab.symmetry_group(Half())


# Augmentation


def test_images_of_examples_are_what_play_shows(game):
    """Theorem: observing the image of a state is the image of observing it; the same for legal ids and whose turn."""
    for number, line in enumerate(lines(game, 12)):
        state = after(game, line)
        for seat in seats_of(state):
            mask = np.zeros(game.actions)
            mask[state.legal(seat)] = 1.0
            values = np.arange(game.players) + number
            examples = ab.augment(game, state.observe(seat), mask, values, seat)
            group = ab.symmetry_group(game)
            assert len(examples) == len(group)
            for symmetry, example in zip(group, examples, strict=True):
                there = after(game, line, symmetry)
                assert example.player in seats_of(there)
                assert np.array_equal(example.observation, there.observe(example.player))
                assert np.flatnonzero(example.policy).tolist() == there.legal(example.player)
                assert example.values[example.player] == values[seat]
                assert sorted(example.values) == sorted(values)


def test_batches_of_examples_are_their_rows(game):
    """And all players' views together are the views of each, in their new seats."""
    random = np.random.default_rng(1)
    states = [after(game, line) for line in lines(game, 5)]
    seats = np.array([seats_of(state)[-1] for state in states])
    seen = np.stack([state.observe(int(seat)) for state, seat in zip(states, seats, strict=True)])
    policy, values = random.random((5, game.actions)), random.random((5, game.players))
    together = ab.augment(game, seen, policy, values, seats)
    alone = [ab.augment(game, seen[row], policy[row], values[row], int(seats[row])) for row in range(5)]
    for number, batch in enumerate(together):
        for row in range(5):
            for part, expected in zip(batch, alone[row][number], strict=True):
                assert np.array_equal(part[row], expected)

    views = np.stack([np.stack([state.observe(seat) for seat in range(game.players)]) for state in states])
    policies = random.random((5, game.players, game.actions))
    joint = ab.augment(game, views, policies, values)
    for number, batch in enumerate(joint):
        assert batch.player is None
        for seat in range(game.players):
            mine = ab.augment(game, views[:, seat], policies[:, seat], values, np.full(5, seat))[number]
            there = int(mine.player[0])
            assert np.array_equal(batch.observation[:, there], mine.observation)
            assert np.array_equal(batch.policy[:, there], mine.policy)
            assert np.array_equal(batch.values, mine.values)
    (single,) = [ab.augment(game, views[0], policies[0], values[0])]
    for whole, one in zip(joint, single, strict=True):
        assert np.array_equal(whole.observation[0], one.observation)
        assert np.array_equal(whole.policy[0], one.policy)


@pytest.mark.parametrize(
    ("shapes", "player", "match"),
    [
        (((2, 3, 3), (9,), (3,)), 0, r"values of tic_tac_toe have shape \(3,\)"),
        (((2, 3, 3), (8,), (2,)), 0, r"shapes \(2, 3, 3\) and \(8,\)"),
        (((4, 2, 3, 3), (9,), (4, 2)), 0, "shapes"),
        (((2, 3, 3), (9,), (2,)), 2, "seats from 0 to 1"),
        (((2, 3, 3), (9,), (2,)), 0.5, "seats from 0 to 1"),
        (((2, 2, 3, 3), (2, 9), (2,)), 0, "leave player out"),
    ],
)
def test_examples_of_the_wrong_shape_are_refused(shapes, player, match):
    game = ab.games.load("tic_tac_toe")
    observation, policy, values = map(np.zeros, shapes)
    with pytest.raises(UsageError, match=match):
        ab.augment(game, observation, policy, values, player)


# Evaluation


def test_with_all_symmetries_the_answer_about_an_image_is_the_image_of_the_answer(game):
    """Theorem: f(g·s) = g·f(s), bit for bit, for every symmetry g, wherever a row stands in its batch."""
    evaluator = ab.Symmetric(Network(game), mode="all")
    played = lines(game, 12)
    states = [after(game, line) for line in played]
    said = whole_rows(evaluator.evaluate(batch_of(states)), states, game)
    for symmetry in ab.symmetry_group(game):
        images = [after(game, line, symmetry) for line in reversed(played)]
        found = whole_rows(evaluator.evaluate(batch_of(images)), images, game)
        for (table, values), answer in zip(found, reversed(said), strict=True):
            expected, paid = image_of(symmetry, *answer)
            assert table.tobytes() == expected.tobytes()
            assert values.tobytes() == paid.tobytes()


def test_with_all_symmetries_probabilities_and_values_are_means_over_the_states_that_play_reaches(game):
    network = Network(game)
    played = lines(game, 9)
    states = [after(game, line) for line in played]
    found = whole_rows(ab.Symmetric(network, mode="all").evaluate(batch_of(states)), states, game)
    group = ab.symmetry_group(game)
    for line, state, (table, values) in zip(played, states, found, strict=True):
        total, worth = np.zeros((game.players, game.actions)), np.zeros(game.players)
        for symmetry in group:
            there = after(game, line, symmetry)
            ((logits, paid),) = whole_rows(network.evaluate(batch_of([there])), [there], game)
            shares = np.zeros_like(total)
            for seat in seats_of(there):
                ids = there.legal(seat)
                shares[seat, ids] = np.exp(logits[seat, ids]) / np.exp(logits[seat, ids]).sum()
            back, mine = image_of(symmetry.inverse(), shares, paid)
            total += back / len(group)
            worth += mine / len(group)
        assert np.allclose(values, worth, rtol=0, atol=1e-12)
        for seat in seats_of(state):
            assert np.allclose(np.exp(table[seat]), total[seat], rtol=0, atol=1e-12)
            assert np.isneginf(np.delete(table[seat], state.legal(seat))).all()


def test_with_one_symmetry_the_answer_is_that_about_one_image_turned_back(game):
    """Bit for bit; which image depends on the state and the seed, and every symmetry has its turn."""
    network = Network(game)
    played = lines(game, 24)
    states = [after(game, line) for line in played]
    evaluator = ab.Symmetric(network, seed=3)
    found = whole_rows(evaluator.evaluate(batch_of(states)), states, game)
    group = ab.symmetry_group(game)
    chosen = evaluator.choices(batch_of(states), len(group)).tolist()
    for line, number, answer in zip(played, chosen, found, strict=True):
        there = after(game, line, group[number])
        ((logits, values),) = whole_rows(network.evaluate(batch_of([there])), [there], game)
        expected, paid = image_of(group[number].inverse(), logits, values)
        assert answer[0].tobytes() == expected.tobytes()
        assert answer[1].tobytes() == paid.tobytes()
    others = [ab.Symmetric(network, seed=seed).choices(batch_of(states), len(group)).tolist() for seed in (4, 5, 6)]
    assert all(other != chosen for other in others)
    assert set(sum(others, chosen)) == set(range(len(group)))


@pytest.mark.parametrize("mode", ["one", "all"])
def test_rows_do_not_depend_on_their_neighbours(game, mode):
    """Alone, in reverse, or among states where players choose at once: the same bits."""
    evaluator = ab.Symmetric(Network(game), mode=mode, seed=5)
    states = [after(game, line) for line in lines(game, 9)]
    together = whole_rows(evaluator.evaluate(batch_of(states)), states, game)
    backwards = whole_rows(evaluator.evaluate(batch_of(states[::-1])), states[::-1], game)[::-1]
    for state, one, other in zip(states, together, backwards, strict=True):
        ((logits, values),) = whole_rows(evaluator.evaluate(batch_of([state])), [state], game)
        assert one[0].tobytes() == other[0].tobytes()
        assert one[1].tobytes() == other[1].tobytes()
        assert one[0].tobytes() == logits.tobytes()
        assert one[1].tobytes() == values.tobytes()


def test_a_position_that_is_its_own_mirror_image_is_judged_evenly():
    """On the empty boards images fall together: mirrored moves have equal priors, which a network's are not."""
    for name, twins in {
        "connect_four": [(0, 6), (1, 5), (2, 4)],
        "tic_tac_toe": [(0, 2), (0, 6), (0, 8), (1, 3)],
    }.items():
        game = ab.games.load(name)
        logits, _ = ab.Symmetric(Network(game), mode="all").evaluate(batch_of([game.start()]))
        bare, _ = Network(game).evaluate(batch_of([game.start()]))
        for one, other in twins:
            assert logits[0, one] == logits[0, other]
            assert bare[0, one] != bare[0, other]


def test_in_a_game_whose_seats_are_alike_the_first_position_is_worth_the_same_to_both():
    game = MADE.get("pyrat") or GAMES["pyrat"][0]()
    _, values = ab.Symmetric(Network(game), mode="all").evaluate(batch_of([game.start()]))
    assert values[0, 0] == values[0, 1]


def test_a_search_asks_it_like_any_other_evaluator():
    """Engine and reference, one and all: the same visits."""
    state = ab.games.load("tic_tac_toe").start()
    for mode in ("one", "all"):
        evaluator = ab.Symmetric(Network(state.game), mode=mode)
        found = ab.search(state, simulations=60, evaluator=evaluator)
        expected = ab.Reference(state, evaluator).run(simulations=60)
        assert np.array_equal(found.visits, expected.visits)
        assert found.visits.sum() == 60


def test_networks_behind_it_need_no_states():
    """`ab.Network` checks the game before its first batch, which images know too."""
    state = ab.games.load("tic_tac_toe").start()

    def function(seen):
        flat = seen.reshape(len(seen), -1)
        return flat[:, :9], flat[:, :2]

    result = ab.search(state, simulations=20, evaluator=ab.Symmetric(ab.Network(function), "all"))
    assert result.visits.sum() == 20


def test_unlikely_actions_stay_possible():
    """Probabilities of e^-2000 are 0 in floating point, their logarithms are not."""
    state = ab.games.load("tic_tac_toe").start()

    def steep(batch):
        return np.tile(np.arange(9.0) * -2000.0, (len(batch), 1)), np.zeros((len(batch), 2))

    ((logits, _),) = rows_of(ab.Symmetric(steep, mode="all").evaluate(batch_of([state])), [state])
    assert np.isfinite(logits).all()
    assert logits[0, 0] == pytest.approx(np.log(2 / 8))  # a corner, which two of eight symmetries put first
    assert logits[0, 4] == pytest.approx(-8000.0)  # the middle stays where it is
    evaluations(ab.Symmetric(steep, mode="all"), batch_of([state]))


def test_no_logits_stay_no_logits():
    state = ab.games.load("connect_four").start()
    for mode in ("one", "all"):
        evaluator = ab.Symmetric(lambda batch: (None, batch.observations.reshape(len(batch), -1)[:, :2]), mode)
        logits, values = evaluator.evaluate(batch_of([state]))
        assert logits is None
        assert values.shape == (1, 2)


def test_logits_of_every_player_are_taken_where_one_moves():
    """`[B, P, A]` is allowed there too; the mover's row counts, also after a swap of seats."""
    game = Duet()
    states = [state for line in lines(game, 30) if len(seats_of(state := after(game, line))) == 1][:6]
    network = Network(game)

    def tables(batch):
        logits, values = network.evaluate(batch)
        made = np.full((len(batch), 2, 3), np.nan)
        made[np.arange(len(batch)), batch.movers] = logits
        return made, values

    for mode in ("one", "all"):
        plain, table = (ab.Symmetric(inner, mode).evaluate(batch_of(states)) for inner in (network, tables))
        assert np.array_equal(plain[0], table[0])
        assert np.array_equal(plain[1], table[1])


# Refusals


@pytest.mark.parametrize(
    "inner", [ab.Rollout(), ab.Hashing(), lambda batch: batch.keys], ids=["rollout", "hashing", "function"]
)
def test_evaluators_that_need_states_are_told_what_symmetries_map(inner):
    with pytest.raises(UsageError, match=r"needs states or node keys; symmetries map observations"):
        ab.search(ab.games.load("tic_tac_toe").start(), simulations=2, evaluator=ab.Symmetric(inner))


class Blind(Duet):
    """No observe verb."""

    observation = None  # type: ignore[assignment]
    observe = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("game", "match"),
    [
        (lambda: ab.games.load("take_away"), "no symmetries but the identity"),
        (lambda: ab.games.load("pyrat", **CENTRE, walls=[((0, 0), (1, 0))]), "no symmetries but the identity"),
        (Blind, "no observe verb"),
        (Half, "no group"),
    ],
)
def test_games_without_symmetries_are_refused_when_first_met(game, match):
    state = game().start()
    with pytest.raises((UsageError, GameError), match=match):
        ab.Symmetric(lambda batch: (None, np.zeros((len(batch), 2)))).evaluate(batch_of([state]))


def test_settings_are_checked():
    with pytest.raises(UnknownNameError, match="Did you mean 'all'"):
        ab.Symmetric("uniform", mode="al")
    with pytest.raises(UsageError, match="whole number"):
        ab.Symmetric("uniform", seed="x")  # type: ignore[arg-type]
    assert repr(ab.Symmetric("uniform", "all")) == "Symmetric(Uniform(value=0.0), mode='all', seed=0)"


def test_answers_that_are_none_are_refused():
    state = ab.games.load("tic_tac_toe").start()

    def wrong(logits, values):
        return ab.Symmetric(lambda batch: (np.zeros((len(batch), *logits)), np.zeros((len(batch), *values))), "all")

    with pytest.raises(EvaluatorError, match=r"logits have shape \(8, 8\), expected \(8, 9\) or \(8, 2, 9\)"):
        wrong((8,), (2,)).evaluate(batch_of([state]))
    with pytest.raises(EvaluatorError, match=r"values have shape \(8, 3\)"):
        wrong((9,), (3,)).evaluate(batch_of([state]))

    def one_in_eight(batch):
        logits = np.zeros((len(batch), 9))
        logits[3, 5] = np.nan
        return logits, np.zeros((len(batch), 2))

    with pytest.raises(EvaluatorError, match="row 0 under symmetry 3 of tic_tac_toe"):
        ab.Symmetric(one_in_eight, "all").evaluate(batch_of([state]))
