"""Run every benchmark, each in a process of its own, and print one table.

Figures with their details stay in results/ (not in the repository); the table itself goes to latest.json.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import measure

SCRIPTS = (
    "search_speed",
    "rollout_speed",
    "numba_speed",
    "growth",
    "simultaneous_speed",
    "threads",
    "object_speed",
    "instructions",
)


def main(names: list[str]) -> int:
    """Run the scripts named, or all; the exit code says whether every bar is met."""
    rows = []
    for name in names or SCRIPTS:
        measure.log(f"— {name}")
        script = Path(__file__).parent / f"{name}.py"
        done = subprocess.run([sys.executable, str(script)], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            rows.append(measure.Row(f"{name} failed", math.nan, bar=0.0))
            continue
        for row in json.loads((measure.RESULTS / f"{name}.json").read_text())["rows"]:
            row.pop("ok")
            rows.append(measure.Row(**row))
    print(measure.table(rows))
    if not names:
        measure.write(Path(__file__).with_name("latest.json"), "all", rows, details=False)
    return 0 if all(row.ok is not False for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
