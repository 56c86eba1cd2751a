"""Compiled verbs: what they compute, what happens when they raise or lie, and what is refused."""

import ctypes
import enum
import random
import resource
import traceback
from types import FunctionType

import numpy as np
import pytest
import tests.compiler_helpers as lib
from tests.compiler_helpers import LATE, OwnError, Small, Trouble, factorial

import anabranch as ab
from anabranch.errors import CompileError, GameError, MismatchError
from anabranch.game.native.entries import Entry
from anabranch.game.native.phrases import in_words
from anabranch.game.native.rules import NativeRules
from anabranch.game.native.unit import load_unit
from anabranch.game.random import Random
from anabranch.games.tic_tac_toe import TicTacToe

PRIMES = np.array([2, 3, 5, 7, 11], np.int64)
TOP = np.uint64(1 << 63)
ONE = np.uint64(1)


class Colour(enum.IntEnum):
    RED = 3
    BLUE = 4


def small(**verbs):
    """A game with some verbs of its own; each call makes another class."""
    return type("Changed", (Small,), verbs)()


def late(game):
    """A state where things may go wrong that the trial must not see."""
    return ab.State(game, game.replace(game.start().data, ply=LATE))


# What is computed.


class Arithmetic(ab.CompiledGame):
    """What verbs may reach: helpers by name and by module, closures, classes, enums, recursion, words, booleans."""

    OFFSET = 40  # in the class body
    WEIGHTS = np.array([1, 2, 4], np.int8)

    def __init__(self, first=0.1, numbers=(7, 8)):
        self.players, self.actions, self.outcomes = 2, 3, 6
        self.first = first
        self.numbers = numbers
        self.grid = np.arange(6, dtype=np.int16).reshape(2, 3)
        self.observation = (2, 3)
        self.known = np.array([True, False, True])
        self.state = ab.record(
            words=(np.uint64, 3),
            values=(np.int64, 12),
            ply=np.int16,
            grid=(np.int16, (2, 3)),
            flags=(np.bool_, (2, 3)),
            odd=np.bool_,
        )
        self.key_record = ab.record(parity=np.int8)

    def setup(self, state, random):
        for index in range(6):
            state.values[index] = ab.below(random, 1 << 30)
        for index in range(6, 12):
            state.values[index] = int(ab.uniform(random) * 2.0**53)
        ab.copy(state.grid, self.grid)

    def turn(self, state):
        return ab.CHANCE if state.ply % 2 == 1 else ab.player(0) + ab.player(1) if state.ply < 6 else ab.OVER

    def legal(self, state, player, actions):
        actions[0] = player
        actions[1] = 2
        return 2

    def chance(self, state, outcomes, chances):
        for outcome in range(6):
            outcomes[outcome], chances[outcome] = 5 - outcome, 1 / 6
        return 6

    def draw(self, state, random):
        return ab.below(random, 6)

    def same(self, state, player, action):
        return max(action, player)

    def step(self, state, actions, rewards):
        state.ply += 1
        state.words[0] = (state.words[0] | TOP) >> ONE
        state.words[1] = (~state.words[0] ^ TOP) - ONE
        state.values[0] = lib.scale(state.values[0] % 1000) + factorial(4) + lib.factorial(3)
        state.values[1] = lib.is_even(state.ply) + 2 * lib.is_odd(state.ply)
        state.values[2] = lib.Rules.follow(lib.Rules.START) + Colour.BLUE
        state.values[3] = PRIMES[state.ply % 5] + self.OFFSET + self.WEIGHTS[2] + self.numbers[1]
        state.values[4] = -7 // 2 * 10 + -7 % 3  # floor and modulo as in Python
        state.values[5] = state.values[5] * 31 >> 3
        state.grid[1, 2] -= 1
        state.flags[state.ply % 2, actions[0] % 3] = not state.flags[1, 0]
        state.flags[1, 1] = 5 * self.known[state.ply % 3]  # any number but 0 is True
        state.odd = state.ply & 1
        state.values[6] = state.flags[0, 0] + state.flags[1, 1] + state.odd
        # Fused into one operation, first · 10 − 1 would not be the same number.
        rewards[0] = self.first * 10.0 - 1.0
        rewards[1] = self.first**3 / 7 + actions[0]

    def key(self, state, key):
        key.parity = state.ply % 2

    def bounds(self, state, low, high):
        low[0], high[1] = -self.first, state.ply / 3

    def event(self, state, event):
        event[0], event[3] = state.ply, -1

    def observe(self, state, player, planes):
        for row in range(2):
            for column in range(3):
                planes[row, column] = state.grid[row, column] / 3 + player


def test_compiled_verbs_equal_interpreted_ones_byte_for_byte():
    """Law: the same source gives the same bytes, numbers and random numbers, whichever way it runs."""
    game = Arithmetic()
    native, plain = game.rules, game.interpreted().rules
    assert isinstance(native, NativeRules)
    for seed in range(30):
        left, right = Random(seed), Random(seed)
        data = native.setup(left)
        assert data == plain.setup(right)
        assert left.word == right.word
        while native.turn(data) != ab.OVER:
            assert native.turn(data) == plain.turn(data)
            for verb in ("chance", "key", "bounds", "event"):
                assert getattr(native, verb)(data) == getattr(plain, verb)(data), verb
            for player in range(2):
                assert native.legal(data, player) == plain.legal(data, player)
                assert native.same(data, player, 0) == plain.same(data, player, 0)
                assert np.array_equal(native.observe(data, player), plain.observe(data, player))
            assert native.draw(data, left) == plain.draw(data, right)
            following = native.step(data, [seed % 2, 2])
            assert following == plain.step(data, [seed % 2, 2])
            data = following[0]


def test_instances_read_their_own_values():
    """Instances of equal shapes share code, not contents."""
    rewards = [Arithmetic(first=first).start().step((0, 1))[1][1] for first in (0.5, 2.0)]
    assert rewards == [0.5**3 / 7, 2.0**3 / 7]


def test_a_game_made_in_a_function_keeps_its_closure():
    def make(bonus):
        def pay(ply):
            return ply * bonus

        class Closed(Small):
            def step(self, state, actions, rewards):
                state.ply += 1
                rewards[0] = pay(state.ply) + bonus

        return Closed()

    assert [make(bonus).start().step(0)[1][0] for bonus in (1, 10)] == [2.0, 20.0]


def test_changed_constants_are_seen_by_the_next_instance(monkeypatch):
    def step(self, state, actions, rewards):
        state.ply += 1
        rewards[0] = lib.scale(2)

    game = type("Scaled", (Small,), {"step": step})
    assert game().start().step(0)[1][0] == 9.0
    monkeypatch.setattr(lib, "FACTOR", 10)
    assert game().start().step(0)[1][0] == 23.0
    monkeypatch.setattr(lib, "TABLE", np.array([0, 100]))
    assert game().start().step(0)[1][0] == 120.0


def test_a_verb_may_call_the_one_it_replaces():
    def turn(self, state):
        return Small.turn(self, state)

    assert small(turn=turn).start().turn == (0,)


def test_helpers_and_modules_stay_as_they_were():
    Arithmetic().start().step((0, 1))
    assert isinstance(lib.scale, FunctionType)
    assert lib.scale(1) == 6


def test_verbs_may_allocate():
    """Then Numba's runtime is needed, and set up by whoever loads the code."""

    def step(self, state, actions, rewards):
        counts = np.zeros(4, np.int64)
        for value in [1, 3, 3]:
            counts[value] += 1
        state.ply += counts[3]

    assert small(step=step).start().step(1)[0].ply == 2


def make_rollout(verbs):
    turn, legal, step = verbs["turn"], verbs["legal"], verbs["step"]

    def rollout(game, state, random, actions, joint, rewards):
        plies = 0
        while turn(game, state) != ab.OVER:
            mover = plies % 2
            count = legal(game, state, mover, actions.cells)
            joint.cells[mover] = actions.cells[ab.below(random.cells, count)]
            step(game, state, joint.cells, rewards.cells)
            plies += 1
        return plies

    return rollout


def rollout_arguments(layout):
    shapes = ((np.uint64, 1), (np.int32, layout.actions), (np.int32, 2), (np.float64, 2))
    return (layout.instance, layout.state, *(np.dtype((kind, (size,))) for kind, size in shapes))


@pytest.mark.parametrize("seed", range(5))
def test_a_loop_over_verbs_compiles_like_a_verb(seed):
    """A random game in one native call ends where the same random game, played ply by ply, does."""
    game = TicTacToe()
    entry = Entry(verbs=("turn", "legal", "step"), arguments=rollout_arguments, make=make_rollout)
    loaded = load_unit(game, ["rollout"], {"rollout": entry})
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 8)(loaded.addresses["rollout"])
    result, error, state = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, game.state)
    instance, word = game.instance.copy(), np.array([seed], np.uint64)
    rest = (np.zeros(9, np.int32), np.full(2, ab.IDLE, np.int32), np.zeros(2))
    assert function(*(array.ctypes.data for array in (result, error, instance, state, word, *rest))) == 0

    random, played, plies = Random(seed), game.start(), 0
    while not played.over:
        legal = played.legal()
        played, rewards = played.step(legal[ab.below(random, len(legal))])
        plies += 1
    assert (int(result[0]), state.tobytes(), rest[2].tolist()) == (plies, played.data, rewards.tolist())


# Verbs that raise.


@pytest.mark.parametrize(
    ("trouble", "kind", "message", "line"),
    [
        ("value", ValueError, "ply 20 of 0", "raise ValueError"),
        ("own", OwnError, "own error at 20", "raise OwnError"),
        ("key", KeyError, "no such key", "raise KeyError"),
        ("assert", AssertionError, "not 3", "assert self.trouble"),
        ("index", IndexError, "out of bounds", "rewards[state.ply] = 1.0"),
        ("zero", ZeroDivisionError, "zero", "state.ply //= "),
        ("overrun", IndexError, "out of bounds", "actions[action] = action"),
        ("helper", RuntimeError, "from a helper, ply 20", "raise RuntimeError"),
    ],
)
def test_compiled_play_shows_the_users_own_exception(trouble, kind, message, line):
    """The exception, its message and its line are those of the source, and nothing is changed by it."""
    game = Trouble(trouble)
    state = late(game)
    for _ in range(2):
        with pytest.raises(kind, match=message) as caught:
            state.step(0)[0].legal()
        assert type(caught.value) is kind
        frames = traceback.extract_tb(caught.tb)
        assert frames[-1].filename == lib.__file__ or trouble in ("index", "overrun")  # raised inside NumPy
        assert any(frame.filename == lib.__file__ and line in str(frame.line) for frame in frames)
    assert state.ply == LATE
    assert isinstance(game.rules, NativeRules)


def test_raising_leaks_nothing():
    """10^5 exceptions in native code leave the process as large as it was."""
    native = NativeRules(Trouble("value")).native
    data = LATE.to_bytes(8, "little")
    for _ in range(1000):
        native.step(data, [0])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100_000):
        assert native.step(data, [0]) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000  # kB; 20 bytes each would show


# Verbs that break promises.

LIES = ("turn", "negative turn", "order", "range", "count", "reward", "chances", "twice")


class Liar(ab.CompiledGame):
    """Tells one lie, late."""

    def __init__(self, lie):
        self.players, self.actions, self.outcomes = 2, 3, 2
        self.lie = LIES.index(lie)
        self.state = ab.record(ply=np.int64)

    def turn(self, state):
        if state.ply == LATE and self.lie < 2:
            return 4 if self.lie == 0 else -2
        return ab.player(0)

    def legal(self, state, player, actions):
        lie = self.lie if state.ply == LATE else 0
        actions[0], actions[1] = 1, 1 if lie == 2 else 3 if lie == 3 else 2
        return 4 if lie == 4 else 2

    def chance(self, state, outcomes, chances):
        lie = self.lie if state.ply == LATE else 0
        outcomes[0], outcomes[1] = 1, 1 if lie == 7 else 0
        chances[0], chances[1] = 0.5, 0.4 if lie == 6 else 0.5
        return 2

    def step(self, state, actions, rewards):
        if self.lie == 5 and state.ply == LATE:
            rewards[1] = np.inf
        state.ply += 1


def ask(rules, data):
    rules.turn(data)
    rules.legal(data, 0)
    rules.chance(data)
    rules.step(data, [1, ab.IDLE])


@pytest.mark.parametrize("lie", LIES)
def test_compiled_answers_are_checked_like_interpreted_ones(lie):
    """Both ways of playing raise the same GameError with the same words, and say where the verb is."""
    said = []
    for game in (Liar(lie), Liar(lie).interpreted()):
        data = late(game).data
        with pytest.raises(GameError) as caught:
            ask(game.rules, data)
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]
    verb = "turn" if LIES.index(lie) < 2 else "legal" if LIES.index(lie) < 5 else "step" if lie == LIES[5] else "chance"
    line = getattr(Liar, verb).__code__.co_firstlineno
    assert said[0][1].endswith(f"({verb} is at {__file__}:{line})")


def test_compiled_and_interpreted_that_differ_are_an_error():
    """2^62 + 2^62 wraps in 64 bits and not in Python, so only compiled play raises."""

    def step(self, state, actions, rewards):
        state.ply += 1
        large = state.ply // LATE << 62
        if large + large < 0:
            raise ValueError("never, in Python")

    state = late(small(step=step))
    with pytest.raises(MismatchError, match="compiled and interpreted play differ: step failed compiled"):
        state.step(0)


def test_states_of_another_size_are_refused():
    with pytest.raises(ValueError, match="a state has 8 bytes, found 3"):
        Small().rules.turn(b"abc")


# What is refused, and how it is said.


class Cluttered(Small):
    def __init__(self):
        super().__init__()
        self.words = {"one": 1}
        self.table = np.arange(3)
        self.most = 4

    def count(self):
        return 1


def draws_with_random(self, state, player, actions):
    actions[0] = random.randint(0, 3)
    return 1


def draws_with_numpy(self, state, player, actions):
    actions[0] = np.random.randint(3)
    return 1


def calls_a_method(self, state, player, actions):
    return self.count()


def reads_a_dictionary(self, state, player, actions):
    return self.words["one"]


def misspells_self(self, state, player, actions):
    return 1 if state.ply < LATE else self.action


def misspells_state(self, state, player, actions):
    return 1 if state.ply < LATE else state.play


def writes_to_self(self, state, player, actions):
    if state.ply > LATE:
        self.most = 3
    return 1


def writes_into_self(self, state, player, actions):
    if state.ply > LATE:
        table = self.table
        table[0] += 1
    return 1


def returns_nothing_at_times(self, state, player, actions):
    return 1 if state.ply < LATE else None


def returns_a_float(self, state, player, actions):
    return 1 if state.ply < LATE else 0.5


def yields(self, state, player, actions):
    yield 1


def prints(self, state, player, actions):
    print(state.ply)
    return 1


def names_nothing(self, state, player, actions):
    return 1 if state.ply < LATE else nobody(state)  # type: ignore[name-defined]  # noqa: F821


def names_nothing_in_a_module(self, state, player, actions):
    return 1 if state.ply < LATE else lib.nobody(state)  # type: ignore[attr-defined]


def cannot_be_typed(self, state, player, actions):
    return 1 if state.ply < LATE else wrong_helper(state)


def wrong_helper(state):
    return state.ply.nothing


LOG = [1]


def makes_a_dict(self, state, player, actions):
    steps = {0: 1, 1: 2}
    return steps[0]


def makes_a_dict_of_anything(self, state, player, actions):
    steps = {0: 1, "one": 2}
    return steps[0]


def catches_an_error(self, state, player, actions):
    try:
        actions[state.ply] = 0
    except IndexError:
        return 1
    return 1


def deletes(self, state, player, actions):
    numbers = [1, 2]
    del numbers[0]
    return len(numbers)


def imports(self, state, player, actions):
    import math

    return math.floor(1.5)


def reads_a_list_of_the_module(self, state, player, actions):
    return LOG[0]


@pytest.mark.parametrize(
    ("legal", "message", "line"),
    [
        (makes_a_dict, r"`steps = {0: 1, 1: 2}`: a dict cannot be compiled: use an array.*ab\.ObjectGame", 1),
        (makes_a_dict_of_anything, r"`steps = {0: 1, \"one\": 2}`: a dict cannot be compiled: use an array", 1),
        (catches_an_error, r"`except IndexError:`: compiled verbs cannot tell kinds of errors apart", 3),
        (deletes, r"`del numbers\[0\]`: `del` cannot be compiled", 2),
        (imports, r"`import math`: an import inside of a verb cannot be compiled: put it at the top", 1),
        (reads_a_list_of_the_module, r"LOG is a list of the module: compiled verbs read numbers", 1),
        (draws_with_random, r"random.randint draws random numbers .* ab.below\(random, n\)", 1),
        (draws_with_numpy, r"np.random.randint draws random numbers", 1),
        (calls_a_method, r"self.count\(\) cannot be compiled; make it a module's function, called count\(self, …\)", 1),
        (reads_a_dictionary, r"self.words is a dict; compiled verbs read numbers, NumPy arrays", 1),
        (misspells_self, r"self has no 'action'. Did you mean 'actions'", 1),
        (misspells_state, r"state has no 'play'. Did you mean 'ply'", 1),
        (writes_to_self, r"self is read-only", 2),
        (writes_into_self, r"self is read-only", 3),
        (returns_nothing_at_times, r"must return an integer, but returns sometimes nothing", 0),
        (returns_a_float, r"must return an integer, but returns float64", 0),
        (yields, r"no generator", 0),
        (prints, r"print\(\) cannot be compiled; debug with compiled=False", 1),
        (names_nothing, r"the name 'nobody' is not defined", 1),
        (names_nothing_in_a_module, r"lib has no 'nobody'", 1),
        (cannot_be_typed, r"Unknown attribute 'nothing' of type int64", wrong_helper),
    ],
)
def test_what_cannot_be_compiled_is_refused_with_its_place(legal, message, line):
    function, offset = (legal, line) if isinstance(line, int) else (line, 1)
    game = type("Refused", (Cluttered,), {"legal": legal})
    with pytest.raises(CompileError, match=message) as caught:
        game().start()
    assert f"{__file__}:{function.__code__.co_firstlineno + offset}" in str(caught.value)
    assert "Refused: " in str(caught.value)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("The use of yield in a closure is unsupported.", "a generator expression cannot be compiled: write a list"),
        ("Use of unsupported opcode (UNPACK_EX) found. Raised from a.py (37)", "take the parts by their index"),
        ("Use of unsupported opcode (STORE_GLOBAL) found. Raised from a.py (3)", "belongs into the state"),
        ("format spec in f-strings not supported yet. Raised from a.py (37)", "make texts in the game's `text`"),
        ("Unknown attribute 'format' of type Literal[str]({})", "make texts in the game's `text`"),
        ("Untyped global name 'NAMES': Cannot determine Numba type of <class 'dict'>", "NAMES is a dict of the module"),
        ("Use of unsupported NumPy function 'numpy.einsum' or unsupported use of the function.", "np.einsum cannot be"),
        ("Unknown attribute 'product' of type Module(<module 'itertools' (built-in)>)", "itertools.product cannot be"),
        ("Unknown attribute 'tolist' of type nestedarray(int32, (4,))", "arrays have no .tolist in compiled verbs"),
        (
            "Invalid use of BoundFunction(list.append for list(int64)<iv=None>) with parameters (Literal[str](a))",
            "a list holds one kind of thing, and this one already holds whole numbers",
        ),
        (
            "Cannot infer the type of variable 'x', have imprecise type: list(undefined)<iv=None>.",
            "nothing is ever put into the list x",
        ),
        (
            "No implementation of function Function(<function max at 0x7ff9401a0a40>) found for signature: "
            "max(array(float64, 2d, C), axis=Literal[int](0))",
            "max cannot be compiled for what it is given: max(array(float64, 2d, C), axis=0)",
        ),
        (
            "No implementation of function Function(<class 'int'>) found for signature: int(Literal[str](1))",
            "int cannot be compiled for what it is given: int('1')",
        ),
    ],
)
def test_numbas_phrases_are_told_in_other_words(said, words):
    """As Numba 0.6x writes them; what has no words of ours is shown as it is."""
    assert words in str(in_words(said))


def test_super_is_refused_with_what_to_write_instead():
    class Heir(Small):
        def turn(self, state):
            return super().turn(state)

    with pytest.raises(CompileError, match=r"name the class, e.g. Base.turn\(self, …\)"):
        Heir().start()


@pytest.mark.parametrize(
    ("verbs", "message"),
    [
        (
            {"legal": lambda self, state, player: 1},
            r"legal takes \(self, state, player, actions\), found \(self, state, p",
        ),
        ({"turn": lambda self, state, extra: 1}, r"turn takes \(self, state\), found \(self, state, extra\)"),
    ],
)
def test_a_verb_with_other_arguments_is_refused_when_the_game_is_made(verbs, message):
    with pytest.raises(GameError, match=message):
        small(**verbs)


@pytest.mark.parametrize(
    ("verbs", "message"),
    [
        ({"turn": lambda self, state: None}, "turn returned None"),
        ({"legal": lambda self, state, player, actions: 1.0}, "legal returned 1.0"),
        ({"same": lambda self, state, player, action: None}, "same must return an integer, found None"),
        ({"same": lambda self, state, player, action: 0.5}, "same must return an integer, found 0.5"),
    ],
)
def test_a_verb_that_returns_no_integer_is_found_before_it_is_compiled(verbs, message):
    with pytest.raises(GameError, match=message):
        small(**verbs).start()


def test_slips_are_ordinary_exceptions_before_anything_is_compiled():
    """The trial plays interpreted, so Python itself says what is wrong and where."""

    def step(self, state, actions, rewards):
        state.plie += 1

    with pytest.raises(AttributeError, match="has no field 'plie'"):
        small(step=step).start()
