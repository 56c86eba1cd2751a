"""Every example runs, and says what it promises."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.sources import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PATIENCE = 20.0  # seconds on a busy machine; what one should take is a tenth of it


def output(number: int, folder: Path) -> str:
    """Run an example in an empty folder and return what it prints."""
    command = [sys.executable, str(EXAMPLES[number - 1])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_examples_are_numbered():
    assert [path.name[:3] for path in EXAMPLES] == [f"{number:02}_" for number in range(1, len(EXAMPLES) + 1)]
    tested = {int(name[-2:]) for name in globals() if re.fullmatch(r"test_example_\d\d", name)}
    assert tested == set(range(1, len(EXAMPLES) + 1))


def test_example_05(tmp_path):
    """A pole on a cart falls after some twenty random pushes, and stays up for hundreds of sensible ones."""
    at_random, by_rule = map(int, re.findall(r"(\d+)(?: steps| of 500)", output(5, tmp_path)))
    assert 10 < at_random < 40
    assert by_rule > 300


def test_example_01(tmp_path):
    """Three in a row with both ends free cannot be stopped: c and f win, nothing else does; no waiting for it."""
    begun = time.perf_counter()
    said = output(1, tmp_path)
    assert time.perf_counter() - begun < PATIENCE
    assert ". . . x x . ." in said
    rows = [line.split() for line in said.partition("\naction ")[2].splitlines()[1:]]
    best = rows[0]
    assert best[0] in ("c", "f")
    assert sum(float(row[3].rstrip("%")) for row in rows if row and row[0] in ("c", "f")) > 80
    assert float(best[4]) > 0.8


def high_roll() -> float:
    """Work the dice game of example 02 out without the library: backwards over the rolls of both players."""
    faces = range(1, 7)
    kept = {}  # what the first player gets for stopping at a face
    for mine in faces:
        theirs = -math.inf  # the second player's worth with no roll left
        for _ in range(3):
            theirs = sum(max((face > mine) - (face < mine), theirs) for face in faces) / 6
        kept[mine] = -theirs
    value = -math.inf
    for _ in range(3):
        value = sum(max(kept[face], value) for face in faces) / 6
    return value


def test_example_02(tmp_path):
    """The search nears the exact value, which is the one worked out by hand, and keeps the rolls that are best kept."""
    said = output(2, tmp_path)
    [exact] = re.findall(r"exact value ([+-][\d.]+)", said)
    assert float(exact) == pytest.approx(high_roll(), abs=5e-5)
    errors = [abs(float(value) - float(exact)) for value in re.findall(r"simulations: value ([+-][\d.]+)", said)]
    assert len(errors) == 2
    assert errors[1] < 0.05
    assert errors[1] < 0.6 * errors[0]
    decisions = re.findall(r"after a (\d): search (\w+), exact (\w+)", said)
    assert [int(face) for face, _, _ in decisions] == [1, 2, 3, 4, 5, 6]
    assert [search for _, search, _ in decisions] == [best for _, _, best in decisions]
    assert [best for _, _, best in decisions] == ["roll"] * 4 + ["stop"] * 2


def test_example_03(tmp_path):
    """The prior prefers to go back; near the end the plan goes on, and its tree is drawn."""
    said = output(3, tmp_path)
    rows = [line.split() for line in said.partition("\n")[2].splitlines()[:4]]
    assert [row[1] for row in rows[1:]] == ["right"] * 3
    assert all(int(row[2]) + int(row[3]) == 100 for row in rows)
    assert "<svg" in (tmp_path / "corridor.svg").read_text(encoding="utf-8")


def test_example_04(tmp_path):
    """With proofs the game is solved by 5,000 simulations; averages alone still play another move after 30,000."""
    said = output(4, tmp_path)
    assert re.search(r"states, worth [+-]?\d to the first", said)
    found = re.findall(r"proofs (\w+), (\d+) simulations: [^,]+, ([\w ]+); value ([+-][\d.]+)(, solved)?", said)
    on, off = ([row[1:] for row in found if row[0] == proofs] for proofs in ("on", "off"))
    assert [int(row[0]) for row in off] == [1000, 5000, 30_000]
    assert {row[1] for row in off} == {"not best"}
    assert all(int(simulations) < 5000 for simulations, *_ in on)
    assert on[1][1:] == on[2][1:] == ("best", "+1.000", ", solved")
