"""How many instructions is a simulation? Counted by callgrind, so that noise of the machine does not matter.

Needs valgrind and `make bench-native`. The rules are those in C++; rollouts call verbs one by one there. Shown is the
difference between runs of many and few searches, so starting the program does not count.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import measure

PROGRAM = Path(__file__).parents[1] / "build" / "benchmarks" / "search_benchmark"
SIMULATIONS = 800
FEW, MANY = 2, 12
NAMES = {
    "simultaneous": "a simple PyRat",
    "learning": "a simple PyRat, regret matching+",
    "gumbel": "a toy model of 9 actions, Gumbel",
    "muzero": "a toy model of 9 actions, MuZero",
}
PLANNED, PLANS_FEW, PLANS_MANY = 50, 20, 120  # simulations of a plan, whose root is made anew; plans


def instructions(kind: str, simulations: int, repeats: int) -> int:
    """Return the instructions of a run of the native program."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", str(PROGRAM), kind]
        command += [str(simulations), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    return int(found[1])


def rows() -> list[measure.Row]:
    """Count and return the lines of the table."""
    if not shutil.which("valgrind") or not PROGRAM.exists():
        measure.log("instructions: valgrind or build/benchmarks/search_benchmark is missing; skipped")
        return []
    lines = []
    for kind in ("uniform", "rollout", "simultaneous", "learning", "gumbel", "muzero"):
        plans = kind in ("gumbel", "muzero")
        simulations, *repeats = (PLANNED, PLANS_FEW, PLANS_MANY) if plans else (SIMULATIONS, FEW, MANY)
        few, many = (instructions(kind, simulations, count) for count in repeats)
        each = (many - few) / ((repeats[1] - repeats[0]) * simulations)
        name = f"instructions per simulation, {NAMES.get(kind, f'connect four, {kind}')}"
        rules = "C++ model" if plans else "C++ rules"
        lines.append(measure.Row(name, each, unit="instructions", note=f"{rules}, {simulations} simulations a search"))
    return lines


if __name__ == "__main__":
    measure.finish(__file__, rows())
