"""Run every benchmark of our own, each in a process of its own, and print one table; run_peers.py compares with others.

Figures with their details stay in results/ (not in the repository); the table itself goes to latest.json.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import measure

SCRIPTS = (
    "rates",
    "numba_speed",
    "growth",
    "simultaneous_speed",
    "chance_speed",
    "solve_speed",
    "threads",
    "instructions",
)


def collect(names: Iterable[str]) -> list[measure.Row]:
    """Run scripts and return their lines; one that fails is a line that misses its bar."""
    rows = []
    for name in names:
        measure.log(f"— {name}")
        script = Path(__file__).parent / f"{name}.py"
        done = subprocess.run([sys.executable, str(script)], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            rows.append(measure.Row(f"{name} failed", math.nan, bar=0.0))
            continue
        for row in json.loads((measure.RESULTS / f"{name}.json").read_text())["rows"]:
            row.pop("ok")
            rows.append(measure.Row(**row))
    return rows


def main(names: list[str]) -> int:
    """Run the scripts named, or all; the exit code says whether every bar is met."""
    rows = collect(names or SCRIPTS)
    print(measure.table(rows))
    if not names:
        measure.write(Path(__file__).with_name("latest.json"), "all", rows, details=False)
    return 0 if all(row.ok is not False for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
