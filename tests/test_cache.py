"""Object code on disk: when it is used, when it is made again, and what happens when it is damaged or homeless."""

import gc
import hashlib
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from llvmlite import binding as llvm
from tests.compiler_helpers import Small

import anabranch as ab
from anabranch.game.native import cache, compiler, loader, unit
from anabranch.game.native.cache import ObjectCode
from anabranch.game.native.constants import Constants
from anabranch.game.native.entries import ENTRIES, Layout
from anabranch.game.native.fingerprint import fingerprint
from anabranch.game.native.reachable import Reachable


@pytest.fixture
def compilations(monkeypatch, tmp_path):
    """A folder of its own, nothing in memory, and a list that grows with every compilation."""
    made = []
    compile_entries = compiler.compile_entries

    def counted(game, entries, *rest):
        made.append(tuple(entries))
        return compile_entries(game, entries, *rest)

    monkeypatch.setattr(compiler, "compile_entries", counted)
    monkeypatch.setattr(unit, "_memory", {})
    monkeypatch.setattr(cache, "_warned", False)
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "kept"))
    return made


def files(folder=None):
    return sorted(Path(folder or cache.folder()).iterdir())


def restart():
    """Forget what is in memory, as a new process has."""
    unit._memory.clear()


def play(game):
    state = game.start()
    state.legal()
    return state.step(0)[0]


# In one process.


def test_what_was_compiled_once_is_loaded_from_then_on(compilations):
    games = []
    for _ in range(3):
        games.append(Small())
        assert play(games[-1]).ply == 1
        restart()
        gc.collect()
    assert compilations == [("turn", "legal", "step")]
    assert len(files()) == 1
    assert [play(game).ply for game in games] == [1, 1, 1]  # code stays for as long as a game that runs it


def test_threads_that_start_together_compile_once(compilations):
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: play(Small()).ply, range(8))) == [1] * 8
    assert len(compilations) == 1


def test_a_hundred_mazes_are_one_compilation(compilations):
    """Values of an instance are data; its shapes are code."""
    walks = {walk(ab.games.load("pyrat", preset="tiny", seed=seed)) for seed in range(100)}
    assert len(walks) > 50
    assert len(compilations) == 1
    walk(ab.games.load("pyrat", preset="small"))
    assert len(compilations) == 2


def walk(game):
    """Where a fixed list of moves leads; in another maze, elsewhere."""
    state = game.start()
    for moves in [(0, 2), (1, 3), (0, 2), (0, 3), (1, 2), (1, 3)] * 4:
        state, _ = state.step(moves)
    return state.data


def test_observe_is_compiled_when_first_asked_for(compilations):
    game = ab.games.load("tic_tac_toe")
    play(game)
    assert compilations == [("turn", "legal", "step")]
    for _ in range(2):
        game.start().observe()
    assert compilations == [("turn", "legal", "step"), ("observe",)]


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "other", "symbol"])
def test_a_damaged_file_is_replaced_without_a_word(compilations, damage):
    play(Small())
    [path] = files()
    whole = path.read_bytes()
    if damage == "symbol":  # intact, but made where a function existed that this process does not have
        kept = cache.decode(whole)
        assert kept is not None
        broken = cache.encode(ObjectCode(kept.symbols, ("no_such_function",), kept.code))
    else:
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 4
        broken = {"flip": bytes(flipped), "cut": whole[:-1], "empty": b"", "other": b"something else"}[damage]
    path.write_bytes(broken)
    restart()
    assert play(Small()).ply == 1
    assert len(compilations) == 2
    assert cache.decode(path.read_bytes()) is not None
    assert path.read_bytes() != broken


def test_every_changed_byte_is_noticed():
    """Law: a file is read exactly as it was written, or not at all."""
    kept = ObjectCode({"turn": "anabranch_turn"}, ("memset",), b"\x7fELF" + bytes(range(64)))
    data = cache.encode(kept)
    assert cache.decode(data) == kept
    for index in range(len(data)):
        for changed in (data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :], data[:index]):
            assert cache.decode(changed) is None


def test_a_folder_that_cannot_be_written_to_costs_one_warning(compilations, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "file" / "kept"))
    with pytest.warns(RuntimeWarning, match="set ANABRANCH_CACHE to a folder that can be written to"):
        assert play(Small()).ply == 1
    restart()
    assert play(Small()).ply == 1  # a second warning would be an error here
    assert len(compilations) == 2


@pytest.mark.parametrize("home", [None, "here"])
def test_whoever_has_no_home_has_no_cache_and_one_warning(compilations, monkeypatch, tmp_path, home):
    """A container's user is in no list of users. Nothing is kept in the current folder: code is loaded from there."""
    monkeypatch.chdir(tmp_path)
    for name in ("ANABRANCH_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA", "HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    if home is None:
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does for such a user
    else:
        monkeypatch.setenv("HOME", home)
    with pytest.warns(RuntimeWarning, match=r"no home folder.*; set ANABRANCH_CACHE to a folder that can be written"):
        assert play(Small()).ply == 1
    restart()
    assert play(Small()).ply == 1
    assert len(compilations) == 2
    assert not list(tmp_path.iterdir())


def test_a_cache_folder_of_the_system_is_absolute_or_ignored(monkeypatch, tmp_path):
    """As the XDG specification wants it."""
    monkeypatch.delenv("ANABRANCH_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.folder() == tmp_path / ".cache" / "anabranch"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert cache.folder() == tmp_path / "other" / "anabranch"


def test_the_folder_is_bounded_and_what_was_used_last_stays(compilations, monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "LIMIT", 3000)
    kept = ObjectCode({}, (), bytes(900))
    for number in range(5):
        cache.write(f"{number:064}", kept)
        os.utime(cache.folder() / f"{number:064}.object", (1000 + number, 1000 + number))
    left = cache.folder() / "0000-1-1.tmp"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    assert cache.read(f"{2:064}") == kept  # used just now
    cache.write(f"{5:064}", kept)
    assert [int(path.stem) for path in files()] == [2, 4, 5]


def test_code_with_an_unknown_symbol_is_refused_instead_of_ending_the_process():
    text = """
        declare i32 @no_such_function()
        define i32 @anabranch_turn() {
          %result = call i32 @no_such_function()
          ret i32 %result
        }
    """
    code = loader.target_machine().emit_object(llvm.parse_assembly(text))
    for listed in ((), ("no_such_function",)):
        with pytest.raises(loader.MissingSymbolError, match=r"no_such_function|anabranch_turn"):
            loader.load(ObjectCode({"turn": "anabranch_turn"}, listed, code))


# What a fingerprint tells apart.


def name_of(game, verb="step"):
    function = getattr(type(game), verb)
    made = ENTRIES[verb].make({verb: function})
    return fingerprint({verb: ENTRIES[verb]}, Layout.of(game), Constants("game", Reachable([function, made])))


FACTOR = 2


def step(self, state, actions, rewards):
    state.ply += FACTOR


def test_a_fingerprint_ignores_places_and_values(monkeypatch):
    game = type("A", (Small,), {"step": step})
    before = name_of(game())
    moved = step.__code__.replace(co_firstlineno=900, co_filename="elsewhere.py")
    other = type("B", (Small,), {"step": FunctionType(moved, globals())})
    assert name_of(other()) == before


class Sized(Small):
    def __init__(self, shape=3, actions=4, **fields):
        super().__init__()
        self.actions = actions
        self.table = np.zeros(shape)
        self.state = ab.record(ply=np.int64, **fields)


def sized(verb=step, **sizes):
    return name_of(type("Game", (Sized,), {"step": verb})(**sizes))


def helped(helper):
    return lambda self, state, actions, rewards: helper(state)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"shape": 4}),
        ({}, {"actions": 5}),
        ({}, {"more": np.int8}),
        ({}, {"verb": lambda self, state, actions, rewards: state.ply + FACTOR}),
        ({"verb": lambda self, state, actions, rewards: 3}, {"verb": lambda self, state, actions, rewards: 4}),
        ({"verb": lambda self, state, actions, rewards: 1}, {"verb": lambda self, state, actions, rewards: 1.0}),
        ({"verb": helped(lambda state: state.ply)}, {"verb": helped(lambda state: state.ply + 1)}),
    ],
)
def test_a_fingerprint_sees_code_and_layout(one, other):
    assert sized(**one) == sized(**one)
    assert sized(**one) != sized(**other)


@pytest.mark.parametrize("value", [3, 2.0, True, np.int8(2), np.array([2]), (2,), None])
def test_a_fingerprint_sees_globals(monkeypatch, value):
    before = sized()
    monkeypatch.setitem(globals(), "FACTOR", value)
    assert sized() != before


def test_a_fingerprint_sees_versions_and_settings(monkeypatch):
    names = {sized()}
    monkeypatch.setenv("NUMBA_OPT", "1")
    names.add(sized())
    monkeypatch.setattr("anabranch.game.native.fingerprint.machine", lambda: ("another",))
    names.add(sized())
    assert len(names) == 3


# Over several processes.

GAME = """
import sys
import numpy as np
import anabranch as ab
import helping

class Doubling(ab.CompiledGame):
    def __init__(self):
        self.players, self.actions = 1, 2
        self.state = ab.record(total=np.int64)
    def turn(self, state):
        return ab.player(0)
    def legal(self, state, player, actions):
        actions[0] = 0
        return 1
    def step(self, state, actions, rewards):
        state.total = helping.next_total(state.total)

if __name__ == "__main__":
    state = Doubling().start()
    for _ in range(3):
        state, _ = state.step(0)
    print(state.total, "numba" in sys.modules)
"""
HELPER = "STEP = {step}\ndef next_total(total):\n    return 2 * total + STEP\n"


def start(folder, *arguments):
    environment = os.environ | {"ANABRANCH_CACHE": str(folder / "kept"), "PYTHONPATH": str(folder)}
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder, *arguments):
    process = start(folder, *arguments)
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert not error
    return out.split()


def test_processes_share_code_and_see_a_helper_change(tmp_path):
    """Two processes that start at once leave a good cache; the next one loads it without Numba; an edit is seen."""
    (tmp_path / "game.py").write_text(GAME)
    (tmp_path / "helping.py").write_text(HELPER.format(step=1))
    together = [start(tmp_path, "game.py") for _ in range(2)]
    for process in together:
        out, error = process.communicate(timeout=120)
        assert (process.returncode, error) == (0, "")
        assert out.split()[0] == "7"  # 0 → 1 → 3 → 7
    assert run(tmp_path, "game.py") == ["7", "False"]
    [path] = files(tmp_path / "kept")
    assert cache.decode(path.read_bytes()) is not None

    (tmp_path / "helping.py").write_text(HELPER.format(step=10))
    assert run(tmp_path, "game.py") == ["70", "True"]
    assert run(tmp_path, "-c", "import helping, game; print(game.Doubling().start().step(0)[0].total)") == ["10"]
    assert len(files(tmp_path / "kept")) == 2


def test_code_without_a_file_is_compiled_and_kept(tmp_path):
    """As typed into a session: no source, no module, still one compilation."""
    (tmp_path / "helping.py").write_text(HELPER.format(step=1))
    assert run(tmp_path, "-c", GAME) == ["7", "True"]
    assert run(tmp_path, "-c", GAME) == ["7", "False"]


def test_connect_four_is_ready_in_four_seconds_cold_and_one_warm(tmp_path):
    """From the start of Python to the first move, in time of the processor; a warm start does without Numba."""
    code = textwrap.dedent(
        """
        import sys, time, anabranch as ab
        assert "numba" not in sys.modules
        state = ab.games.load("connect_four").start()
        state.step(state.legal()[0])
        ready = time.process_time()
        state.observe()
        print(ready, "numba" in sys.modules, "llvmlite" in sys.modules)
        """
    )
    cold, warm = run(tmp_path, "-c", code), run(tmp_path, "-c", code)
    assert (cold[1], warm[1]) == ("True", "False")
    assert (cold[2], warm[2]) == ("True", "True")
    assert float(cold[0]) < 4.0
    assert float(warm[0]) < 1.0


def test_magic_and_digest_are_what_the_description_says():
    data = cache.encode(ObjectCode({}, (), b"code"))
    magic, rest = data.split(b"\n", 1)
    assert magic == b"anabranch object code 1"
    assert hashlib.sha256(rest[32:]).digest() == rest[:32]
