"""Calls what Numba makes of NumPy with indices, sizes and shapes that are wrong, inside arrays with known surroundings.

`python -m tests.unchecked` walks through all lists, which takes some minutes, and says what is wrong. `… INDEXED 17`
prints one line of JSON per case of that list from the 17th on: its number, its name, and what went wrong, if anything
did. A case that crashes is the last one begun.

A compiled call must raise, or do what NumPy does. Nothing may be read from around an array (the surroundings are full
of one number) or written there.
"""

import ast
import heapq
import json
import operator
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import numpy as np
from numba.core import types

from anabranch.game.native.passes import OPTIONS

AROUND = 7777777
INDICES = (-(10**12), -7, -6, -1, 0, 4, 5, 6, 17, 10**12)
SIZES = (-(10**12), -7, -1, 0, 4, 5, 17)  # not too large to be made
LISTS = ([0, 5], [0, 17], [-6, 1], [10**12], [-(10**12)], [4, 4], [2, 0])
COUNTS = ([0, 5], [-6, 1], [1, 2, 3, 4, 5], [1, -2, 3, 4, 5], [1] * 17)
LENGTHS = (0, 3, 5, 8, 17)
AXES = (-7, -3, -1, 0, 1, 2, 17)

# What is called, with what. `i` is an index, `n` a size, `k` an axis, `x` an array of indices, `w` one of counts, `m` a
# mask, `y` and `z` arrays of some length; a has 5 items, c is 3 × 4, d 2 × 3 × 4, f has 5 floats, s is square.
INDEXED = """
a[i]; put(a, i); c[i, 1]; c[1, i]; c[i]; a[i:]; a[:i]; a[i:17:2]; c[i:, 1]; fill(a[i:], 5); a[-i::-1]; a[x]; c[x];
c[x, 1]; c[1, x]; c[1:, x]; put(a, x); put(c, x); a[m]; put(a, m); c[m]; c[:, m]; add(a, m); a[w > 1]; a.take(i);
a.take(x); np.take(a, i); np.take(c, x); np.delete(a, i); np.delete(a, slice(i, 17)); np.insert(a, i, 7);
np.insert(a, x, 7); np.roll(a, i); np.diag(c, i); np.diag(a[:3], n); np.tri(3, 4, i); np.tril(c, i); np.triu(c, i);
np.tril_indices(3, i, 4)[0]; np.triu_indices(3, i, 4)[0]; np.tril_indices_from(c, i)[0];
np.triu_indices_from(c, i)[0]; np.eye(3, 4, i); np.partition(a, i); np.argpartition(a, i); np.repeat(a, n);
np.repeat(a, w); a.reshape(i); a.reshape((i, 1)); c.reshape((2, i)); np.reshape(c, (i, i)); np.empty(i).size;
np.lib.stride_tricks.sliding_window_view(a, i); np.broadcast_to(a, (i,)); np.broadcast_to(a, (2, i));
np.split(a, x)[0]; np.searchsorted(a, i); np.searchsorted(a, x); np.digitize(a, x); np.fill_diagonal(c, i);
a[:i].view(np.int8); a[:i].view(np.complex128); np.frombuffer(a[:i], np.int8); np.extract(m, a); np.where(m, a, a);
np.where(m, y, y); np.where(m, y, 0); np.add(y, z); y + z * 2; set_all(y, z); set_some(y, z); np.clip(y, 0, 9, z);
increased(y, z); increased(c, y); increased(c[:, 1:], z); increased(y, c[0]); increased(y[:1], c);
np.add(y, z, y); np.negative(y, z); np.add(y, 1, z); np.add(c, y, c); operator.imul(y, z); np.divmod(y, z, z, y);
operator.iadd(c[:, 1], c[:n, 1]); operator.iadd(c.T, y); operator.iadd(c[::2, ::-1], c[:n, :1]); np.divmod(y, 2, z);
walk(y, z); 'hello'[i]; 'hello'[i:]; b'hello'[i]; (1, 2, 3, 4, 5)[i]; [1, 2, 3, 4, 5][i]; [1, 2, 3, 4, 5].pop(i);
inserted([1, 2, 3], i); deleted([1, 2, 3, 4, 5], i); list(map(lambda q: np.arange(5)[q], [i])); [a[q] for q in [i]];
sum_of(a, i)
"""

# Sizes, axes, and arrays that do not belong together.
SIZED = """
np.diagflat(a[:3], n); np.tri(n); np.identity(n); np.vander(a, n); np.percentile(f, i); np.quantile(f, i);
np.nanpercentile(f, i); np.nanquantile(f, i); a.repeat(n); np.rot90(c, i); np.resize(a, n); np.resize(a, (2, n));
np.zeros((i, i)).size; np.ones(n); np.full((2, n), 3); np.arange(n); np.linspace(0, 1, n); np.logspace(0, 1, n);
np.geomspace(1, 2, n); np.indices((2, n))[0]; np.swapaxes(c, 0, k); np.moveaxis(c, k, 0); np.sum(c, axis=k);
c.sum(axis=k); np.argmax(c, axis=k); np.argmin(c, axis=k); np.split(a, n)[0]; np.array_split(a, x)[0];
np.hsplit(c, n)[0]; np.vsplit(c, n)[0]; np.dsplit(d, n)[0]; np.linalg.matrix_power(s, n); np.select([m, m], [a, a]);
np.select([y > 1], [z]); np.round(y * 1.0, 0, f); np.dot(s, y * 1.0, f[:3]); 'hello'.find('l', i); 'hello'.rjust(n);
heapq.nsmallest(n, [3, 1, 2]); np.dot(f, y * 1.0); np.vdot(y * 1.0, z * 1.0); np.dot(s, y * 1.0); s @ (y * 1.0);
np.outer(y, z); np.kron(y, z); np.cross(y, z); np.convolve(y, z); np.correlate(y, z); np.interp(f, y * 1.0, z * 1.0);
np.average(y * 1.0, weights=z * 1.0); np.trapezoid(y * 1.0, z * 1.0); np.column_stack((y, z)); np.vstack((y, z));
np.concatenate((y, z)); np.stack((y, z)); np.hstack((y, z)); np.dstack((y, z)); np.clip(y, z, z);
np.broadcast_arrays(y, z)[0]; np.cov(y * 1.0, z * 1.0); np.corrcoef(y * 1.0, z * 1.0);
np.histogram(y * 1.0, z * 1.0)[0]; np.histogram(f, n)[0]; np.linalg.solve(s, y * 1.0);
np.linalg.lstsq(s, y * 1.0)[0]; np.append(y, z); np.isin(y, z); np.union1d(y, z); np.intersect1d(y, z);
np.setdiff1d(y, z); np.setxor1d(y, z); np.allclose(y, z); np.isclose(y, z); np.array_equal(y, z);
np.ediff1d(y, z, z); np.diff(y, n=n); np.trim_zeros(y); np.unique(y); np.median(y[1:] * 1.0); np.bartlett(n);
np.hamming(n); np.hanning(n); np.blackman(n); np.kaiser(n, 1.0); np.roots(y * 1.0); np.flatnonzero(m);
np.argwhere(m); np.polynomial.polynomial.polyval(y * 1.0, z * 1.0);
np.polynomial.polynomial.polydiv(y * 1.0, z * 1.0)
"""

# Arrays that are empty, or shaped like nothing the function can take.
EMPTY = """
np.max(f[:n]); np.min(f[:n]); np.amax(c[:n]); np.amin(c[:, :n]); np.ptp(f[:n]); np.mean(f[:n]); np.std(f[:n]);
np.var(f[:n]); np.prod(f[:n]); np.sum(f[:n]); np.cumsum(f[:n]); np.cumprod(f[:n]); np.median(f[:n]);
np.nanmedian(f[:n]); np.nanmax(f[:n]); np.nanmin(f[:n]); np.nanmean(f[:n]); np.nanstd(f[:n]); np.nanvar(f[:n]);
np.nansum(f[:n]); np.nanprod(f[:n]); np.nancumsum(f[:n]); np.nancumprod(f[:n]); np.nanargmax(f[:n]);
np.nanargmin(f[:n]); np.argmax(f[:n]); np.argmin(f[:n]); np.argsort(f[:n]); np.sort(f[:n]); np.all(a[:n]);
np.any(a[:n]); np.count_nonzero(a[:n]); np.count_nonzero(c[:n], k); np.nonzero(a[:n])[0]; np.nonzero(c[:, :n])[0];
np.unwrap(f[:n]); np.flip(c[:n]); np.fliplr(c[:n]); np.flipud(c[:, :n]); np.trace(s[:n]); np.trace(s, i);
np.transpose(c[:n]); c[:, :n].transpose(); np.expand_dims(a, k);
np.ravel(c[:n]); c[:, :n].flatten(); c[:, :n].copy(); np.ascontiguousarray(c[:, :n]); np.asfortranarray(c[:, :n]);
np.array_split(c, n)[0]; np.concatenate((c, c[:, :n])); np.concatenate((c, c[:n])); np.vstack((c, c[:, :n]));
np.concat((y, z)); np.row_stack((y, z)); np.atleast_2d(a[:n]); np.broadcast_shapes((n, 4), (3, 4));
np.polynomial.polynomial.polyadd(y * 1.0, z * 1.0); np.polynomial.polynomial.polysub(y * 1.0, z * 1.0);
np.polynomial.polynomial.polymul(y * 1.0, z * 1.0); np.polynomial.polynomial.polyint(y * 1.0, n);
np.linalg.det(c[:, :n] * 1.0); np.linalg.inv(c[:, :n] * 1.0); np.linalg.slogdet(c[:, :n] * 1.0);
np.linalg.cholesky(c[:, :n] * 1.0); np.linalg.eigvals(c[:, :n] * 1.0); np.linalg.eigvalsh(c[:, :n] * 1.0);
np.linalg.eig(c[:, :n] * 1.0)[0]; np.linalg.eigh(c[:, :n] * 1.0)[0]; np.linalg.svd(c[:, :n] * 1.0)[1];
np.linalg.qr(c[:, :n] * 1.0)[1]; np.linalg.pinv(c[:, :n] * 1.0); np.linalg.norm(c[:, :n] * 1.0);
np.linalg.norm(c[:, :n] * 1.0, i); np.linalg.cond(c[:, :n] * 1.0); np.linalg.matrix_rank(c[:, :n] * 1.0);
c[:, :n].sum(); c[:, :n].T; c[:, :n].tobytes(); a[:n].item(); f.dot(y * 1.0); y.clip(z, z); y.clip(0, 9, z);
c.argmax(k);
c.argmin(k); filled(c[:, n:]); sorted_in_place(a[:n]);
np.full_like(c[:, :n], 3); np.dot(c * 1.0, c[:, :n] * 1.0); (c * 1.0) @ (c[:n] * 1.0); np.cross(c[:, :3], c[:, :n])
"""

# Python's own sequences.
BUILTINS = """
b'hello'[i:][0];
put([1, 2, 3, 4, 5], i); [1, 2, 3, 4, 5][i:]; [1, 2, 3, 4, 5][:i:2]; put_slice([1, 2, 3, 4, 5], i);
deleted_slice([1, 2, 3, 4, 5], i); [1] * n; 'ab' * n; [[1], [2, 3]][i][0];
'hello'[i:17:2]; 'hello'[::i]; 'hello'.index('l', i); 'hello'.rfind('l', i, i); 'hello'.count('l', i);
'hello'.startswith('e', i); 'hello'.endswith('l', 0, i); 'hello'.center(n); 'hello'.ljust(n); 'hello'.zfill(n);
'a b c'.split(' ', n)[0]; 'a b c'.rsplit(' ', n)[0]; 'aaa'.replace('a', 'b', n); 'a\\tb'.expandtabs(n); chr(i);
heapq.nlargest(n, [3, 1, 2]); heapq.heappop([3, 1, 2][n:]); heapq.heapreplace([3, 1, 2][n:], 4);
heapq.heappushpop([3, 1, 2][n:], 4); {1: 2, 4: 5}[i]; max([3, 1][n:]); min((a[:n])); sum([3, 1][n:]);
[q for q in a[i:]]; np.array([q for q in range(n)]); list(zip(a[i:], a))[0]; divided([1, 2, 3, 4, 5], i)
"""

# What is refused where types show it; `anabranch.game.native.unchecked` has the list.
REFUSED = """
a.flat[i]; put(a.flat, i); np.take(c, i, axis=0); np.take(c, x, 1); c.take(i, 0); np.delete(a, x);
np.delete(a, [0, i]); np.isneginf(y * 1.0, m); np.isposinf(y * 1.0, m); list(map(operator.getitem, [a], [i]));
list(map(np.add, [y], [z], [y])); list(map(a.take, [i])); np.add(*(y, z, y));
np.transpose(c, (k, 1)); np.permute_dims(c, (k, 1)); c.transpose((1, k)); c.transpose(1, k)
"""

# What takes no index, size or axis and goes by the shape of its one array; and what is refused by name.
HARMLESS_NAMES = """
array.T array.__hash__ array._zero_fill array.all array.any array.argsort array.astype array.conj array.conjugate
array.ctypes array.cumprod array.cumsum array.dtype array.flags array.imag array.itemsize array.max array.mean
array.min array.nbytes array.ndim array.allclose array.size array.nonzero array.prod array.ravel
array.real array.shape array.std array.strides
array.var np.angle np.around np.array np.asarray np.asarray_chkfinite np.atleast_1d np.atleast_3d np.copy
np.empty_like np.imag np.iscomplex np.iscomplexobj np.isreal np.isrealobj np.isscalar np.nan_to_num np.ones_like
np.real np.shape np.sinc np.size np.zeros_like
"""


# The ways in which rules use arrays; few enough for every run of the tests.
QUICK = """
a[i]; put(a, i); c[1, i]; c[i]; fill(a[i:], 5); a[x]; put(a, x); a[m]; c[x, 1]; a.take(i); np.delete(a, i);
increased(y, z); increased(c, y); np.add(y, z, y); y + z * 2; set_all(y, z); 'hello'[i];
[1, 2, 3, 4, 5][i]; (1, 2, 3, 4, 5)[i]; list(map(lambda q: np.arange(5)[q], [i])); sum_of(a, i)
"""
LISTS_OF_CASES = {
    "QUICK": QUICK,
    "INDEXED": INDEXED,
    "SIZED": SIZED,
    "EMPTY": EMPTY,
    "BUILTINS": BUILTINS,
    "REFUSED": REFUSED,
}


def cases(text):
    return [case.strip() for case in text.split(";")]


VALUES = {"i": INDICES, "n": SIZES, "k": AXES, "x": LISTS, "w": COUNTS, "m": LENGTHS, "y": LENGTHS, "z": LENGTHS}
# Where compiled code does something else than NumPy, and no harm: masks that are too short, what a negative size or
# count means, and the order of what is not sorted.
HARMLESS = (
    *("a[m]", "put(a, m)", "c[m]", "c[:, m]", "add(a, m)", "a[w > 1]"),
    *("np.diag(c, i)", "np.partition(a, i)", "np.argpartition(a, i)", "np.insert(a, x, 7)", "np.select([y > 1], [z])"),
    *("np.split(a, n)[0]", "np.hsplit(c, n)[0]", "np.vsplit(c, n)[0]", "np.dsplit(d, n)[0]"),
    "np.trace(s, i)",
    *("np.array_split(c, n)[0]", "np.linalg.norm(c[:, :n] * 1.0, i)", "np.polynomial.polynomial.polyint(y * 1.0, n)"),
    *("'a b c'.split(' ', n)[0]", "'aaa'.replace('a', 'b', n)", r"'a\tb'.expandtabs(n)"),
    *("np.polynomial.polynomial.polyval(y * 1.0, z * 1.0)", "np.kaiser(n, 1.0)", "np.diff(y, n=n)", "walk(y, z)"),
)


def put(cells, where):
    cells[where] = 5


def fill(cells, value):
    cells[:] = value


def add(cells, where):
    cells[where] += 5


def set_all(cells, values):
    cells[:] = values
    return cells


def set_some(cells, values):
    cells[1:] = values
    return cells


def walk(one, other):
    total = 0
    for left, right in np.nditer((one, other)):
        total += left.item() + right.item()
    return total


def filled(cells):
    cells.fill(9)


def sorted_in_place(cells):
    cells.sort()
    return cells


def increased(cells, values):
    cells += values
    return cells


def inserted(items, where):
    items.insert(where, 9)
    return items


def deleted(items, where):
    del items[where]
    return items


def put_slice(items, where):
    items[where:] = [7, 8]
    return items


def deleted_slice(items, where):
    del items[where:]
    return items


def divided(items, where):
    left, right = items[:where], items[where:]
    left.extend(right)
    left.reverse()
    return left


def sum_of(cells, index):
    total = 0
    for number in (index, index + 1):
        total += cells[number]
    return total


HELPERS = (
    put,
    fill,
    add,
    set_all,
    set_some,
    increased,
    filled,
    sorted_in_place,
    walk,
    inserted,
    deleted,
    put_slice,
    deleted_slice,
    divided,
    sum_of,
)


class Guarded:
    """Arrays inside larger ones that are full of 7777777."""

    def __init__(self):
        self.whole, self.inside = {}, {}
        square = np.arange(9.0).reshape(3, 3) + np.eye(3)
        for name, values in {
            "a": np.array([3, 1, 2, 0, 4]),
            "c": np.arange(12).reshape(3, 4),
            "d": np.arange(24).reshape(2, 3, 4),
            "f": np.array([0.5, 0.25, 3.0, 1.0, 2.0]),
            "s": square,
        }.items():
            self.add(name, values)

    def add(self, name, values):
        whole = np.full(values.size + 200, AROUND, values.dtype)
        inside = whole[100 : 100 + values.size].reshape(values.shape)
        inside[...] = values
        self.whole[name], self.inside[name] = whole, inside

    def broken(self):
        """Return the names of arrays around which somebody wrote."""
        return [
            name
            for name, whole in self.whole.items()
            if (whole[:100] != whole.dtype.type(AROUND)).any()
            or (whole[100 + self.inside[name].size :] != whole.dtype.type(AROUND)).any()
        ]


def given(name, value):
    """Return an argument, from what the lists above say of it."""
    if name in ("x", "w"):
        return np.array(value)
    if name == "m":
        return np.arange(value) % 3 != 1
    if name in ("y", "z"):
        return np.arange(value) + 1
    return value


def told(answer):
    """Return an answer as something that can be compared."""
    if isinstance(answer, np.ndarray):
        return [answer.shape, np.round(answer.astype(complex if answer.dtype.kind == "c" else float), 6).tolist()]
    if isinstance(answer, (list, tuple)):
        return [told(item) for item in answer]
    return round(float(answer), 6) if isinstance(answer, (int, float, np.number, np.bool_)) else answer


def outcome(function, arguments, names):
    """Call something with fresh arrays; return what it gave, what it left in them, and what it touched around them."""
    guarded = Guarded()
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            guarded.add(name, value)
    values = [guarded.inside.get(name, arguments.get(name)) for name in names]
    try:
        with np.errstate(all="ignore"):
            answer = told(function(*values))
    except numba.core.errors.NumbaError as error:
        return "refused", str(error), []
    except Exception:
        answer = "raises"
    left = [told(value) for value in guarded.inside.values()]
    return answer, left, guarded.broken()


def trouble(case):
    """Return what is wrong with a case, None if nothing is."""
    names = sorted({node.id for node in ast.walk(ast.parse(case)) if isinstance(node, ast.Name)} & set("acdfsinkxwmyz"))
    free = [name for name in names if name in VALUES]
    plain = {"np": np, "heapq": heapq, "operator": operator} | {helper.__name__: helper for helper in HELPERS}
    jitted = dict(plain)
    for helper in HELPERS:
        jitted[helper.__name__] = numba.njit(**OPTIONS | {"no_cpython_wrapper": False})(helper)
    source = f"lambda {', '.join(names)}: {case}"
    ours, theirs = eval(source, jitted), eval(source, plain)
    compiled = numba.njit(**OPTIONS | {"no_cpython_wrapper": False})(ours)
    for first in VALUES[free[0]]:
        for second in VALUES[free[1]] if len(free) > 1 else (None,):
            arguments = {name: given(name, value) for name, value in zip(free, (first, second), strict=False)}
            found = outcome(compiled, arguments, names)
            if found[0] == "refused":
                return f"refused: {found[1]}"
            expected = outcome(theirs, arguments, names)
            if found[2]:
                return f"{first}, {second}: writes around {found[2]}"
            if re.search(rf"\b{AROUND}\b", repr(found[0])):
                return f"{first}, {second}: reads around an array"
            if found[0] != "raises" and repr(found[:2]) != repr(expected[:2]) and case not in HARMLESS:
                return f"{first}, {second}: {found[0]} and not {expected[0]}"
    return None


def known_names():
    """Return the functions of NumPy and the attributes of arrays that Numba knows."""
    from numba.core.registry import cpu_target

    context = cpu_target.typing_context
    cpu_target.target_context.refresh()
    context.refresh()
    names = set()
    modules = {"np": np, "np.linalg": np.linalg, "np.lib.stride_tricks": np.lib.stride_tricks}
    modules["np.polynomial.polynomial"] = np.polynomial.polynomial
    for prefix, module in modules.items():
        for name in dir(module):
            value = getattr(module, name, None) if not name.startswith("_") else None
            if callable(value) and not isinstance(value, (type, np.ufunc)):
                try:
                    context.resolve_value_type(value)
                except Exception:  # Numba does not know it
                    continue
                names.add(f"{prefix}.{name}")
    array = types.Array(types.int64, 2, "C")
    for template in context._get_attribute_templates(array):
        names |= {f"array.{name.removeprefix('resolve_')}" for name in dir(template) if name.startswith("resolve_")}
        if getattr(template, "_attr", None):
            names.add(f"array.{template._attr}")
    return names


def told_apart(which, first):
    """Print what comes of the cases of one list, from one of them on."""
    warnings.simplefilter("ignore")
    for number, case in list(enumerate(cases(LISTS_OF_CASES[which])))[first:]:
        print(json.dumps([number, case, "begun"]), flush=True)
        print(json.dumps([number, case, trouble(case)]), flush=True)


def walked(which):
    """Call the cases of a list in another process, begun anew after a crash; return {case: what is wrong, or None}."""
    found: dict[str, str | None] = {}
    while len(found) < len(cases(LISTS_OF_CASES[which])):
        command = [sys.executable, "-m", "tests.unchecked", which, str(len(found))]
        done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent.parent, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if not lines:
            raise RuntimeError(done.stderr)
        found |= {case: wrong for _, case, wrong in lines}
        if lines[-1][2] == "begun":
            found[lines[-1][1]] = f"ends the process with {done.returncode}"
    return found


def main():
    """Walk through all lists; print how many cases there were, and which are wrong."""
    count = 0
    wrong: dict[str, str] = {}
    for which in ("INDEXED", "SIZED", "EMPTY", "BUILTINS"):
        found = walked(which)
        count += len(found)
        wrong |= {case: what for case, what in found.items() if what}
        print(f"{which}: {len(found)} cases", flush=True)
    for case, what in walked("REFUSED").items():
        count += 1
        if "does not check" not in str(what):
            wrong[case] = f"should be refused: {what}"
    for case, what in wrong.items():
        print(f"{case}: {what}")
    print(f"{count} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:]:
        told_apart(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(main())
