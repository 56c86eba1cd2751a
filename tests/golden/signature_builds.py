"""Sign the engine as it was built elsewhere: `python signature_builds.py FOLDER …`, each holding a `_native` module.

`make signature-builds` compiles the engine without and with optimisation and runs this: every build, twenty runs and
one to eight threads must give the number in signature.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.hard.other_build import load_native  # noqa: E402

STORED = Path(__file__).with_name("signature.json")
RUNS = 20
MOST_THREADS = 8


def sign(folder: Path, runs: int, most_threads: int) -> set[int]:
    """Return the numbers that the module in a folder signs with."""
    module = load_native(folder)
    from anabranch.search.diagnosis.signature import signature
    from anabranch.search.engine import searcher

    assert searcher._native is module  # type: ignore[attr-defined]
    found = {signature().number for _ in range(runs)}
    return found | {signature(threads=threads).number for threads in range(1, most_threads + 1)}


def main(folders: list[str]) -> int:
    """Compare all builds with the number stored; the first of them is also run many times and on many threads."""
    wanted, failed = json.loads(STORED.read_text())["signature"], False
    for place, folder in enumerate(folders):
        runs, threads = (1, 1) if place else (RUNS, MOST_THREADS)
        # One process per build: a process can hold one native module only.
        command = [sys.executable, __file__, "--one", folder, str(runs), str(threads)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        good = found == [wanted]
        failed |= not good
        print(f"{folder}: {runs} runs, 1 to {threads} threads: {found} {'as stored' if good else f'stored: {wanted}'}")
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(sorted(sign(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))))
    else:
        raise SystemExit(main(sys.argv[1:]))
