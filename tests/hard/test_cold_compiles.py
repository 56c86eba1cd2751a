"""Four processes compile the same games at once, into a cache that is empty, spoilt, cut short or unwritable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

GAMES = ["tic_tac_toe", "connect_four", "pig", "goofspiel", "take_away"]
PROCESSES = 4
CODE = f"""
import warnings
warnings.simplefilter("ignore")  # a cache that cannot be written to is said once
import anabranch as ab
for name in {GAMES!r}:
    print(name, ab.search(ab.games.load(name).start(), simulations=30).visits.tolist())
"""


def run_all(cache: str) -> list[str]:
    environment = os.environ | {"ANABRANCH_CACHE": cache}
    command = [sys.executable, "-c", CODE]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    said = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES, said
    assert not any(errors for _, errors in said), said
    return [words for words, _ in said]


def spoil(path: Path, how: str, seed: int) -> None:
    data, random = path.read_bytes(), np.random.default_rng(seed)
    if how == "cut short":
        data = data[: int(random.integers(len(data)))]
    elif how == "a bit flipped":
        at = int(random.integers(len(data)))
        data = data[:at] + bytes([data[at] ^ 1 << int(random.integers(8))]) + data[at + 1 :]
    else:
        data = random.bytes(int(random.integers(1, 5000)))
    path.write_bytes(data)


def test_cold_compiles_side_by_side(tmp_path, counts):
    """All find the same, whatever the cache holds; what was spoilt is whole again afterwards."""
    expected = run_all(str(tmp_path / "cache"))
    assert len(set(expected)) == 1
    files = {path: path.stat().st_size for path in sorted((tmp_path / "cache").glob("*.object"))}
    assert len(files) >= len(GAMES)
    cases = 1
    for seed, how in enumerate(["cut short", "a bit flipped", "rubbish"]):
        for path in files:
            spoil(path, how, seed)
        assert run_all(str(tmp_path / "cache")) == expected, how
        assert {path: path.stat().st_size for path in files} == files, how
        cases += 1
    (tmp_path / "file").write_text("in the way")
    for place in (str(tmp_path / "file" / "cache"), "/proc/self/cache"):  # neither can be made, whoever asks
        assert run_all(place) == expected, place
        cases += 1
    counts["cold compiles, four processes each"] = f"{cases} caches, {cases * PROCESSES * len(GAMES)} games"
