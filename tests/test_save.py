"""A saved search: the same as one that never stopped, and no file that is not one can pass for it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import DataError, UsageError
from anabranch.search.diagnosis.signature import CASES, Case, Race, visits
from anabranch.search.engine import saved
from anabranch.search.engine.saved import pack, unpack

SAVED_CASES = [case for case in CASES if case.game != Race.title]


def everything(root: ab.Root) -> list[np.ndarray[Any, Any]]:
    """Return all that later searches depend on."""
    column = root.graph.columns
    return [*visits(root.graph), *(column[name] for name in ("value", "evaluation", "kind", "key"))]


def searched(game: Any, evaluator: Any = None, simulations: int = 200, **settings: Any) -> ab.Root:
    searcher = ab.Searcher(game, evaluator or ab.Hashing(), ab.SearchConfig(**settings), threads=1)
    root = searcher.root(game.start())
    searcher.run(root, simulations=simulations)
    return root


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The columns of a small search of tic-tac-toe."""
    path = searched(ab.games.load("tic_tac_toe"), simulations=30).save(tmp_path_factory.mktemp("saved") / "root.npz")
    return unpack(path.read_bytes(), path)


def load_columns(tmp_path: Path, columns: dict[str, Any], game: Any = None) -> ab.Root:
    """Write columns as a file with a good checksum, and load it."""
    path = tmp_path / "made.npz"
    path.write_bytes(pack(columns))
    return ab.Searcher(game or ab.games.load("tic_tac_toe"), ab.Hashing(), threads=1).load(path)


# The same as never saved


@pytest.mark.parametrize("case", SAVED_CASES, ids=lambda case: case.game)
def test_a_loaded_root_goes_on_as_if_it_had_never_been_saved(case: Case, tmp_path):
    """After saving, loading and more search, visits, values and bytes are those of one long search."""
    half = min(case.simulations // 2, 400)
    game = case.make()
    searcher = ab.Searcher(game, case.evaluator, case.config, threads=1)
    whole = searcher.root(game.start())
    searcher.run(whole, simulations=half)
    stopped = ab.Searcher(game, case.evaluator, case.config, threads=1).load(whole.save(tmp_path / "root.npz"))
    assert stopped.graph.bytes == whole.graph.bytes
    for one, other in zip(everything(stopped), everything(whole), strict=True):
        np.testing.assert_array_equal(one, other)
    searcher.run(whole, simulations=half)
    stopped.searcher.run(stopped, simulations=half)
    stopped.graph.check()
    for one, other in zip(everything(stopped), everything(whole), strict=True):
        np.testing.assert_array_equal(one, other)
    assert stopped.graph.bytes == whole.graph.bytes


def test_a_root_can_be_saved_before_it_is_searched_and_after_its_game_is_over(tmp_path):
    game = ab.games.load("tic_tac_toe")
    searcher = ab.Searcher(game, ab.Uniform(), threads=1)
    state = game.start()
    fresh = searcher.load(searcher.root(state).save(tmp_path / "fresh.npz"))
    assert len(fresh.graph) == 1
    assert searcher.run(fresh, simulations=10)[0].simulations == 10
    for action in (0, 3, 1, 4, 2):
        state, _ = state.step(action)
    assert searcher.load(searcher.root(state).save(tmp_path / "over.npz")).state == state


def test_equal_searches_make_equal_files(tmp_path):
    game = ab.games.load("connect_four")
    one, other = (searched(game).save(tmp_path / name).read_bytes() for name in ("one.npz", "other.npz"))
    assert one == other


def test_a_loaded_root_keeps_its_random_numbers_and_new_roots_get_others(tmp_path):
    game = ab.games.load("connect_four")
    searcher = ab.Searcher(game, ab.Rollout(), threads=1)
    searcher.root(game.start())
    path = searcher.root(game.start()).save(tmp_path / "root.npz")
    another = ab.Searcher(game, ab.Rollout(), threads=1)
    loaded, fresh = another.load(path), another.root(game.start())
    assert (loaded.stream, fresh.stream) == (1, 2)


def test_roots_on_other_instances_are_loaded_for_them(tmp_path):
    first, second = (ab.games.load("pyrat", preset="tiny", seed=seed) for seed in (0, 1))
    searcher = ab.Searcher(first, ab.Uniform(), threads=1)
    root = searcher.root(second.start())
    searcher.run(root, simulations=50)
    path = root.save(tmp_path / "root.npz")
    assert searcher.load(path, game=second).graph.columns["visits"][0] == 51
    with pytest.raises(DataError, match="other parameters"):
        searcher.load(path)


def test_the_file_is_a_plain_archive_of_arrays(tmp_path):
    root = searched(ab.games.load("connect_four"))
    with np.load(root.save(tmp_path / "root.npz"), allow_pickle=False) as archive:
        assert archive["visits"][0] == 201
        assert json.loads(bytes(archive["header"]))["game"] == "connect_four"


# Damage


def test_one_flipped_bit_anywhere_is_detected(tmp_path):
    path = searched(ab.games.load("take_away", stones=5), simulations=10).save(tmp_path / "root.npz")
    data = bytearray(path.read_bytes())
    for bit in range(len(data) * 8):
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DataError):
            unpack(bytes(data), path)
        data[bit // 8] ^= 1 << bit % 8
    unpack(bytes(data), path)


def test_a_file_cut_short_or_grown_is_detected(tmp_path):
    path = searched(ab.games.load("take_away", stones=5), simulations=10).save(tmp_path / "root.npz")
    data = path.read_bytes()
    for length in range(len(data)):
        with pytest.raises(DataError):
            unpack(data[:length], path)
    with pytest.raises(DataError):
        unpack(data + b"\0", path)


def test_what_does_not_exist_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        ab.Searcher(ab.games.load("tic_tac_toe")).load(tmp_path / "nothing.npz")


# Files made to deceive: their checksums are right


def test_no_column_changed_by_hand_crashes_the_engine(columns, tmp_path):
    """Refused, or else a graph that holds its invariants and can be searched: many changes of each column."""
    random = np.random.default_rng(0)
    refused = 0
    for name in saved.COLUMNS:
        for trial in range(36):
            changed = {key: column.copy() for key, column in columns.items()}
            raw = changed[name].reshape(-1).view(np.uint8)
            if not raw.size:
                continue
            if trial % 3 == 0:
                raw[random.integers(raw.size)] ^= 1 << random.integers(8)
            elif trial % 3 == 1:
                raw[:] = random.permutation(changed[name].reshape(-1)).view(np.uint8)
            else:
                changed[name] = changed[name][: random.integers(len(changed[name]))]
            try:
                root = load_columns(tmp_path, changed)
                root.searcher.run(root, simulations=20)
                root.graph.check()
            except DataError:
                refused += 1
    assert refused > 300


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("parents", value) for value in (0, 1, 9, 2**32 - 1)),
        *(("children", value) for value in (0, 1, 10**6, 2**32 - 1)),
        *(("moves", value) for value in (8, 9, 2**31, 2**32 - 1)),
        *(("edge_counts", value) for value in (0, 10, 2**31, 2**32 - 1)),
        *(("visits", value) for value in (0, 2**31, 2**32 - 1)),
        *(("edge_visits", value) for value in (0, 2**31, 2**32 - 1)),
        *(("free", value) for value in (10**6, 2**31, 2**32 - 1)),
        *(("means", value) for value in (np.nan, np.inf)),
        *(("evaluations", value) for value in (np.nan, -np.inf)),
        *(("edge_values", value) for value in (np.nan, np.inf)),
        *(("priors", value) for value in (np.nan, 0.0, -1.0, 2.0)),
        *(("low", value) for value in (np.nan, -np.inf)),
        ("records", 0),
    ],
)
def test_impossible_entries_are_refused(name, value, columns, tmp_path):
    for place in (1, -1):
        changed = {key: column.copy() for key, column in columns.items()}
        flat = changed[name].reshape(-1)
        if flat[place] == value:
            continue
        flat[place] = value
        with pytest.raises(DataError, match=r"made\.npz"):
            load_columns(tmp_path, changed)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1},
        {"format": "1"},
        {"game": "chess"},
        {"identity": "0" * 64},
        {"stream": -1},
        {"stream": 2**64},
        {"stream": "0"},
        {"nodes": 3},
        {"edges": 10**9},
        {"evaluator": "Uniform(value=0.0)"},
        {"config": {}},
        {"config": []},
        {"surprise": 1},
        {"game": None},
    ],
)
def test_headers_that_lie_are_refused(change, columns, tmp_path):
    plain = json.loads(columns["header"].tobytes()) | change
    header = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    with pytest.raises(DataError, match=r"made\.npz"):
        load_columns(tmp_path, columns | {"header": header})


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"9" * 10_000, b" " * 2_000_000])
def test_headers_that_are_none_are_refused(text, columns, tmp_path):
    with pytest.raises(DataError):
        load_columns(tmp_path, columns | {"header": np.frombuffer(text, np.uint8)})


@pytest.mark.parametrize("root", [b"", bytes(7), bytes(9), b"\xff" * 8, b"\x07" * 8])
def test_roots_that_are_no_states_are_refused(root, columns, tmp_path):
    with pytest.raises(DataError):
        load_columns(tmp_path, columns | {"root": np.frombuffer(root, np.uint8)})


def remade(data: bytes, change: Any) -> bytes:
    """Return an archive written again, each member as `change` gives it, with a good checksum."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.infolist():
            for name, content, kind in change(member.filename, old.read(member)):
                new.writestr(name, content, kind)
        new.comment = saved.MARK + b"0" * saved.DIGITS
    body = buffer.getvalue()[: -saved.DIGITS]
    return body + hashlib.sha256(body).hexdigest().encode()


def array_bytes(array: Any, pickled: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=pickled)
    return buffer.getvalue()


STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda name, data: [(name, data, DEFLATED)], id="compressed"),
        pytest.param(lambda name, data: [(name + "x", data, STORED)], id="other names"),
        pytest.param(lambda name, data: [(name, data[:-1], STORED)], id="a byte too few"),
        pytest.param(lambda name, data: [(name, data + b"\0", STORED)], id="a byte too many"),
        pytest.param(lambda name, data: [(name, b"", STORED)], id="empty"),
        pytest.param(lambda name, data: [(name, data.replace(b"<u4", b"<i4"), STORED)], id="signed"),
        pytest.param(lambda name, data: [(name, data.replace(b"False", b"True "), STORED)], id="by columns"),
        pytest.param(lambda name, data: [(name, data.replace(b"(", b"(99999999999,"), STORED)], id="large"),
        pytest.param(lambda name, data: [(name, array_bytes(np.array([{}]), True), STORED)], id="pickled"),
        pytest.param(lambda name, data: [] if "free" in name else [(name, data, STORED)], id="a column missing"),
        pytest.param(lambda name, data: [(name, data, STORED), ("more" + name, data, STORED)], id="too many"),
    ],
)
def test_archives_that_are_not_ours_are_refused(change, columns, tmp_path):
    path = tmp_path / "made.npz"
    with pytest.raises(DataError, match=r"made\.npz"):
        unpack(remade(pack(columns), change), path)
    assert unpack(remade(pack(columns), lambda name, data: [(name, data, STORED)]), path).keys() == columns.keys()


# Another game, evaluator, way of searching


def test_another_game_evaluator_or_setting_is_named(tmp_path):
    game = ab.games.load("connect_four")
    path = searched(game).save(tmp_path / "root.npz")
    with pytest.raises(DataError, match="a search of connect_four, this searcher plays othello"):
        ab.Searcher(ab.games.load("othello"), ab.Hashing()).load(path)
    with pytest.raises(DataError, match="other parameters"):
        ab.Searcher(ab.games.load("connect_four", rows=5), ab.Hashing()).load(path)
    with pytest.raises(DataError, match="searched with hashing, this one is hashing:seed=1"):
        ab.Searcher(game, ab.Hashing(seed=1)).load(path)
    config = ab.SearchConfig(selector=ab.Puct(c_init=2.0))
    with pytest.raises(DataError, match=r"config\.selector\.c_init = 1\.25, this searcher has 2\.0"):
        ab.Searcher(game, ab.Hashing(), config).load(path)
    assert ab.Searcher(game, ab.Hashing()).load(path).graph.columns["visits"][0] == 201


def rules(most: int) -> Any:
    """Return a game whose parameters do not tell its rules."""

    class Piles(ab.CompiledGame):
        title = "piles"

        def __init__(self) -> None:
            self.players, self.actions = 1, 3
            self.state = ab.record(left=np.int64)

        def setup(self, state: Any, random: Any) -> None:
            state.left = 6

        def turn(self, state: Any) -> int:
            return ab.player(0) if state.left > 0 else ab.OVER

        def legal(self, state: Any, player: int, actions: Any) -> int:
            for action in range(most):
                actions[action] = action
            return most

        def step(self, state: Any, actions: Any, rewards: Any) -> None:
            state.left -= 1 + actions[0] if most > 1 else 2
            rewards[0] = 1.0

    return Piles().interpreted()


def test_rules_that_changed_since_are_found_out(tmp_path):
    path = searched(rules(3), simulations=10).save(tmp_path / "root.npz")
    ab.Searcher(rules(3), ab.Hashing()).load(path)
    for most in (1, 2):
        with pytest.raises(DataError, match=r"by these rules|rules of piles"):
            ab.Searcher(rules(most), ab.Hashing()).load(path)


def test_object_games_say_why_they_cannot_be_saved(tmp_path):
    root = searched(Race(), ab.Uniform(), 10)
    with pytest.raises(UsageError, match="object game"):
        root.save(tmp_path / "root.npz")
    assert not list(tmp_path.iterdir())
    path = searched(ab.games.load("tic_tac_toe")).save(tmp_path / "root.npz")
    with pytest.raises(DataError, match="this searcher plays race"):
        ab.Searcher(Race(), ab.Hashing()).load(path)


RULED = [
    {"noise": ab.RootNoise(), "forced": ab.ForcedPlayouts()},
    {"selector": ab.Gumbel(considered=4)},
    {"selector": ab.Gumbel(), "simultaneous": ab.Gumbel(considered=3)},
]


@pytest.mark.parametrize("settings", RULED, ids=["noise", "gumbel", "gumbel at once"])
@pytest.mark.parametrize("name", ["connect_four", "goofspiel"])
def test_a_loaded_root_tells_what_it_told(name, settings, tmp_path):
    """What held at the root (noise, forced visits, the plan of a Gumbel run) is part of its result."""
    game = ab.games.load(name)
    for seed in range(4):
        root = searched(game, simulations=40, seed=seed, **settings)
        again = ab.Searcher(game, ab.Hashing(), root.searcher.config, threads=1).load(root.save(tmp_path / "root"))
        told, found = root.result, again.result
        for part in ("policy", "target", "prior", "visits", "q", "value"):
            np.testing.assert_array_equal(getattr(found, part), getattr(told, part), part)
        assert (found.action, found.line) == (told.action, told.line)


# Roots that moved on


@pytest.mark.parametrize("width", [1, 8])
def test_a_root_that_moved_on_is_saved_with_its_noise_and_numbers(tmp_path, width):
    """Saved after a move, with noise on its priors: brought back and searched on it is what it would have been."""
    game = ab.games.load("connect_four")
    config = ab.SearchConfig(noise=ab.RootNoise(), forced=ab.ForcedPlayouts(), width=width, seed=5)
    searcher = ab.Searcher(game, ab.Hashing(), config, threads=1)
    root = searcher.root(game.start(), stream=7)
    searcher.run(root, simulations=300)
    root.advance(3)
    searcher.run(root, simulations=100)
    root.save(tmp_path / "root")
    loaded = ab.Searcher(game, ab.Hashing(), config, threads=1).load(tmp_path / "root")
    assert (loaded.root_number, loaded.stream) == (1, 7)
    (expected,) = searcher.run(root, simulations=200)
    (found,) = loaded.searcher.run(loaded, simulations=200)
    assert found.visits.tolist() == expected.visits.tolist()
    assert found.prior.tolist() == expected.prior.tolist()
    assert found.graph.columns["visits"].tolist() == expected.graph.columns["visits"].tolist()


def test_a_root_of_merged_states_that_moved_on_is_not_saved(tmp_path):
    """Its nodes may hold states that other ways led to, which the rules would not find again."""
    game = ab.games.load("pig", target=8, sides=4)
    searcher = ab.Searcher(game, ab.Hashing(), threads=1)
    root = searcher.root(game.start())
    searcher.run(root, simulations=50)
    root.save(tmp_path / "before")
    while not isinstance(root.state.turn, tuple):
        root.advance(root.state.outcomes()[0][0])
    root.advance(root.state.legal()[0])
    with pytest.raises(UsageError, match="key"):
        root.save(tmp_path / "after")
    assert not (tmp_path / "after").exists()
