"""Plans in learned models: what models may say, what is refused and how, values by seat, latents of any library."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.imagined import STATES, Chain, Tables

import anabranch as ab
from anabranch.errors import ModelError, UsageError
from anabranch.play.plan_agent import PlanAgent

MUZERO = ab.SearchConfig(selector=ab.Puct(c_off=2.0, scale="node", first_play=ab.FirstPlay.lowest()))


class Line:
    """One action: 1, 2, 3, … with what is given; a hand case."""

    def __init__(self, rewards, values, discount=1.0, players=1, view="mover", movers=None):
        self.rewards, self.values, self.discount, self.players, self.view = rewards, values, discount, players, view
        self.actions, self.movers = 1, movers

    def initial(self, observations):
        at = np.zeros(len(observations), np.int64)
        return ab.Initial(
            at, None, np.array(self.values)[at], None, None if self.movers is None else np.array(self.movers)[at]
        )

    def recurrent(self, latent, action):
        at = latent + 1
        mover = None if self.movers is None else np.array(self.movers)[at]
        return ab.Transition(at, np.array(self.rewards)[at], None, np.array(self.values)[at], mover=mover)


def test_three_players_rewards_and_discounts_on_the_path():
    """Q of the root after two steps, by hand: rewards from the seat of who moved, values of who moves next."""
    rewards = [[0, 0, 0], [1.0, 0.5, -0.25], [2.0, 0.0, -1.0]]
    values = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]
    (result,) = ab.plan(Line(rewards, values, 0.5, 3, movers=[1, 2, 0]), [0], MUZERO, simulations=2)

    def seat(vector, mover):
        return np.array([vector[(s - mover) % 3] for s in range(3)])

    first, second = seat(values[1], 2), seat(values[2], 0)
    below = (first + (seat(rewards[2], 2) + 0.5 * second)) / 2
    root = (seat(values[0], 1) + 2 * (seat(rewards[1], 1) + 0.5 * below)) / 3
    np.testing.assert_allclose(result.value, root, atol=1e-7)
    assert result.visits[1, 0] == 2
    assert result.state.turn == (1,)


def test_rotations_compose_to_the_identity():
    dice = np.random.default_rng(0)
    values, movers = dice.normal(size=(50, 4)), dice.integers(0, 4, 50)
    np.testing.assert_array_equal(ab.to_mover(ab.to_seats(values, movers), movers), values)
    np.testing.assert_array_equal(ab.to_seats(ab.to_mover(values, movers), movers), values)


def test_scalar_models_of_two_players_speak_by_the_sign_of_the_discount():
    """The same game told three ways: by seats, by the mover's scalar, and by mctx's signs."""

    class Signs(Tables):
        def __init__(self, seed):
            super().__init__(seed, players=2, view="scalar", movers=True, discounts=True)
            self.again = np.random.default_rng(seed).random(STATES) < 0.3

        def recurrent(self, latent, action):
            told = super().recurrent(latent, action)
            sign = np.where(self.again[told.latent], 1.0, -1.0)
            return told._replace(discount=told.discount * sign, mover=None)

    signs = Signs(5)
    found = ab.plan(ab.TwoPlayer(signs), np.arange(6), MUZERO, simulations=50)
    np.testing.assert_array_equal(found.value[:, 0], -found.value[:, 1])

    class Negamax:
        """The plain recursion of a scalar model: q = r + d·v with d of either sign; one player for the engine."""

        players, actions, discount, view = 2, signs.actions, None, "seats"

        def initial(self, observations):
            at = np.asarray(observations) % STATES
            mover = signs.movers[at]
            mine = signs.values[at, 0].astype(np.float64)
            return ab.Initial((at, mover), signs.logits[at], self.seats(mine, mover), None, mover)

        def recurrent(self, latent, action):
            at, mover = latent
            told = signs.recurrent(at, action)
            after = np.where(told.discount > 0, mover, 1 - mover)
            rewards, values = told.reward[:, 0].astype(np.float64), told.value[:, 0].astype(np.float64)
            return ab.Transition(
                (told.latent, after), self.seats(rewards, mover), told.logits, self.seats(values, after),
                np.abs(told.discount), None, after,
            )  # fmt: skip

        @staticmethod
        def seats(mine, mover):
            return np.stack([np.where(mover == 0, mine, -mine), np.where(mover == 1, mine, -mine)], axis=1)

    expected = ab.plan(Negamax(), np.arange(6), MUZERO, simulations=50)
    assert found.visits.tolist() == expected.visits.tolist()
    np.testing.assert_array_equal(found.value, expected.value)


def test_roots_may_be_masked_where_nothing_else_is():
    model = Tables(1, actions=6)
    legal = np.zeros((4, 6), bool)
    legal[np.arange(4), [1, 2, 3, 4]] = legal[:, 5] = True
    found = ab.plan(model, np.arange(4), MUZERO, simulations=40, legal=legal)
    assert (found.visits[~legal] == 0).all()
    assert (found.visits.sum(axis=1) == 40).all()
    assert found[0].state.legal() == [1, 5]
    assert len(found[0].graph.node(found[0].graph.children(0)[0]).state.legal()) == 6


def test_a_plan_can_go_on():
    model = Tables(2, discounts=True)
    whole = ab.plan(model, np.arange(3), MUZERO, simulations=50)
    parts = ab.plan(model, np.arange(3), MUZERO, simulations=20)
    parts.run(simulations=30)
    assert parts.visits.tolist() == whole.visits.tolist()
    assert parts.simulations.tolist() == [30, 30, 30]
    parts.run(visits=60)
    assert parts.visits.sum(axis=1).tolist() == [60, 60, 60]
    parts.run(seconds=0.01)
    assert (parts.visits.sum(axis=1) >= 60).all()


def test_results_are_as_usual():
    model = Tables(3, players=2)
    found = ab.plan(model, np.arange(2), MUZERO, simulations=30)
    assert len(found) == 2
    assert found.action.shape == (2,)
    for at, result in enumerate(found):
        mover = int(result.state.turn_bits).bit_length() - 1
        assert result.action == found.action[at]
        assert result.simulations == 30
        np.testing.assert_array_equal(result.visits[mover], found.visits[at])
        np.testing.assert_array_equal(result.policy[mover], found.policy[at])
        np.testing.assert_array_equal(result.prior[mover], found.prior[at])
        np.testing.assert_array_equal(result.value, found.value[at])
        assert result.line
        assert "Tables" in str(result)
        assert "<svg" in result.graph.picture(depth=2).svg
        assert "<svg" in result.picture().svg
        assert '"value"' in result.to_json()
        result.graph.check()


def test_what_moves_on_or_is_saved_is_refused(tmp_path):
    found = ab.plan(Tables(3), [0], simulations=5)
    with pytest.raises(UsageError, match="plan from the next one"):
        found.roots[0].advance(0)
    with pytest.raises(UsageError, match="not saved"):
        found.roots[0].save(tmp_path / "plan")
    with pytest.raises(UsageError, match="only a plan steps through"):
        found[0].state.step(0)
    with pytest.raises(UsageError, match=r"planner\.plan"):
        found.planner.run(found.roots, simulations=3)


def said(model, **changes):
    """A model whose transitions are changed after a few steps."""

    class Changed(type(model)):  # type: ignore[misc]
        def recurrent(self, latent, action):
            told = super().recurrent(latent, action)
            return told._replace(**{k: v(told) for k, v in changes.items()}) if self.calls > 6 else told

    made = object.__new__(Changed)
    made.__dict__.update(model.__dict__)
    return made


def spoilt(column, number):
    def spoil(told):
        array = np.array(getattr(told, column), np.float64)
        array.reshape(-1)[-1] = number
        return array

    return {column: spoil}


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (4, 1), (2, 2)])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (spoilt("value", np.nan), "value is not finite"),
        (spoilt("value", 1e200), "beyond 1e100"),
        (spoilt("reward", np.inf), "reward is not a finite"),
        (spoilt("logits", np.nan), "logits are not finite"),
        (spoilt("logits", -np.inf), "logits are not finite"),
        (spoilt("discount", -0.5), r"discount does not lie in \[0, 1\]"),
        (spoilt("discount", np.nan), r"discount does not lie in \[0, 1\]"),
        ({"mover": lambda told: told.mover + 7}, "mover is none of the players"),
        ({"legal": lambda told: np.zeros_like(told.legal)}, "legal has no action"),
        ({"value": lambda told: told.value[:-1]}, r"value has shape"),
        ({"value": lambda told: told.value[:, :0]}, r"value has shape \(\d+, 0\), expected \(\d+, 1\)"),
        ({"logits": lambda told: told.logits[:, 1:]}, r"logits has shape \(\d+, 4\), expected \(\d+, 5\)"),
        ({"latent": lambda told: told.latent[:-1]}, r"latents have shape \(\d+,\), expected"),
        ({"latent": lambda told: told.latent + 0.5}, "latents have type float64, and those of initial int64"),
        ({"latent": lambda told: told.latent[:, None]}, r"latents have shape \(\d+, 1\), expected \(\d+,\): rows like"),
        ({"logits": lambda told: "no"}, "logits has type"),
        ({"legal": lambda told: told.legal * 0.5}, r"recurrent: legal is 0\.5 in row 0 for action 0"),
        ({"legal": lambda told: told.legal * np.nan}, "legal is nan in row 0 for action 0"),
        ({"legal": lambda told: -1 * told.legal}, "legal is -1 in row 0 for action 0"),
        ({"legal": lambda told: told.legal.astype(str)}, "legal has type <U5, expected bool"),
        ({"value": lambda told: None}, "value has type object"),
        ({"discount": lambda told: None}, r"discount is None, so recurrent says it step by step, and it gave none"),
        ({"mover": lambda told: told.mover + 0.5}, "mover has type float64, expected int64"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_changes(changes, words, width, depth):
    model = said(Tables(4, masks=True, discounts=True, movers=True), **changes)
    model.masks = True
    plain = Tables(4, masks=True, discounts=True, movers=True)
    for each in (model, plain):
        each.legal = np.ones_like(each.legal)
    config = ab.SearchConfig(selector=MUZERO.selector, width=width, depth=depth)
    twin = ab.plan(plain, np.arange(3), config, simulations=8)
    model.calls = -1000
    found = ab.plan(model, np.arange(3), config, simulations=8)
    assert found.visits.tolist() == twin.visits.tolist()
    before = [[search.nodes, search.root_visits] for search in found._searches]
    model.calls = 1000
    with pytest.raises((ModelError, ValueError), match=words) as raised:
        found.run(simulations=30)
    assert any("actions from root" in note for note in raised.value.__notes__)
    after = [[search.nodes, search.root_visits] for search in found._searches]
    assert not any(search.in_flight for search in found._searches)
    if width == 1:  # paths that ended at what is over were whole
        assert all(b >= a for a, b in zip(before, after, strict=True))
    model.calls = -1000
    found.run(visits=50)
    for result in found:
        result.graph.check()
        assert result.visits.sum() == 50


class Few:
    """One player, and nothing said but values, rewards and logits; one number is spoilt after some steps."""

    actions, discount = 3, 0.9

    def __init__(self, kind, column, number):
        self.kind, self.column, self.number, self.calls = kind, column, number, 0

    def initial(self, observations):
        return observations, np.zeros((len(observations), 3), self.kind), np.zeros(len(observations), self.kind)

    def recurrent(self, latent, action):
        self.calls += 1
        told = {"reward": latent * 0.1, "logits": np.outer(latent, [0.1, 0.2, 0.3]), "value": np.cos(latent + action)}
        told = {name: column.astype(self.kind) for name, column in told.items()}
        if self.calls > 6:
            told[self.column].reshape(-1)[-1] = self.number
        return latent + action + 1, *told.values()


@pytest.mark.parametrize(
    ("kind", "column", "number", "words"),
    [
        (kind, column, number, words)
        for kind in (np.float32, np.float64)
        for column, number, words in (
            ("value", np.nan, "value is not finite"),
            ("value", -np.inf, "value is not finite"),
            ("reward", np.nan, "reward is not a finite"),
            ("reward", -np.inf, "reward is not a finite"),
            ("logits", np.nan, "logits are not finite"),
            ("logits", np.inf, "logits are not finite"),
        )
    ]
    + [
        (np.float64, "value", -1.1e100, "beyond 1e100"),
        (np.float64, "reward", 3.5e38, "reward is not a finite number of float32"),
    ],
)
def test_columns_looked_at_as_a_whole_are_held_to_the_same(kind, column, number, words):
    """The last row is to blame, and named; the graphs are as before."""
    found = ab.plan(Few(kind, column, number), np.arange(5), simulations=5)
    visits, values = found.visits.copy(), found.value.copy()
    with pytest.raises(ModelError, match=rf"Few: .*{words}.*: row 4, after action \d"):
        found.run(simulations=10)
    assert (found.visits.sum(1) >= visits.sum(1)).all()
    again = ab.plan(Few(kind, "value", 0.0), np.arange(5), simulations=5)
    assert (again.visits == visits).all()
    assert (again.value == values).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_largest_numbers_that_can_be_are_taken(kind):
    """Rewards up to float32's largest, values up to 1e100 or that."""
    largest = float(np.finfo(np.float32).max)
    for column, number in (("reward", largest), ("value", -min(1e100, float(np.finfo(kind).max)))):
        assert ab.plan(Few(kind, column, number), np.arange(5), simulations=10).visits.sum() == 50


def test_a_model_that_raises_is_heard_and_nothing_changes():
    class Fickle(Tables):
        fails = False

        def recurrent(self, latent, action):
            if self.fails:
                raise RuntimeError("out of cards")
            return super().recurrent(latent, action)

    model, twin = Fickle(6), Tables(6)
    found = ab.plan(model, np.arange(3), MUZERO, simulations=10)
    expected = ab.plan(twin, np.arange(3), MUZERO, simulations=10)
    model.fails = True
    with pytest.raises(RuntimeError, match="out of cards") as raised:
        found.run(simulations=5)
    assert "Fickle was asked for 3 transitions; actions from root 0: " in raised.value.__notes__[0]
    assert [s.nodes for s in found._searches] == [s.nodes for s in expected._searches]
    model.fails = False
    found.run(simulations=30)
    expected.run(simulations=30)
    assert found.visits.tolist() == expected.visits.tolist()


class Broken(Chain):
    """A compiled model that goes wrong at latent 5, as it is told to."""

    how = 0

    def recurrent(self, latent, action, out):
        at = (7 * latent[0] + 3 * action + latent[1] + 1) % 40
        out.latent[0] = at
        out.latent[1] = latent[1] + 1
        out.discount = 0.9
        out.value[0] = self.values[at, 0]
        if at == 5 and self.how == 1:
            raise ValueError("five")
        if at == 5 and self.how == 2:
            out.value[0] = np.nan
        if at == 5 and self.how == 3:
            out.logits[1] = np.inf


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (4, 1), (2, 2)])
@pytest.mark.parametrize(
    ("how", "error", "words"),
    [(1, ValueError, "five"), (2, ModelError, "value is not finite"), (3, ModelError, "logits are not finite")],
)
def test_a_compiled_model_that_goes_wrong(how, error, words, width, depth):
    config = ab.SearchConfig(selector=MUZERO.selector, width=width, depth=depth)
    model = Broken(1)
    model.how = how
    planner = ab.Planner(model, config)
    with pytest.raises(error, match=words) as raised:
        planner.plan(np.arange(40), simulations=40)
    assert re.search(r"planning in Broken; actions from root \d+: \d", raised.value.__notes__[0])


def test_models_that_cannot_be():
    class Nothing:
        actions = 3

    with pytest.raises(UsageError, match="initial is missing"):
        ab.plan(Nothing(), [0], simulations=1)
    with pytest.raises(UsageError, match="make one"):
        ab.plan(Nothing, [0], simulations=1)
    model = Tables(1)
    for name, value, words in (
        ("actions", 0, "actions must be"),
        ("players", 0, "players must be"),
        ("discount", 2.0, "discount must lie"),
        ("discount", "0.9", "discount must lie"),
        ("returns", "ab", "returns must be two numbers"),
        ("returns", (1.0, -1.0), "returns must be two numbers"),
        ("returns", 3, "returns must be two numbers"),
        ("view", "sideways", "view is one of"),
        ("view", "scalar", "which is for two players"),
    ):
        other = Tables(1)
        setattr(other, name, value)
        with pytest.raises(UsageError, match=words):
            ab.plan(other, [0], simulations=1)
    with pytest.raises(ModelError, match="mover must be one of the players 0 to 0, and is 3 in row 1"):
        ab.plan(model, [0, 0], simulations=1, mover=[0, 3])
    with pytest.raises(ModelError, match=r"plan\(mover=…\): mover has type float64, expected int64"):
        ab.plan(model, [0], simulations=1, mover=[0.5])
    with pytest.raises(UsageError, match="simulations"):
        ab.plan(model, [0])
    giving = said(Tables(1), discount=lambda told: np.ones(len(told.latent)))
    giving.calls = 1000
    with pytest.raises(ModelError, match="set it to None"):
        ab.plan(giving, [0], simulations=3)
    with pytest.raises(UsageError, match="depth=1"):
        ab.plan(Tables(1, outcomes=3), [0], ab.SearchConfig(depth=2), simulations=3)
    with pytest.raises(UsageError, match="max_nodes"):
        ab.plan(Tables(1, outcomes=3), [0], ab.SearchConfig(max_nodes=9), simulations=3)


@pytest.mark.parametrize("bad", ["value", "logits"])
def test_initial_is_checked(bad):
    class Wrong(Tables):
        how = "shape"

        def initial(self, observations):
            told = super().initial(observations)
            array = getattr(told, bad)
            return told._replace(**{bad: array[:, :-1] if self.how == "shape" else array * np.nan})

    model = Wrong(1, players=2)
    with pytest.raises(ModelError, match=rf"initial: {bad} has shape \(2, \d\), expected \(2, \d\): a number for e"):
        ab.plan(model, [0, 1], simulations=1)
    model.how = "nan"
    with pytest.raises(ModelError, match=f"{bad}.*not finite"):
        ab.plan(model, [0, 1], simulations=1)


MASK = [[1, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize("kind", [bool, int, np.uint8, np.float32])
def test_a_mask_is_true_and_false_or_one_and_zero(kind):
    model = Tables(1, actions=3)
    expected = ab.plan(model, [0, 1], MUZERO, simulations=20, legal=np.array(MASK, bool))
    found = ab.plan(model, [0, 1], MUZERO, simulations=20, legal=np.array(MASK, kind).tolist())
    assert found.visits.tolist() == expected.visits.tolist()


@pytest.mark.parametrize("told_by", ["plan(legal=…)", "initial"])
@pytest.mark.parametrize(
    ("legal", "words"),
    [
        ([[1, 0, 1], [0, np.nan, 1]], r"legal is nan in row 1 for action 1; it is True or False, or 1 or 0"),
        ([[1, 0, 1], [0, 1, -1]], r"legal is -1 in row 1 for action 2"),
        ([[0.5, 0, 1], [0, 1, 1]], r"legal is 0\.5 in row 0 for action 0"),
        ([["1", "0", "1"], ["0", "1", "1"]], r"legal has type <U1, expected bool"),
        ([[None, 0, 1], [0, 1, 1]], r"legal has type object, expected bool"),
        ([[1, 0], [0, 1, 1]], r"legal is no array"),
        ([[True, False, True]], r"legal has shape \(1, 3\), expected \(2, 3\): true or false for every action"),
        ("yes", r"legal has"),
        ([[1, 0, 1], [0, 0, 0]], r"legal has no action in row 1; every root needs one"),
    ],
)
def test_a_mask_that_is_none_is_refused_by_row_and_action(legal, words, told_by):
    class Masked(Tables):
        def initial(self, observations):
            return super().initial(observations)._replace(legal=legal)

    kind, given = (Masked, None) if told_by == "initial" else (Tables, legal)
    with pytest.raises(ModelError, match=words) as raised:
        ab.plan(kind(1, actions=3), [0, 1], simulations=1, legal=given)
    assert f": {told_by}: legal" in str(raised.value)


@pytest.mark.parametrize("verb", ["initial", "recurrent", "chance"])
def test_values_of_two_players_have_two_columns(verb):
    """One number a row is an error that says what is expected, and how a scalar model says that it is one."""

    class Flat(Tables):
        def initial(self, observations):
            told = super().initial(observations)
            return told._replace(value=told.value[:, 0]) if verb == "initial" else told

        def recurrent(self, latent, action):
            told = super().recurrent(latent, action)
            return told if verb == "initial" else told._replace(value=told.value[:, 0])

        chance = recurrent

    model = Flat(1, players=2, outcomes=3 if verb == "chance" else 0)
    words = rf"Flat: {verb}: value has shape \(2,\), expected \(2, 2\): a number for each of 2 players, who moves first"
    with pytest.raises(ModelError, match=words) as raised:
        ab.plan(model, [0, 1], simulations=1)
    assert "view='scalar'" in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"legal": lambda told: told.legal * 0.5}, r"chance: legal is 0\.5 in row 0"),
        ({"discount": lambda told: told.discount[:1]}, r"chance: discount has shape \(1,\), expected \(3,\)"),
        ({"discount": lambda told: None}, "discount is None, so chance says it step by step, and it gave none"),
        ({"logits": lambda told: told.logits[0]}, r"chance: logits has shape \(5,\), expected \(3, 5\)"),
        ({"mover": lambda told: told.mover + 0.5}, "chance: mover has type float64"),
    ],
)
def test_stochastic_models_are_held_to_the_same(changes, words):
    model = said(Tables(4, masks=True, discounts=True, movers=True, outcomes=3), **changes)
    model.chance, model.calls = model.recurrent, 1000
    with pytest.raises(ModelError, match=words) as raised:
        ab.plan(model, np.arange(3), simulations=5)
    assert "actions from root" in raised.value.__notes__[0]


def test_chances_have_a_row_per_state():
    class Same(Tables):
        def afterstate(self, latent, action):
            return ab.Afterstate(latent, np.ones(3) / 3)

    with pytest.raises(ModelError, match=r"afterstate: chances has shape \(3,\), expected \(2, 3\)"):
        ab.plan(Same(1, outcomes=3), [0, 1], simulations=1)


def test_a_note_names_the_root_of_the_row_to_blame():
    """A mask that cannot be is looked at by row too: the note has that row's root, not the first one's."""

    class Odd(Tables):
        def recurrent(self, latent, action):
            told = super().recurrent(latent, action)
            legal = np.array(told.legal, float)
            legal[2, 4] = 7
            return told._replace(legal=legal)

    with pytest.raises(ModelError, match=r"legal is 7\.0 in row 2 for action 4") as raised:
        ab.plan(Odd(1, masks=True), [0, 1, 2], simulations=1)
    assert "actions from root 2: " in raised.value.__notes__[0]


@pytest.mark.parametrize("plain", [True, False])
def test_a_discount_that_nobody_says_is_an_error(plain):
    """`discount = None` promises one step by step; none was taken for 1."""

    class Silent(Tables):
        def recurrent(self, latent, action):
            told = super().recurrent(latent, action)
            return tuple(told[:4]) if plain else told._replace(discount=None)

    with pytest.raises(ModelError, match=r"set Silent\.discount to a number"):
        ab.plan(Silent(1, discounts=True), [0], simulations=1)
    with pytest.raises(ModelError, match=r"set Silent\.discount to γ"):
        ab.plan(ab.TwoPlayer(Silent(1, players=2, view="scalar", discounts=True)), [0], simulations=1)


def test_a_scalar_model_without_signs_hands_on_to_the_other_with_its_own_discount():
    """−γ of every step is what a model's `discount` of γ means there."""

    class Signed(Tables):
        def recurrent(self, latent, action):
            told = super().recurrent(latent, action)
            return told._replace(discount=np.full(len(told.value), -0.9))

    options: dict[str, Any] = {"players": 2, "view": "scalar"}
    plain = ab.plan(ab.TwoPlayer(Tables(3, **options)), np.arange(4), MUZERO, simulations=40)
    signed = ab.plan(ab.TwoPlayer(Signed(3, **options)), np.arange(4), MUZERO, simulations=40)
    assert plain.visits.tolist() == signed.visits.tolist()
    np.testing.assert_array_equal(plain.value, signed.value)


def test_proofs_are_refused_where_nothing_is_certain():
    with pytest.raises(UsageError, match="nothing that a learned model says is"):
        ab.plan(Tables(1), [0], ab.SearchConfig(proofs="on"), simulations=1)
    with pytest.raises(UsageError, match="nothing that a learned model says is"):
        PlanAgent(Tables(1), config=ab.SearchConfig(proofs="on"))
    assert ab.plan(Tables(1), [0], ab.SearchConfig(proofs="auto"), simulations=1).visits.sum() == 1


def test_latents_have_a_row_per_root():
    class Short(Tables):
        def initial(self, observations):
            told = super().initial(observations)
            return told._replace(latent=told.latent[:1])

    with pytest.raises(ModelError, match=r"latents have shape \(1,\), expected 3 rows"):
        ab.plan(Short(1), [0, 1, 2], simulations=1)


@pytest.mark.parametrize("kind", [list, np.array])
def test_every_observation_has_a_row(kind):
    """A model that forgets some would make a smaller plan than was asked for."""

    class Forgetful(Tables):
        def initial(self, observations):
            return super().initial(np.asarray(observations)[:-1])

    with pytest.raises(ModelError, match="Forgetful: initial gave 2 rows for 3 observations"):
        ab.plan(Forgetful(1), kind([0, 1, 2]), simulations=1)


def test_latents_take_memory_by_nodes_made():
    class Wide(Tables):
        def initial(self, observations):
            told = super().initial(observations)
            return told._replace(latent=(told.latent, np.zeros((len(told.latent), 100), np.float32)))

        def recurrent(self, latent, action):
            told = super().recurrent(latent[0], action)
            return told._replace(latent=(told.latent, latent[1] + 1))

    found = ab.plan(Wide(1, actions=441), np.arange(8), MUZERO, simulations=30)
    nodes = sum(search.nodes for search in found._searches)
    assert nodes == 8 * 31
    assert found.steps.bytes <= 2 * nodes * 408 + 16 * 408
    assert found.bytes < nodes * (408 * 2 + 441 * 4 * 2 + 4096)


def test_torch_models_plan_as_numpy_ones():
    torch = pytest.importorskip("torch")
    plain = Tables(7, players=2, discounts=True)

    class Torch:
        players, actions, discount = 2, plain.actions, None

        following, logits, values, rewards, steps = (
            torch.from_numpy(getattr(plain, name)) for name in ("following", "logits", "values", "rewards", "steps")
        )

        def initial(self, observations):
            at = torch.as_tensor(np.asarray(observations)) % STATES
            return ab.Initial((at, at.float().requires_grad_()), self.logits[at], self.values[at])

        def recurrent(self, latent, action):
            assert isinstance(action, torch.Tensor)
            assert isinstance(latent[0], torch.Tensor)
            at = self.following[latent[0], action]
            values = self.values[at].requires_grad_()
            return ab.Transition((at, latent[1] * 2), self.rewards[at], self.logits[at], values, self.steps[at])

    found = ab.plan(Torch(), np.arange(5), MUZERO, simulations=40)
    expected = ab.plan(plain, np.arange(5), MUZERO, simulations=40)
    assert found.visits.tolist() == expected.visits.tolist()
    np.testing.assert_array_equal(found.value, expected.value)


def test_arrays_that_are_not_written_to():
    """As JAX's: changed by array.at[…].set(…), joined by their namespace."""

    class Frozen:
        def __init__(self, array):
            self.array = np.array(array)
            self.array.flags.writeable = False
            self.shape, self.dtype, self.nbytes = self.array.shape, self.array.dtype, self.array.nbytes

        def __array__(self, dtype=None, copy=None):
            return self.array if dtype is None else self.array.astype(dtype)

        def __getitem__(self, where):
            return Frozen(self.array[np.asarray(where)] if not isinstance(where, slice) else self.array[where])

        @property
        def at(self):
            return Updater(self)

        def __array_namespace__(self):
            return Space

    class Updater:
        def __init__(self, owner, where=None):
            self.owner, self.where = owner, where

        def __getitem__(self, where):
            return Updater(self.owner, where)

        def set(self, rows):
            array = self.owner.array.copy()
            array[self.where] = np.asarray(rows)
            return Frozen(array)

    class Space:
        zeros = staticmethod(lambda shape, dtype: Frozen(np.zeros(shape, dtype)))
        concat = staticmethod(lambda arrays, axis: Frozen(np.concatenate([each.array for each in arrays], axis)))

    class Held(Tables):
        def initial(self, observations):
            told = super().initial(observations)
            return told._replace(latent=Frozen(told.latent))

        def recurrent(self, latent, action):
            told = super().recurrent(latent.array, action)
            return told._replace(latent=Frozen(told.latent), logits=Frozen(told.logits))

    found = ab.plan(Held(8), np.arange(4), MUZERO, simulations=30)
    assert found.visits.tolist() == ab.plan(Tables(8), np.arange(4), MUZERO, simulations=30).visits.tolist()


def test_a_planner_makes_many_plans_and_streams_differ():
    planner = ab.Planner(Tables(9), ab.SearchConfig(noise=ab.RootNoise(), seed=3))
    first, second = (planner.plan([0, 0], simulations=20) for _ in range(2))
    priors = {tuple(row) for each in (first, second) for row in each.prior.tolist()}
    assert len(priors) == 4  # noise of its own for every root
    again = ab.plan(Tables(9), [0, 0], ab.SearchConfig(noise=ab.RootNoise(), seed=3), simulations=20)
    assert again.visits.tolist() == first.visits.tolist()


def test_threads_find_the_same():
    config = ab.SearchConfig(selector=MUZERO.selector)
    for model in (Chain(2), Tables(2)):
        alone = ab.plan(model, np.arange(20), config, simulations=40)
        together = ab.plan(model, np.arange(20), config, simulations=40, threads=2)
        assert alone.visits.tolist() == together.visits.tolist()
