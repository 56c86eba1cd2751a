"""Measure contenders side by side: interleaved rounds, medians, ratios from one run, a table and JSON.

Import this before NumPy: it holds every thread pool to one thread, and unless told otherwise the process to one core.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

for _pool in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")

RESULTS = Path(__file__).parent / "results"
BEAT = 1.5  # seconds between signs of life
_said = [0.0]  # when something was said last


def use_cores(count: int = 1) -> None:
    """Keep this process on so many cores, the last ones it may use, where the system lets us choose."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, set(allowed[-count:]))


Clock = tuple[float, float]  # of one call: wall time, processor time of all threads


class Timed(Protocol):
    """What can be compared: a Contender here, or one in a process of its own (peers/remote.py)."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    @property
    def units(self) -> float:
        """How much work one call does."""

    def clocks(self, calls: int) -> list[Clock]:
        """Call so often and return each call's clock."""


@dataclass(frozen=True)
class Contender:
    """Something to time: one call does `units` of work (simulations, say)."""

    name: str
    call: Callable[[], Any]
    units: float
    prepare: Callable[[], Any] | None = None  # called before each timed call, its time not counted
    counted: Callable[[], float] | None = None  # the units of the last call by the contender's own count
    evaluated: Callable[[], float] | None = None  # the positions an evaluator was asked about in the last call

    def clocks(self, calls: int) -> list[Clock]:
        """Call so often, rubbish collected before and not meanwhile: nobody pays for what another left."""
        collecting = gc.isenabled()
        gc.collect()
        gc.disable()
        try:
            return [self._clock() for _ in range(calls)]
        finally:
            if collecting:
                gc.enable()

    def _clock(self) -> Clock:
        if self.prepare:
            self.prepare()
        processor, began = time.process_time(), time.perf_counter()
        self.call()
        return time.perf_counter() - began, time.process_time() - processor


@dataclass
class Rates:
    """What the rounds showed: units per second of each contender, one number per round."""

    names: list[str]
    rounds: list[list[float]]  # [round][contender]
    cores: list[list[float]]  # [round][contender] processor time over wall time: below 1 others had the core too

    def rate(self, name: str) -> float:
        """Return a contender's median rate."""
        at = self.names.index(name)
        return statistics.median(row[at] for row in self.rounds)

    def ratio(self, ours: str, theirs: str) -> float:
        """Return the median over rounds of ours / theirs, each ratio from calls made next to each other."""
        a, b = self.names.index(ours), self.names.index(theirs)
        return statistics.median(row[a] / row[b] for row in self.rounds)

    def share(self, name: str) -> float:
        """Return how many cores a contender had, in the median round."""
        at = self.names.index(name)
        return statistics.median(row[at] for row in self.cores)

    def undisturbed(self, wanted: Sequence[float]) -> Rates:
        """Return the rounds in which every contender had at least so many cores."""
        kept = [
            i for i, row in enumerate(self.cores) if all(had >= need for had, need in zip(row, wanted, strict=True))
        ]
        return Rates(self.names, [self.rounds[i] for i in kept], [self.cores[i] for i in kept])

    def fastest(self, names: Sequence[str]) -> str:
        """Return the contender with the largest median rate."""
        return max(names, key=self.rate)


def compare(
    contenders: Sequence[Timed],
    *,
    rounds: int = 15,
    seconds: float = 20.0,
    slice_seconds: float = 0.03,
    wall: bool = False,
    fastest: bool = False,
) -> Rates:
    """Time all contenders in every round, forwards and backwards in turn, until enough rounds or seconds have passed.

    A contender is called as often per round as fills `slice_seconds`; the round's figure is the median call, or the
    fastest: where others use the cores, most calls find the caches full of what is not theirs. Work of one thread is
    timed by the processor's clock, which stops while others have the core; `wall` is for several.
    """
    figure_of = min if fastest else statistics.median
    calls = []
    for contender in contenders:
        contender.clocks(1)  # warm: compilation, caches, first allocations
        [(once, _)] = contender.clocks(1)
        calls.append(max(1, min(200, round(slice_seconds / max(once, 1e-9)))))
    table: list[list[float]] = []
    cores: list[list[float]] = []
    start = time.perf_counter()
    while len(table) < rounds and (len(table) < 3 or time.perf_counter() - start < seconds):
        row, had = [0.0] * len(contenders), [0.0] * len(contenders)
        order = range(len(contenders)) if len(table) % 2 == 0 else reversed(range(len(contenders)))
        for at in order:
            clocks = contenders[at].clocks(calls[at])
            row[at] = contenders[at].units / figure_of(clock[0 if wall else 1] for clock in clocks)
            had[at] = sum(worked for _, worked in clocks) / sum(passed for passed, _ in clocks)
        table.append(row)
        cores.append(had)
        if time.monotonic() - _said[0] > BEAT:
            log(f"    … {' and '.join(c.name for c in contenders)}: {len(table)} of at most {rounds} rounds")
    return Rates([c.name for c in contenders], table, cores)


@dataclass
class Row:
    """One line of the table: our figure, theirs, and the ratio the bar is about."""

    name: str
    ours: float | None
    theirs: float | None = None
    ratio: float | None = None
    bar: float | None = None
    at_most: bool = False  # the bar is an upper limit
    unit: str = "simulations/s"
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def evaluated(self) -> float | None:
        """The number the bar is about."""
        return self.ours if self.ratio is None else self.ratio

    @property
    def ok(self) -> bool | None:
        """Whether the bar is met; None without a bar."""
        if self.bar is None:
            return None
        evaluated = math.nan if self.evaluated is None else self.evaluated
        return evaluated <= self.bar if self.at_most else evaluated >= self.bar


def versus(name: str, rates: Rates, ours: str, theirs: str, bar: float | None, note: str = "") -> Row:
    """Return the line of a comparison between two contenders."""
    details: dict[str, Any] = {
        "rounds": len(rates.rounds),
        "cores": {n: round(rates.share(n), 3) for n in rates.names},
    }
    details["rates"] = {n: round(rates.rate(n), 1) for n in rates.names}
    details["ratio_by_round"] = [
        round(row[rates.names.index(ours)] / row[rates.names.index(theirs)], 3) for row in rates.rounds
    ]
    return Row(name, rates.rate(ours), rates.rate(theirs), rates.ratio(ours, theirs), bar, note=note, details=details)


def table(rows: Sequence[Row]) -> str:
    """Return the lines as text: name, ours, theirs, ratio, bar, ok?; without bars there are no columns for them."""
    cells = [["question", "ours", "theirs", "ratio", "bar", "ok?", ""]]
    for row in rows:
        bar = "" if row.bar is None else ("≤ " if row.at_most else "≥ ") + f"{row.bar:.3g}"
        verdict = {True: "yes", False: "NO", None: ""}[row.ok]
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        cells.append([row.name, figure(row.ours), figure(row.theirs), ratio, bar, verdict, row.note])
    if all(row.bar is None for row in rows):
        cells = [line[:4] + line[6:] for line in cells]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    numeric = {cells[0].index(name) for name in ("ours", "theirs", "ratio", "bar") if name in cells[0]}
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def figure(value: float | None) -> str:
    """Return a number as people read it: 1.23 M, 45.6 k, 789."""
    if value is None:
        return ""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if abs(value) >= size * 0.9995:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, versions, commit."""
    facts: dict[str, Any] = {"processor": _processor(), "python": platform.python_version()}
    for package in ("numpy", "numba", "open_spiel"):
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = None
    try:
        command = ["git", "describe", "--always", "--dirty"]
        facts["commit"] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        facts["commit"] = None
    if hasattr(os, "getloadavg"):
        facts["load"] = round(os.getloadavg()[0], 2)
    return facts


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def finish(script: str, rows: Sequence[Row]) -> None:
    """Print the table and leave the figures as JSON in results/, under the script's name."""
    print(table(rows), flush=True)
    RESULTS.mkdir(exist_ok=True)
    name = Path(script).stem
    write(RESULTS / f"{name}.json", name, rows)


def write(path: Path, name: str, rows: Sequence[Row], *, details: bool = True) -> None:
    """Write lines as JSON, with what they were measured on."""
    lines = plain(rows, details=details)
    path.write_text(json.dumps({"benchmark": name, "machine": machine(), "rows": lines}, indent=1) + "\n")


def plain(rows: Sequence[Row], *, details: bool = False) -> list[dict[str, Any]]:
    """Return lines as plain data; without details, figures have four digits."""
    lines = []
    for row in rows:
        line = asdict(row) | {"ok": row.ok}
        if not details:
            del line["details"]
            line |= {key: float(f"{line[key]:.4g}") for key in ("ours", "theirs", "ratio") if line[key] is not None}
        lines.append(line)
    return lines


def log(words: str) -> None:
    """Say what is going on."""
    print(words, file=sys.stderr, flush=True)
    _said[0] = time.monotonic()
