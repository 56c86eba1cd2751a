"""Whatever is parsed, and whatever is in it: accepted, or refused in a few lines, soon; nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hard.fuzz import CORPUS, KEPT, corpus, fuzz
from tests.hard.law import LawBrokenError, judged
from tests.hard.mutate import Mutator
from tests.hard.targets import TARGETS, Target

from anabranch.errors import DataError

QUICK, MANY, LONG = 40, 20_000, 1800  # inputs of a target, each day and once in a while; seconds
ROOT = Path(__file__).resolve().parents[2]
every = pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])


@every
def test_what_is_parsed_is_accepted_or_refused(target: Target, hard, counts, request):
    """In a process of its own if it takes long: should it crash, the input is the one that was kept last."""
    seed = request.config.getoption("--seed")
    if not hard:
        _, broken = fuzz(target, QUICK, seed)
        assert not broken, "\n".join(broken)
        return
    cases = int((request.config.getoption("--cases") or MANY) * target.share)
    command = [sys.executable, "-m", "tests.hard.fuzz", target.name, "--cases", str(cases), "--seed", str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, f"{done.stderr[-8000:]}\nthe last input, if it crashed, is in {KEPT}"
    verdicts = json.loads(done.stdout.splitlines()[-1])
    seconds = verdicts.pop("seconds")
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(verdicts.items()))
    counts[target.name] = f"{sum(verdicts.values()):,} in {seconds} s: {told}"
    assert sum(verdicts.values()) >= cases


def test_the_same_seed_makes_the_same_inputs():
    one, other, third = (Mutator([b'{"a": 1}'], [b"word"], seed) for seed in ("0", "0", "1"))
    made = [one.make() for _ in range(50)]
    assert made == [other.make() for _ in range(50)]
    assert made != [third.make() for _ in range(50)]
    assert len(set(made)) > 40


def test_the_corpus_is_small_and_each_folder_a_target():
    assert {folder.name for folder in CORPUS.iterdir()} <= {target.name for target in TARGETS}
    for target in TARGETS:
        assert all(len(data) <= 25_000 for data in corpus(target))


def raises(error: BaseException):
    def read(data: bytes) -> None:
        raise error

    return read


@pytest.mark.parametrize(
    "read",
    [
        raises(KeyError("a slip of the parser")),
        raises(RecursionError()),
        raises(MemoryError()),
        raises(DataError("")),
        raises(DataError("a line\n" * 40)),
        raises(DataError("a" * 10_000)),
    ],
)
def test_a_broken_law_is_seen(read):
    with pytest.raises(LawBrokenError):
        judged(read, b"")


def test_slow_and_greedy_parsers_are_seen(monkeypatch):
    monkeypatch.setattr("tests.hard.law.MOST_SECONDS", 0.05)
    with pytest.raises(LawBrokenError, match="seconds"):
        judged(lambda data: sum(range(10_000_000)), b"")
    monkeypatch.setattr("tests.hard.law.MOST_SECONDS", 5.0)
    monkeypatch.setattr("tests.hard.law.MOST_BYTES", 2**20)
    monkeypatch.setattr("tests.hard.law.peak", iter([2**30, 2**30 + 2**21]).__next__)
    with pytest.raises(LawBrokenError, match="2 MB more"):
        judged(lambda data: None, b"")


def test_what_keeps_the_law_is_told_by_its_name():
    assert judged(raises(DataError("no such thing")), b"") == "DataError"
    assert judged(lambda data: None, b"") == "accepted"
