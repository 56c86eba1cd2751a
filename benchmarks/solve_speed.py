"""How much faster is ab.solve in the engine than in Python? Games of turns, of dice that loop, and of tables.

Figures are states solved per second of processor time; both solve everything. The Python side, over the same compiled
rules, takes up to a minute and is called once; the engine's is the median of calls before and after it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import measure  # first: it limits threads
import numpy as np

import anabranch as ab
from anabranch.search.exact.progress import Progress, Teller
from anabranch.search.exact.solve import solved_in_python

BAR = 20.0
CALLS = 3  # of the engine, on each side of the one in Python
CASES: tuple[tuple[str, str, dict[str, Any], tuple[int, ...]], ...] = (
    ("connect four 5×4 after a a", "connect_four", {"rows": 5, "columns": 4}, (0, 0)),
    ("pig to 15", "pig", {"target": 15}, ()),
    ("goofspiel of 6 cards", "goofspiel", {"cards": 6}, ()),
)


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    return [row(*case) for case in CASES]


def row(label: str, name: str, options: dict[str, Any], moves: tuple[int, ...]) -> measure.Row:
    """Measure one game from the state after some moves."""
    state = ab.games.load(name, **options).start()
    for move in moves:
        state, _ = state.step(move)
    ab.solve(state)  # warm
    ours, solution = measured(lambda: ab.solve(state), CALLS)
    theirs, oracle = measured(lambda: solved_in_python(state, 1_000_000, 1e-12, Teller(tell(label))), 1)
    ours += measured(lambda: ab.solve(state), CALLS)[0]
    apart = float(np.abs(solution._values - oracle._values).max())
    assert apart <= 1e-12, f"{label}: the two solutions differ by {apart}"
    engine, python = solution.states / statistics.median(ours), solution.states / theirs[0]
    details = {"states": solution.states, "apart": apart, "engine_seconds": ours, "python_seconds": theirs}
    question = f"solve {label}, {solution.states:,} states"
    return measure.Row(question, engine, python, engine / python, BAR, unit="states/s", note="Python", details=details)


def measured(call: Callable[[], Any], times: int) -> tuple[list[float], Any]:
    """Return the processor time of some calls, which stops while others have the core, and the last answer."""
    seconds = []
    for _ in range(times):
        began = time.process_time()
        answer = call()
        seconds.append(time.process_time() - began)
    return seconds, answer


def tell(label: str) -> Callable[[Progress], None]:
    """Return a function that says how far a solution is, but not too often."""
    said = [time.monotonic()]

    def say(progress: Progress) -> None:
        if time.monotonic() - said[0] > measure.BEAT:
            said[0] = time.monotonic()
            measure.log(f"    … {label} in Python: {progress}")

    return say


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
