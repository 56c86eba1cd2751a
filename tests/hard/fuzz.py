"""Give parsers many inputs, none of which was meant for them: `python -m tests.hard.fuzz TARGET --cases 1000 --seed 0`.

The inputs of `corpus/TARGET` come first, then those made of them. What breaks the law is printed and kept in
`build/hard`; put it into the corpus when it is mended. The last input is kept as well, should the process die over it.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.hard.law import LawBrokenError, judged
from tests.hard.mutate import Mutator
from tests.hard.targets import TARGETS, Read, Target

CORPUS = Path(__file__).parent / "corpus"
KEPT = Path(__file__).resolve().parents[2] / "build" / "hard"
MOST_BROKEN = 10  # before one gives up


def corpus(target: Target) -> list[bytes]:
    """Return the inputs that are kept for a target."""
    folder = CORPUS / target.name
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []


def fuzz(target: Target, cases: int, seed: int, last: Path | None = None) -> tuple[Counter[str], list[str]]:
    """Try the corpus and so many inputs more; return how many were accepted and refused, and what broke the law."""
    verdicts: Counter[str] = Counter()
    broken: list[str] = []
    where = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            read, made = target.prepare(Path(folder))
            known = [*made, *corpus(target)]
            mutator = Mutator(known, target.words, f"{target.name} {seed}")
            for data in known:  # what is compiled, imported and cached is so now
                _try(read, data, verdicts, broken, target)
            for _ in range(cases):
                data = mutator.make()
                if last is not None:
                    last.write_bytes(data)
                _try(read, data, verdicts, broken, target)
                if len(broken) >= MOST_BROKEN:
                    break
        finally:
            os.chdir(where)
    return verdicts, broken


def _try(read: Read, data: bytes, verdicts: Counter[str], broken: list[str], target: Target) -> None:
    try:
        verdicts[judged(read, data)] += 1
    except LawBrokenError as error:
        verdicts["broke the law"] += 1
        KEPT.mkdir(parents=True, exist_ok=True)
        path = KEPT / f"{target.name}-{len(broken)}"
        path.write_bytes(data)
        frames = traceback.extract_tb(error.__cause__.__traceback__)[-3:] if error.__cause__ else []
        way = " → ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
        broken.append(f"{target.name}: {error}\n  {way}\n  input {data[:120]!r}, kept in {path}")


def main() -> int:
    """Fuzz one target and print how often what happened, as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target", choices=[target.name for target in TARGETS])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    faulthandler.enable()
    os.environ.setdefault("ANABRANCH_CACHE", str(KEPT.parent / "test-cache"))  # as tests/conftest.py has it
    KEPT.mkdir(parents=True, exist_ok=True)
    target = next(target for target in TARGETS if target.name == chosen.target)
    last, started = KEPT / f"{target.name}-last", time.monotonic()
    verdicts, broken = fuzz(target, chosen.cases, chosen.seed, last)
    for each in broken:
        print(each, file=sys.stderr)
    last.unlink(missing_ok=True)
    print(json.dumps({"seconds": round(time.monotonic() - started), **verdicts}))
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
