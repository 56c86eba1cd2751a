"""Standard output that cannot be written: every command says so, and none of them exits with 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.cli import BAD_DATA, COMMANDS, GOOD

WORDS: dict[str, list[str]] = {
    "games": [],
    "analyze": ["tic_tac_toe", "--simulations", "5"],
    "play": ["tic_tac_toe", "--agent", "random"],
    "match": ["tic_tac_toe", "random", "random", "--games", "2"],
    "check": ["take_away", "--seconds", "0.05", "--interpreted"],
    "new": ["my_game"],
    "perft": ["take_away", "--depth", "1", "--interpreted"],
    "doctor": [],
    "exploit": ["take_away", "random", "--interpreted"],
    "gate": ["tic_tac_toe", "random", "random", "--most", "2"],
    "regret": ["take_away", "random", "--states", "2"],
    "oracle": ["solve", "take_away", "--interpreted"],
    "bench": ["--seconds", "0", "--simulations", "1"],
}
OF_RUNS = {"train", "rate", "stats", "fork"}  # need a run, or make one: tests/test_training.py
RUNS = [
    *([command, *words] for command, words in WORDS.items()),
    *([command, *WORDS[command], "--json"] for command in ("games", "analyze", "play")),
    *([[], ["--help"], ["--version"], ["check", "--help"], ["analyze", "--stdio"]]),
]
FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes descriptors")


def run(words: list[str], shell: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that redirects its streams."""
    script = f'exec "$0" -m anabranch "$@" {shell}'
    asked = json.dumps({"id": 1, "op": "ping"}) + "\n" if "--stdio" in words else "quit\n"
    return subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, *words],
        input=asked,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=120,
    )


def test_every_command_is_among_them():
    assert set(WORDS) | OF_RUNS == set(COMMANDS)


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_output_that_is_full_is_an_error(words, tmp_path):
    done = run(words, f"> {FULL}", tmp_path)
    assert done.returncode == BAD_DATA
    assert "error: standard output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if "error" in line]) == 1


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_output_that_is_closed_is_an_error_before_anything_is_done(words, tmp_path):
    done = run(words, ">&-", tmp_path)
    assert (done.returncode, done.stdout) == (BAD_DATA, "")
    assert done.stderr.startswith("error: standard output is closed")
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shell", ["2>&-", f"2> {FULL}", "<&- 2>&-"])
@pytest.mark.parametrize(
    "words",
    [["analyze", "tic_tac_toe", "--simulations", "5", "--json"], ["perft", "take_away", "--json"]],
    ids=" ".join,
)
def test_progress_that_nobody_hears_changes_nothing(words, shell, tmp_path):
    done = run(words, shell, tmp_path)
    assert done.returncode == GOOD
    json.loads(done.stdout)


def test_a_file_opened_without_standard_streams_is_not_taken_for_one_of_them(tmp_path):
    """The next file to be opened would get the number of the stream that is closed, and what is printed there."""
    done = run(["match", "tic_tac_toe", "random", "random", "--games", "4", "--out", "m.jsonl"], "<&- 2>&-", tmp_path)
    assert done.returncode == GOOD
    assert len((tmp_path / "m.jsonl").read_text().splitlines()) == 3


def test_letters_that_the_terminal_does_not_know_are_spelt_out(tmp_path):
    script = "import anabranch.cli as cli; cli.usage = lambda: 'a \\u2192 b'; raise SystemExit(cli.main())"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (GOOD, "a \\u2192 b\n")


def test_a_reader_that_reads_slowly_through_a_pipe_that_does_not_wait_gets_everything():
    """Some programs hand on pipes that do not block; a full one is no error."""
    script = (
        "import os, anabranch.cli as cli; os.set_blocking(1, False); cli.usage = lambda: 'x' * 300_000; "
        "raise SystemExit(cli.main())"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = process.stderr.read(0)
        data = process.stdout.read()
        assert process.wait(60) == GOOD
    assert data == b"x" * 300_000 + b"\n"
    assert said == b""
