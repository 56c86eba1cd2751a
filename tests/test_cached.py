"""A cache around an evaluator: the same answers to the last bit, within its bounds, whoever asks."""

from __future__ import annotations

import copy
import gc
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
from tests.networks import Duet, Network, after, batch_of, lines, seats_of

import anabranch as ab
from anabranch.errors import EvaluatorError, UsageError
from anabranch.evaluate.batch import Batch, evaluations
from anabranch.evaluate.cached import Cached

PYRAT = {"width": 3, "height": 3, "cheese": [(1, 1), (0, 2), (2, 0)], "max_turns": 12}
GAMES: dict[str, Any] = {
    "connect_four": lambda: ab.games.load("connect_four"),
    "pyrat": lambda: ab.games.load("pyrat", **PYRAT),
    "duet": Duet,
}
MADE: dict[str, ab.Game] = {}


def made(name: str) -> ab.Game:
    if name not in MADE:
        MADE[name] = GAMES[name]()
    return MADE[name]


@pytest.fixture(params=GAMES)
def game(request) -> ab.Game:
    return made(request.param)


def some_states(game: ab.Game, count: int) -> list[ab.State]:
    """Return distinct decision states."""
    found: dict[Any, ab.State] = {}
    seed = 0
    while len(found) < count:
        for line in lines(game, count, seed):
            state = after(game, line)
            found.setdefault(state.data, state)
        seed += 1
    return list(found.values())[:count]


def bits(answer: Any, states: list[ab.State]) -> list[tuple[bytes, ...]]:
    """Return what the search reads of an answer: acting players' logits and values, as bytes of doubles."""
    logits, values = (np.asarray(part, np.float64) for part in answer)
    rows: list[tuple[bytes, ...]] = []
    for row, state in enumerate(states):
        seats = list(seats_of(state))
        mine = logits[row, seats] if logits.ndim == 3 else logits[row][None]
        rows.append((mine.tobytes(), values[row].tobytes()))
    return rows


def same_result(one: ab.Result, other: ab.Result) -> bool:
    return all(
        getattr(one, part).tobytes() == getattr(other, part).tobytes()
        for part in ("visits", "policy", "q", "prior", "value")
    ) and (one.nodes == other.nodes)


# The law: nothing changes


def test_searches_find_the_same_with_and_without(game):
    """And a second search with the same cache asks the network nothing."""
    network = Network(game)
    cache = Cached(network)
    for line in lines(game, 3):
        state = after(game, line)
        expected = ab.search(state, simulations=150, evaluator=Network(game))
        assert same_result(ab.search(state, simulations=150, evaluator=cache), expected)
        rows = sum(network.asked)
        assert same_result(ab.search(state, simulations=150, evaluator=cache), expected)
        assert sum(network.asked) == rows == cache.statistics.misses
        assert same_result(ab.Reference(state, cache).run(simulations=150), expected)


@pytest.mark.parametrize("entries", [1, 3, 1000])
def test_any_sequence_of_batches_gets_the_bits_of_the_evaluator(game, entries):
    """Repeated rows, repeated batches, rows thrown out in between, rows where one and where both players choose."""
    states = some_states(game, 12)
    random = np.random.default_rng(2)
    network = Network(game)
    cache = Cached(network, entries=entries)
    for _ in range(40):
        chosen = [states[i] for i in random.integers(0, len(states), random.integers(1, 9))]
        assert bits(cache.evaluate(batch_of(chosen)), chosen) == bits(Network(game).evaluate(batch_of(chosen)), chosen)
        assert cache.statistics.entries <= entries
        evaluations(cache, batch_of(chosen))
    found = cache.statistics
    assert found.misses == sum(network.asked)
    assert found.entries + found.evictions == found.misses
    assert (found.evictions == 0) == (entries == 1000)


def test_what_is_not_known_goes_to_the_evaluator_once_and_in_order():
    states = some_states(made("connect_four"), 6)
    asked: list[list[bytes]] = []

    def note(batch):
        asked.append([state.data for state in batch.states])
        return np.zeros((len(batch), 7)), np.zeros((len(batch), 2))

    cache = Cached(note)
    a, b, c, d, e, _ = states
    cache.evaluate(batch_of([b, d]))
    cache.evaluate(batch_of([e, b, a, e, d, c, a]))
    cache.evaluate(batch_of([a, b, c, d, e]))
    assert asked == [[s.data for s in batch] for batch in ([b, d], [e, a, c])]
    assert (cache.statistics.hits, cache.statistics.misses) == (4 + 5, 5)


@pytest.mark.parametrize("attribute", ["legal", "observations", "movers", "seats", "keys"])
def test_the_smaller_batch_says_of_its_rows_what_the_whole_one_does(game, attribute):
    """Also after the whole batch has been looked at, which is kept."""
    if attribute == "keys" and isinstance(game, Duet):
        return  # which are refused, see below
    states = some_states(game, 8)
    for looked in (False, True):
        seen: list[Any] = []
        cache = Cached(lambda batch, seen=seen: (None, (seen.append(batch), np.zeros((len(batch), 2)))[1]))
        cache.evaluate(batch_of(states[2:5]))
        whole = batch_of(states)
        if looked:
            getattr(whole, attribute)
        cache.evaluate(whole)
        rows = [0, 1, 5, 6, 7]
        expected = getattr(whole, attribute)
        found = getattr(seen[1], attribute)
        assert len(seen[1]) == 5
        assert seen[1].joint == whole.joint
        for one, row in zip(found, rows, strict=True):
            assert np.array_equal(one, expected[row])


class Engine(Batch):
    """A batch that holds records, as the engine's does: whoever asks it for states is slow."""

    def __init__(self, states: list[ab.State]) -> None:
        records = np.frombuffer(b"".join(state.data for state in states), np.uint8).reshape(len(states), -1)
        vars(self).update(records=records, game=states[0].game, whole=batch_of(states))

    def __len__(self) -> int:
        return len(vars(self)["records"])

    @property
    def states(self) -> Any:
        raise AssertionError("no states on the hot path")

    joint = property(lambda self: vars(self)["whole"].joint)
    movers = property(lambda self: vars(self)["whole"].movers)
    seats = property(lambda self: vars(self)["whole"].seats)
    legal = property(lambda self: vars(self)["whole"].legal)
    observations = property(lambda self: vars(self)["whole"].observations)


@pytest.mark.parametrize("name", ["connect_four", "pyrat"])
def test_records_are_read_where_a_batch_has_them(name):
    """States and records are the same keys; symmetries need no states either."""
    game = made(name)
    states = some_states(game, 8)
    for wrap in (Cached, lambda inner: Cached(ab.Symmetric(inner, "all")), lambda inner: ab.Symmetric(Cached(inner))):
        network = Network(game)
        evaluator = wrap(network)
        evaluator.evaluate(batch_of(states[:5]))
        rows = sum(network.asked)
        assert bits(evaluator.evaluate(Engine(states)), states) == bits(
            wrap(Network(game)).evaluate(batch_of(states)), states
        )
        assert (sum(network.asked) - rows) * 5 == rows * 3


# Symmetries and a cache


@pytest.mark.parametrize("mode", ["one", "all"])
def test_a_cache_outside_or_inside_symmetries_changes_nothing(game, mode):
    """Inside, an entry belongs to a state and a symmetry; outside, to a state."""
    states = some_states(game, 10)
    expected = bits(ab.Symmetric(Network(game), mode, seed=1).evaluate(batch_of(states)), states)
    for wrap in (
        lambda inner: Cached(ab.Symmetric(inner, mode, seed=1)),
        lambda inner: ab.Symmetric(Cached(inner), mode, seed=1),
    ):
        network = Network(game)
        evaluator = wrap(network)
        for _ in range(2):
            for part in (states[:4], states[2:8], states):
                assert (
                    bits(evaluator.evaluate(batch_of(part)), part)
                    == expected[: len(states)][states.index(part[0]) : states.index(part[-1]) + 1]
                )
        per_state = len(ab.symmetry_group(game)) if mode == "all" else 1
        assert sum(network.asked) == 10 * per_state


# Bounds


def test_what_was_not_used_for_longest_goes_first():
    states = some_states(made("connect_four"), 4)
    network = Network(made("connect_four"))
    cache = Cached(network, entries=2)
    a, b, c, d = states

    def asks(*rows: ab.State) -> int:
        network.asked.clear()
        cache.evaluate(batch_of(list(rows)))
        return sum(network.asked)

    assert asks(a, b) == 2
    assert asks(a) == 0
    assert asks(c) == 1  # and b goes
    assert asks(a) == 0
    assert asks(b) == 1  # and c goes
    assert asks(a, b) == 0
    assert asks(a, b, c, d) == 2  # more than fit: the last two stay
    assert asks(c, d) == 0
    assert str(cache.statistics) == "8 of 14 rows known (57.1%); 2 entries in 0.0 MB, 4 evicted"


def test_bytes_are_an_honest_bound():
    """What Python really allocates, by its own count, stays below what the cache says, and not far below."""
    game = ab.games.load("connect_four", compiled=False)
    data = game.start().data

    def batches(count: int):
        for start in range(0, count, 64):
            rows = [ab.State(game, data[:-8] + number.to_bytes(8, "little")) for number in range(start, start + 64)]
            yield Batch(rows, range(64))

    zeros = (np.zeros((64, 7), np.float32), np.zeros((64, 2), np.float32))
    for bound, count in ((10**9, 704), (10**9, 2752), (200_000, 4096), (200_064, 1024)):
        cache = Cached(lambda batch: zeros, bytes=bound)
        cache.evaluate(next(batches(64)))
        cache.clear()
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for batch in batches(count):
            cache.evaluate(batch)
        del batch
        gc.collect()  # what waits to be freed is not the cache's
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        found = cache.statistics
        assert found.bytes <= bound
        assert 0.7 * found.bytes < taken < 1.05 * found.bytes
        assert found.entries + found.evictions == count


def test_an_answer_larger_than_the_bound_is_given_and_not_kept():
    states = some_states(made("connect_four"), 3)
    cache = Cached(Network(made("connect_four")), bytes=10)
    assert bits(cache.evaluate(batch_of(states)), states) == bits(
        Network(made("connect_four")).evaluate(batch_of(states)), states
    )
    assert (cache.statistics.entries, cache.statistics.bytes, cache.statistics.evictions) == (0, 0, 3)


# Games


def test_games_do_not_mix_and_equal_games_share():
    """Two mazes whose states have the same bytes are told apart; the same maze made again is not."""
    one, again = (ab.games.load("pyrat", **PYRAT) for _ in range(2))
    other = ab.games.load("pyrat", **{**PYRAT, "walls": [((0, 0), (1, 0))]})
    assert one.start().data == other.start().data
    asked: list[ab.Game] = []

    def worth(batch):
        asked.append(batch.states[0].game)
        return None, np.full((len(batch), 2), float(batch.observations.sum()))

    cache = Cached(worth)
    values = [cache.evaluate(batch_of([game.start()]))[1][0, 0] for game in (one, other, again, one, other)]
    assert asked == [one, other]
    assert values == [values[0], values[1], values[0], values[0], values[1]]
    assert values[0] != values[1]


def test_object_games_made_from_lists_are_games_of_their_own():
    """They cannot be hashed; each is equal to itself alone, and nothing leaks when their entries go."""
    one, other = Duet([1, 1, 1, 1, 1, 1]), Duet([2, 2, 2, 2, 2, 2])
    network = Network(one)
    cache = Cached(network, entries=1)
    for game in (one, one, other, other, one):
        cache.evaluate(batch_of([game.start()]))
    assert network.asked == [1, 1, 1]
    assert len(cache._shelves) == 1


# Threads


def test_eight_threads_share_one_cache():
    game = made("connect_four")
    states = some_states(game, 60)
    expected = bits(Network(game).evaluate(batch_of(states)), states)
    cache = Cached(Network(game), entries=25)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        try:
            for _ in range(30):
                chosen = random.integers(0, len(states), 8).tolist()
                batch = [states[i] for i in chosen]
                if bits(cache.evaluate(batch_of(batch)), batch) != [expected[i] for i in chosen]:
                    wrong.append(chosen)
                if cache.statistics.entries > 25:
                    wrong.append(cache.statistics)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    found = cache.statistics
    assert found.hits + found.misses == 8 * 30 * 8
    assert found.hits > 0
    assert found.entries == 25
    assert found.bytes == 25 * (found.bytes // 25)  # entries of one game are alike


def test_what_was_on_its_way_when_the_cache_was_cleared_is_not_kept():
    """The network may have learned meanwhile."""
    game = made("connect_four")
    cache: Cached

    def learning(batch):
        cache.clear()
        return np.zeros((len(batch), 7)), np.zeros((len(batch), 2))

    cache = Cached(learning)
    cache.evaluate(batch_of([game.start()]))
    assert cache.statistics.entries == 0
    kept = Cached(Network(game))
    kept.evaluate(batch_of([game.start()]))
    kept.clear()
    assert str(kept.statistics) == "0 of 0 rows known; 0 entries in 0.0 MB, 0 evicted"


# Failures


class Failing:
    """Raises, or answers nonsense, at one call."""

    def __init__(self, inner: Network, at: int, answer: Any = None) -> None:
        self.inner, self.at, self.answer, self.calls = inner, at, answer, 0

    def evaluate(self, batch: Batch) -> Any:
        self.calls += 1
        if self.calls != self.at:
            return self.inner.evaluate(batch)
        if self.answer is None:
            raise RuntimeError("out of memory")
        return self.answer(*self.inner.evaluate(batch))


def nowhere(logits: Any, values: Any) -> Any:
    return logits, np.full_like(values, np.nan)


def forbidden(logits: Any, values: Any) -> Any:
    return np.full_like(logits, -np.inf), values


def short(logits: Any, values: Any) -> Any:
    return logits[1:], values


@pytest.mark.parametrize("answer", [None, nowhere, forbidden, short])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_call_that_fails_leaves_the_cache_as_it_was(at, answer):
    """By an exception, or by an answer that the search refuses."""
    game = made("connect_four")
    states = some_states(game, 9)
    cache = Cached(Failing(Network(game), at, answer), entries=5)
    batches = [batch_of(states[:3]), batch_of(states[2:6]), batch_of([states[4], *states[6:]])]
    for number, batch in enumerate(batches, start=1):
        before = (cache.statistics, list(cache._known.items()))
        if number == at:
            with pytest.raises(RuntimeError if answer is None else EvaluatorError):
                evaluations(cache, batch)
            assert (cache.statistics, list(cache._known.items())) == before
        evaluations(cache, batch)
    assert bits(cache.evaluate(batch_of(states)), states) == bits(Network(game).evaluate(batch_of(states)), states)


def test_masked_logits_are_kept():
    """−∞ where illegal is how networks mask; it is an answer like any other."""
    game = ab.games.load("tic_tac_toe")
    states = some_states(game, 6)

    def masked(batch):
        return np.where(batch.legal, 0.5, -np.inf), np.zeros((len(batch), 2))

    cache = Cached(masked)
    for _ in range(2):
        assert bits(cache.evaluate(batch_of(states)), states) == bits(masked(batch_of(states)), states)
    assert cache.statistics.hits == 6


def test_no_logits_are_kept_as_none():
    states = some_states(made("connect_four"), 3)
    cache = Cached("uniform")
    for _ in range(2):
        logits, values = cache.evaluate(batch_of(states))
        assert logits is None
        assert values.tolist() == [[0.0, 0.0]] * 3
    assert cache.statistics.hits == 3
    moody = Cached(lambda batch: (None if len(batch) > 1 else np.zeros((1, 7)), np.zeros((len(batch), 2))))
    moody.evaluate(batch_of(states[:2]))
    with pytest.raises(EvaluatorError, match="some states and None for others"):
        moody.evaluate(batch_of(states))


# Refusals


def test_rollouts_are_refused_where_the_cache_is_made():
    for inner in (ab.Rollout(), "rollout:count=2", ab.Symmetric(ab.Rollout())):
        with pytest.raises(UsageError, match="depend on the seed of a search"):
            Cached(inner)


def test_evaluators_that_read_seeds_are_refused_when_they_do():
    with pytest.raises(UsageError, match=r"reads batch\.seeds"):
        Cached(lambda batch: (None, np.array([[seed, 0.0] for seed in batch.seeds]))).evaluate(
            batch_of([made("connect_four").start()])
        )


def test_node_keys_of_object_games_are_refused():
    """They follow the path; those of records follow the state, so Hashing can be kept."""
    with pytest.raises(UsageError, match="an object game, those depend on the way"):
        Cached(ab.Hashing()).evaluate(batch_of([Duet().start()]))
    state = made("connect_four").start()
    expected = ab.search(state, simulations=100, evaluator=ab.Hashing())
    assert same_result(ab.search(state, simulations=100, evaluator=Cached(ab.Hashing())), expected)


def test_bounds_are_checked():
    for bounds in ({"entries": 0}, {"bytes": -1}, {"entries": 2.5}):
        with pytest.raises(UsageError, match="positive number of"):
            Cached("uniform", **bounds)
    with pytest.raises(UsageError, match="bound the cache by entries"):
        Cached("uniform", bytes=1000).evaluate(batch_of([Duet().start()]))
    assert repr(Cached("uniform", entries=5)) == "Cached(Uniform(value=0.0), entries=5)"
    assert repr(copy.copy(Cached("uniform", bytes=5))) == "Cached(Uniform(value=0.0), bytes=5)"
