"""What names in compiled functions stand for: changes are noticed or refused, and nothing is bound to a process."""

import array
import collections
import ctypes
import datetime
import enum
import functools
import math
import os
import subprocess
import sys
import textwrap
import types
from typing import Any, NamedTuple

import numba
import numba.core.typing.typeof
import numba.typed
import numpy as np
import pytest
from numpy.polynomial import Polynomial
from tests.compiler_helpers import Small

from anabranch.errors import CompileError
from anabranch.game.native.constants import TABLE, Constants
from anabranch.game.native.reachable import Reachable

VALUE: Any = None


def reader():
    return VALUE


def constants(function: Any) -> Constants:
    return Constants("game", Reachable([function]))


def parts_of(value, monkeypatch):
    monkeypatch.setitem(globals(), "VALUE", value)
    return constants(reader).parts


# Everything that Numba can compile is followed, down to its last byte.


class Odd(int):
    def __repr__(self):
        return "odd"


class Colour(enum.IntEnum):
    RED = 3
    BLUE = 4


class Mark(enum.Enum):
    X = "x"
    O = "o"  # noqa: E741


class Pair(NamedTuple):
    first: int
    second: Any = 2


def enumeration(**members):
    return enum.Enum("Shade", members)


def named(*fields, **options):
    return collections.namedtuple("Card", fields, **options)


def code(source):
    return compile(source, "", "eval")


LAYOUT = np.dtype([("x", np.int64), ("y", np.int8)])
GRID = np.arange(12).reshape(3, 4)
LIBRARY = ctypes.CDLL(None)


def c_function(name, argument=ctypes.c_double, answer=ctypes.c_double):
    function = ctypes.CDLL(None)[name]
    function.argtypes, function.restype = [argument], answer
    return function


FOLLOWED = [
    (1, 2),
    (1, 1.0),
    (1, True),
    (0.0, -0.0),
    (2, None),
    (None, ...),
    (1j, 2j),
    (Odd(1), Odd(2)),
    ("a", "b"),
    ("\ud800", "\ud801"),
    ("a", b"a"),
    (b"a", b"b"),
    (slice(0, 3), slice(0, 6)),
    (slice(0, 3), slice(0, 3, 2)),
    (range(3), range(4)),
    ((1, 2), (1, 3)),
    ((1, (2, 3)), (1, 2, 3)),
    ([1, 2], [1, 3]),
    ([1], (1,)),
    ({1}, {2}),
    (frozenset({1}), frozenset({2})),
    ({1: 2}, {1: 3}),
    (Colour.RED, Colour.BLUE),
    (Mark.X, Mark.O),
    (Colour.RED, 3),
    (enumeration(a=1), enumeration(a=2)),
    (enumeration(a=1), enumeration(b=1)),
    (enumeration(a=1), enumeration(a=1, b=1)),  # another name for the same member
    (Pair(1), Pair(2)),
    (Pair(1, 2), (1, 2)),
    (Pair(1, (2,)), Pair(1, (3,))),
    (named("suit", "rank")(1, 2), named("rank", "suit")(1, 2)),
    (named("suit", "rank"), named("rank", "suit")),
    (named("a", "b", defaults=(1,)), named("a", "b", defaults=(2,))),
    (np.int8(1), np.int8(2)),
    (np.int8(1), np.int16(1)),
    (np.float32(1), np.float64(1)),
    (np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
    (np.datetime64(1, "D"), np.datetime64(1, "s")),
    (np.str_("a"), np.str_("b")),
    (np.array([1, 2]), np.array([1, 3])),
    (np.array([1, 2]), np.array([1, 2], np.int32)),
    (np.array([1, 2, 3, 4]), np.array([[1, 2], [3, 4]])),
    (np.zeros(0), np.zeros((0, 1))),
    (np.array(1), np.array(2)),
    (np.array(["a"]), np.array(["b"])),
    (np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-02"], "M8[D]")),
    (GRID[:, 0], GRID[:, 1]),
    ((GRID, GRID), (GRID, GRID + 1)),
    (np.dtype(np.int8), np.dtype(np.int16)),
    (LAYOUT, np.dtype([("x", np.int64), ("z", np.int8)])),
    (np.int8, np.int16),
    (int, float),
    (np.zeros, np.ones),
    (np.add, np.subtract),
    (np.linalg.norm, np.linalg.det),
    (math.floor, math.ceil),
    (len, abs),
    (str.upper, str.lower),
    (ValueError, KeyError),
    (numba.int8, numba.int16),
    (numba.prange, range),
    (code("1"), code("2")),
    (c_function("cbrt"), c_function("cbrt", ctypes.c_float)),
    ((c_function("cbrt"), c_function("cbrt")), (c_function("cbrt"), c_function("exp2"))),
]


@pytest.mark.parametrize(("one", "other"), FOLLOWED, ids=range(len(FOLLOWED)))
def test_a_change_of_a_constant_is_noticed(monkeypatch, one, other):
    assert parts_of(one, monkeypatch) == parts_of(one, monkeypatch)
    assert parts_of(one, monkeypatch) != parts_of(other, monkeypatch)


@numba.vectorize
def vectorised(number):
    return number + 1


@numba.vectorize(["int64(int64)"])
def vectorised_at_once(number):
    return number + 1


@numba.guvectorize(["int64[:], int64[:]"], "(n)->(n)")
def generalised(numbers, answer):
    answer[0] = numbers[99]


@numba.cfunc("int64(int64)")
def callback(number):
    return number + 1


@numba.extending.intrinsic
def intrinsic(context, number):
    return number(number), lambda context, builder, signature, arguments: arguments[0]


@numba.njit
def jitted(number):
    return number + 1


@numba.experimental.jitclass([("size", numba.int64)])
class Jitted:
    def __init__(self, size):
        self.size = size


@numba.stencil
def stencil(cells):
    return cells[-1] + cells[1]


@functools.lru_cache
def remembered(number):
    return number


class Mine:
    def method(self):
        return 1

    def __call__(self):
        return 1


class Structure(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int),)


def plain(number):
    return number


endless: list[Any] = []
endless.append(endless)
REFUSED = [
    (types, "is a module used as a value; name what you need of it", "another_module"),
    (math, "is a module used as a value; name what you need of it", None),
    (numba.carray, "is a part of Numba that goes around its checks; use plain Python and NumPy", None),
    (Mine, "is a class; compiled verbs make no objects of Mine", None),
    (Jitted, "is a class; compiled verbs make no objects of Jitted", None),
    (Jitted(3), "is of type .*, which Numba compiles apart", None),
    (Mine(), "is of type .*test_constants.Mine; call a plain function", None),
    (Mine().method, "is a method of a .*test_constants.Mine; make it a function of the module", None),
    ([1].append, "is a method of a list; make it a function of the module", None),
    (vectorised, "is made by @vectorize or @guvectorize, .*; call the plain function, in a loop", None),
    (vectorised_at_once, "is made by @vectorize or @guvectorize", None),
    (generalised, "is made by @vectorize or @guvectorize", None),
    (np.frompyfunc(plain, 1, 1), "is a ufunc that is not NumPy's own; call a plain function", None),
    (callback, "is of type numba.core.ccallback.CFunc, which Numba compiles apart; use the plain function", None),
    (intrinsic, "is of type numba.core.extending._Intrinsic, which Numba compiles apart", None),
    (stencil, "is of type .*, which Numba compiles apart", None),
    (
        numba.typed.List([1, 2]),
        "is of type .*, which Numba compiles apart; use the plain function without a decorator, or an",
        None,
    ),
    (
        numba.types.ExternalFunction("cos", numba.float64(numba.float64)),
        "is of type .*, which Numba compiles apart",
        None,
    ),
    (numba.types.int64[:], "is of type .*, which Numba compiles apart", None),
    (numba.objmode, "is of type .*, which Numba compiles apart", None),
    (remembered, "is of type functools._lru_cache_wrapper, around a function; call the function itself", None),
    (functools.partial(plain, 1), "is of type functools.partial; call a plain function of the module", None),
    ((plain, 1), "holds a function; call functions by their names", None),
    ((jitted, 1), "holds a function", None),
    ([plain], "holds a function", None),
    (np.ma.masked_array([1, 2], [True, False]), r"is of type numpy.ma.MaskedArray; make it .* np.asarray\(…\)", None),
    (np.array([1, None]), r"holds Python objects \(dtype object\)", None),
    (np.zeros(1, LAYOUT)[0], "holds records; use an array for each field, or a named tuple", None),
    (np.zeros(2, LAYOUT), "holds records; use an array for each field, or a named tuple", None),
    (bytearray(b"ab"), "is of type bytearray; compiled verbs read numbers, strings, NumPy arrays", None),
    (memoryview(b"ab"), "is of type memoryview; compiled verbs read", None),
    (array.array("q", [1]), "is of type array.array; compiled verbs read", None),
    (datetime.date(2020, 1, 1), "is of type datetime.date; compiled verbs read", None),
    (Polynomial([1, 2]), "is of type numpy.polynomial.polynomial.Polynomial; call a plain function", None),
    (np.random.default_rng(), "is of type numpy.random._generator.Generator; compiled verbs read", None),
    (os.stat("."), r"is of type os.stat_result; make it an ordinary tuple with tuple\(…\)", None),
    (endless, "contains itself", None),
    (object(), "is of type object; compiled verbs read", None),
]


@pytest.mark.parametrize(("value", "message", "name"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_followed_is_refused_by_its_name_and_place(monkeypatch, value, message, name):
    if name:
        value = types.ModuleType(name)
    place = rf"^game: reader, {__file__}:{reader.__code__.co_firstlineno + 1}, `.*`: VALUE "
    with pytest.raises(CompileError, match=place + message):
        parts_of(value, monkeypatch)


def test_every_kind_that_numba_can_type_is_in_these_lists():
    """Numba's own list of what it gives a type. A newer Numba may know more; then this test asks for a line."""
    values = [value for pair in FOLLOWED for value in pair] + [value for value, *_ in REFUSED] + [jitted]
    # Objects that exist only inside code that Numba compiled, or are types of Numba's, which come as `numba.int8`.
    inner = {"_MemInfo", "IndexValue", "NumberClass", "Literal", "TypeRef", "WrapperAddressProtocol", "BitGenerator"}
    for kind in numba.core.typing.typeof.typeof_impl.registry:
        assert kind is object or kind.__name__ in inner or any(isinstance(value, kind) for value in values), kind


@pytest.mark.parametrize("name", ["pi", "tau"])
def test_what_a_module_of_the_system_holds_is_followed(monkeypatch, name):
    def read():
        return math.pi

    before = constants(read).parts
    assert constants(read).parts == before
    monkeypatch.setattr(math, name, 3.0)
    assert (constants(read).parts == before) == (name == "tau")


def test_defaults_and_names_hidden_in_builtins_are_followed(monkeypatch):
    def made(default):
        return lambda number=default, *, other=(default,): number

    assert constants(made(GRID)).parts != constants(made(GRID + 1)).parts
    with pytest.raises(CompileError, match=rf"^game: .*made.*lambda.*, {__file__}:\d+: a default is of type object; "):
        constants(made(object()))

    def read():
        return hidden  # type: ignore[name-defined]  # noqa: F821

    names = []
    for value in (1, 2):
        monkeypatch.setattr("builtins.hidden", value, raising=False)
        names.append(constants(read).parts)
    assert names[0] != names[1]


# Constants are copies.


def game_of(step):
    return type("Reading", (Small,), {"step": step})


LARGE = np.arange(200_000)
COLUMN = LARGE.reshape(-1, 2)[:, 1]


def test_code_has_its_own_copy_of_an_array():
    """Whatever happens to the array, a game goes on with what it had; the next one sees the change."""
    table, column = LARGE.copy(), LARGE.reshape(-1, 2).copy()[:, 1]

    def step(self, state, actions, rewards):
        state.ply += 1
        rewards[0] = table[150_000] + column[70_000]

    game = game_of(step)
    first = game()
    assert first.start().step(0)[1][0] == 150_000 + 140_001
    table[150_000], column[70_000] = -1, -2
    assert first.start().step(0)[1][0] == 150_000 + 140_001
    assert game().start().step(0)[1][0] == -3


def test_equal_arrays_are_one_copy():
    def step(self, state, actions, rewards):
        state.ply += LARGE[state.ply + 1]

    def other(self, state, actions, rewards):
        state.ply += LARGE[state.ply + 2]

    made = [constants(function) for function in (step, other)]
    [symbol] = {part for one in made for part in one.parts if str(part).startswith(TABLE)}
    found = [one.find(str(symbol)) for one in made]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0][1] is found[1][1]
    assert not found[0][1].flags.writeable
    assert found[0][1] is not LARGE


def test_functions_of_libraries_are_not_confused():
    """Two with the same arguments make the same code, which is bound to each of them."""

    def made(function):
        def step(self, state, actions, rewards):
            state.ply += 1
            rewards[0] = function(8.0)

        return game_of(step)()

    answers = [made(c_function(name)).start().step(0)[1][0] for name in ("cbrt", "exp2", "cbrt")]
    assert answers == [2.0, 256.0, 2.0]


# Over several processes.

GAME = """
    import ctypes, sys
    from collections import namedtuple
    import numpy as np
    import anabranch as ab

    exp2 = ctypes.CDLL(None).exp2
    exp2.argtypes, exp2.restype = [ctypes.c_double], ctypes.c_double
    cbrt = ctypes.CDLL(None).cbrt
    cbrt.argtypes, cbrt.restype = [ctypes.c_double], ctypes.c_double
    LARGE = np.arange(300_000) % 1013
    COLUMN = np.arange(600).reshape(300, 2)[:, 0]
    BACKWARDS = np.asfortranarray(LARGE.reshape(300, 1000))[::-1, ::20]
    PAIR = namedtuple("Pair", "table number")(COLUMN, 3)

    def looked_up(index, table=LARGE[::-1]):
        return table[index]

    class Lookup(ab.CompiledGame):
        players, actions, returns = 1, 1, (0, 1e9)
        state = ab.record(ply=int, total=int)
        def turn(self, state):
            return ab.player(0) if state.ply < 40 else ab.OVER
        def legal(self, state, player, actions):
            return 1
        def step(self, state, actions, rewards):
            state.total += LARGE[state.ply * 1000] + COLUMN[state.ply] + BACKWARDS[state.ply, state.ply // 3]
            state.total += PAIR.table[state.ply] * PAIR.number + looked_up(state.ply)
            state.total += int(exp2(cbrt(state.ply)))
            state.ply += 1
            rewards[0] = 0.0 if state.ply < 40 else state.total

    totals = []
    for game in (Lookup(), Lookup(compiled=False)):
        state = game.start()
        while not state.over:
            state, rewards = state.step(0)
        totals.append(state.total)
    print(*totals, ab.search(game.start(), simulations=60).value[0], "numba" in sys.modules)
"""


def run(folder):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(GAME)],
        env=os.environ | {"ANABRANCH_CACHE": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_no_address_of_one_process_reaches_another(tmp_path):
    """Code is the same, byte for byte, wherever a process happened to put its arrays and libraries; and small."""
    first = run(tmp_path / "one")
    assert first[0] == first[1]
    assert first[3] == "True"
    assert run(tmp_path / "one") == [*first[:3], "False"]
    assert run(tmp_path / "two") == first
    made = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert made[0] == made[1]
    assert all(len(data) < 200_000 for data in made[0].values())
