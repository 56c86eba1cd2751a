"""Compiled verbs check every index: what Numba does not check is checked by us, or refused with its name."""

import ast
import re
from pathlib import Path

import numba
import numpy as np
import pytest
from tests import unchecked
from tests.compiler_helpers import LATE, Small

import anabranch as ab
from anabranch.errors import CompileError
from anabranch.game.native import fingerprint
from anabranch.game.native.unchecked import FUNCTIONS

TABLE = np.arange(6)
NATIVE = Path(fingerprint.__file__).parent


@pytest.mark.hard
def test_indices_and_sizes_past_an_array_raise_or_do_what_numpy_does(monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "0")  # a third of the time; `python -m tests.unchecked` has all cases, optimised
    found = unchecked.walked("QUICK")
    assert len(found) > 20
    assert {case: wrong for case, wrong in found.items() if wrong} == {}


def test_every_function_that_numba_knows_is_called_refused_or_takes_no_index():
    """A newer Numba may know more; then this test asks for a case."""
    called = set()
    for text in unchecked.LISTS_OF_CASES.values():
        for case in unchecked.cases(text):
            called |= {ast.unparse(node) for node in ast.walk(ast.parse(case)) if isinstance(node, ast.Attribute)}
    methods = {name.rpartition(".")[2] for name in called if not name.startswith("np.")}
    methods |= {"fill", "sort"}  # in helpers
    refused = {name for _, (name, _) in FUNCTIONS}
    harmless = set(unchecked.HARMLESS_NAMES.split())
    names = unchecked.known_names()
    assert len(names) > 200
    left = {name for name in names - called - refused - harmless if name.removeprefix("array.") not in methods}
    assert left == set()


class Board(Small):
    """Cells of all shapes, with which `late` does something when no trial is looking."""

    def __init__(self):
        super().__init__()
        self.state = ab.record(ply=np.int64, cells=(np.int64, 6), grid=(np.int64, (2, 6)), short=(np.int64, 4))
        self.table = np.arange(6)


def with_step(function):
    return type("Board", (Board,), {"step": function})


def flat(self, state, actions, rewards):
    state.cells.flat[0] = 1


def flat_read(self, state, actions, rewards):
    state.ply += state.cells.flat[0] + 1


def take_method(self, state, actions, rewards):
    state.ply += state.grid.take(1, 0)[0] + 1


def delete(self, state, actions, rewards):
    state.ply += np.delete(TABLE, np.array([1])).size


def transpose(self, state, actions, rewards):
    state.ply += state.grid.transpose((1, 0)).shape[0]


def transpose_function(self, state, actions, rewards):
    state.ply += np.transpose(state.grid, (1, 0)).shape[0]


def out(self, state, actions, rewards):
    np.isneginf(np.zeros(2), np.zeros(2, np.bool_))


def field(self, state, actions, rewards):
    if state.ply >= LATE:
        state["cells"] = np.zeros(2, np.int64)
    state.ply += 1


def handed(self, state, actions, rewards):
    if state.ply >= LATE:
        for cells in map(np.add, [TABLE], [TABLE[:2]], [np.zeros(6, np.int64)]):
            state.ply += cells[0]
    state.ply += 1


def counted(self, state, actions, rewards):
    state.ply += np.bincount(TABLE).size


def along(self, state, actions, rewards):
    state.ply += np.take_along_axis(TABLE, TABLE, 0).size


def strided(self, state, actions, rewards):
    state.ply += np.lib.stride_tricks.as_strided(TABLE, (2,), (8,)).size


def table(self, state, actions, rewards):
    cells = TABLE
    if state.ply >= LATE:
        cells[0] = 1
    state.ply += 1


def own_table_in_place(self, state, actions, rewards):
    cells = self.table
    if state.ply >= LATE:
        cells += 1
    state.ply += 1


def table_as_out(self, state, actions, rewards):
    if state.ply >= LATE:
        np.add(TABLE, 1, TABLE)
    state.ply += 1


def write_first(cells):
    cells[0] = 1


def handed_self(self, state, actions, rewards):
    if state.ply >= LATE:
        write_first(self.table)
    state.ply += 1


READ_ONLY = "self and arrays of modules are read-only; what changes during play belongs into the state"
REFUSED = [
    (flat, "array.flat[i] does not check", "index every axis, or write array.reshape(-1)[i]"),
    (flat_read, "array.flat[i] does not check", "index every axis, or write array.reshape(-1)[i]"),
    (take_method, "np.take with an axis does not check", "index that axis, e.g. cells[:, i]"),
    (delete, "np.delete with an array or a list does not check", "copy what stays in a loop"),
    (transpose, "transpose with axes does not check", "write array.T or np.swapaxes(array, 0, 1)"),
    (transpose_function, "transpose with axes does not check", "write array.T or np.swapaxes(array, 0, 1)"),
    (out, "out= of this NumPy function does not check", "assign what it returns: target[:] = …"),
    (field, "record['field'] = array does not check", "write record.field[:] = array"),
    (handed, "a function that indexes or writes, handed to another does not check", "hand a lambda that calls it"),
    (counted, "np.bincount does not check", "count in a loop: counts[value] += 1"),
    (along, "np.take_along_axis does not check", "index in a loop"),
    (strided, "np.lib.stride_tricks.as_strided does not check", "index what the strides would reach"),
    (table, READ_ONLY, ""),
    (own_table_in_place, READ_ONLY, ""),
    (table_as_out, READ_ONLY, ""),
    (handed_self, READ_ONLY, ""),
]


@pytest.mark.hard
@pytest.mark.parametrize(("step", "name", "instead"), REFUSED, ids=[step.__name__ for step, *_ in REFUSED])
def test_what_is_not_checked_is_refused_by_name_with_an_alternative(step, name, instead):
    with pytest.raises(CompileError) as caught:
        with_step(step)().start()
    assert name in str(caught.value)
    assert instead in str(caught.value)
    assert Path(__file__).name in str(caught.value)


def in_place(self, state, actions, rewards):
    cells, grid = state.cells, state.grid
    cells += TABLE
    cells -= self.table[::-1]
    cells *= 2
    grid += cells
    grid[1] -= grid[0]
    state.grid[:, 1:] //= 3
    state.cells += state.grid[0]
    np.add(cells, 1, cells)
    np.subtract(grid, cells, grid)
    cells[1 if state.ply >= LATE else 0 :] ^= TABLE
    state.ply += 1


def played(game, plies):
    state = game.start()
    for _ in range(plies):
        state, _ = state.step(0)
    return state


def test_operators_in_place_work_and_raise_where_sizes_differ():
    kind = with_step(in_place)
    compiled, interpreted = played(kind(), LATE), played(kind(compiled=False), LATE)
    assert compiled.cells.tolist() == interpreted.cells.tolist()
    assert compiled.grid.tolist() == interpreted.grid.tolist()
    assert np.any(compiled.grid)
    for state in (compiled, interpreted):
        with pytest.raises(ValueError, match="could not be broadcast together"):
            state.step(0)


def transposed(self, state, actions, rewards):
    state.ply += state.grid.T.shape[1] - np.swapaxes(state.grid, 0, 1).shape[1] + np.transpose(state.grid).shape[1] - 1


def test_the_alternatives_to_transpose_with_axes_compile():
    assert played(with_step(transposed)(), 3).ply == 3


def test_code_is_not_made_where_numba_is_told_not_to_check(monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 0)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "0")  # code made with checks has another fingerprint
    with pytest.raises(CompileError, match=r"NUMBA_BOUNDSCHECK is 0, .* unset it"):
        Small().start()


def test_code_made_without_these_checks_is_never_loaded():
    """Every file that takes part in compiling is in the fingerprint, by its bytes."""
    compiling = {
        path.name
        for path in NATIVE.glob("*.py")
        if re.search(r"^(import|from) (numba|llvmlite)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {"checked.py", "compiler.py", "passes.py"} <= compiling
    assert compiling - set(fingerprint._COMPILER) <= {"loader.py"}
    assert "unchecked.py" in fingerprint._COMPILER


@pytest.mark.parametrize("name", fingerprint._COMPILER)
def test_an_edit_of_a_file_that_compiles_is_another_fingerprint(monkeypatch, name):
    before = fingerprint._machine()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"#" if path.name == name else b""))
    assert fingerprint._machine() != before
