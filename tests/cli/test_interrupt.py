"""Ctrl-C ends every command soon, with exit code 130 and no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anabranch.cli import COMMANDS, INTERRUPTED
from anabranch.cli.failure import failure

PATIENCE = 60.0  # seconds until it hangs; how long it really takes is measured elsewhere
SLOW = """
import time
import anabranch as ab

class Slow(ab.ObjectGame):
    def __init__(self):
        time.sleep(60)
"""
LONG: dict[str, list[list[str]]] = {
    "games": [["slow.py:Slow"]],  # stuck in somebody else's code
    "analyze": [
        ["connect_four", "--seconds", "600"],
        ["connect_four", "--simulations", "2000000000", "--evaluator", "uniform", "--json"],
        ["goofspiel", "--seconds", "600", "--set", "simultaneous=RegretMatching"],
        ["othello", "--seconds", "600", "--interpreted"],
    ],
    "play": [["connect_four"]],
    "match": [["connect_four", "random", "random", "--games", "100000000"]],
    "check": [["connect_four", "--seconds", "600"]],
    "new": [],  # writes one file
    "perft": [["othello", "--depth", "20"]],
    "doctor": [[]],
    "gate": [["connect_four", "search:simulations=20000", "search:simulations=20000"]],
    "regret": [["tic_tac_toe", "search:simulations=2000000"]],
    "oracle": [["solve", "yatzy"]],
    "train": [],  # tests/test_training.py: it saves first
    "rate": [],  # these three read a run, and are soon done
    "stats": [],
    "fork": [],
    "exploit": [["goofspiel", "search:simulations=10000000", "--option", "cards=4"]],
    "bench": [["--seconds", "600"], ["--signature"]],
}
CASES = [(command, words) for command, several in LONG.items() for words in several]


def interrupted(folder: Path, *words: str, stdin: int | None = None, times: int = 1) -> tuple[str, str, int]:
    """Run a command, interrupt it soon after it first said something, and return what it printed and its exit code."""
    (folder / "slow.py").write_text(SLOW)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "anabranch", *words]
    process = subprocess.Popen(
        command, stdin=pipe if stdin is None else stdin, stdout=pipe, stderr=pipe, cwd=folder, env=environment
    )
    assert process.stdout is not None
    assert process.stderr is not None
    first = b""
    if words[0] == "games":
        time.sleep(1.5)  # says nothing
    elif words[0] == "play":
        first_out = process.stdout.read(1)
        assert first_out
    else:
        first = process.stderr.readline()
        while words[0] == "analyze" and not first.startswith(b"searching"):
            first = process.stderr.readline()
        time.sleep(0.0 if words[0] == "doctor" else 0.3)  # into the work; the doctor's is soon done
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    out, err = process.communicate(timeout=PATIENCE)
    return out.decode(), (first + err).decode(), process.returncode


def test_every_command_is_interrupted_here():
    assert LONG.keys() == COMMANDS.keys()


@pytest.mark.parametrize(("command", "words"), CASES, ids=[" ".join((command, *words)) for command, words in CASES])
def test_ctrl_c_ends_a_command(command, words, tmp_path):
    out, err, code = interrupted(tmp_path, command, *words)
    assert code == INTERRUPTED, err
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    if "--json" in words:
        assert json.loads(out)["interrupted"] is True
        assert json.loads(out)["simulations"] >= 0
    elif command == "analyze":
        assert "interrupted after" in out


def test_a_second_ctrl_c_is_no_accident_either(tmp_path):
    _, err, code = interrupted(tmp_path, "analyze", "connect_four", "--seconds", "600", times=2)
    assert code == INTERRUPTED, err
    assert "Traceback" not in err


def test_ctrl_c_ends_the_server_and_what_is_in_flight(tmp_path):
    command = [sys.executable, "-m", "anabranch", "analyze", "--stdio", "--workers", "1"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    for number in (1, 2):
        request = {"id": number, "op": "search", "game": "tic_tac_toe", "seconds": 1e6, "every": 0.01}
        process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED
    assert b"Traceback" not in err
    last = [answer for answer in map(json.loads, out.splitlines()) if answer["done"]]
    assert {answer["id"]: answer["cancelled"] for answer in last} == {1: True, 2: True}


def test_ctrl_c_ends_the_server_inside_an_evaluator(tmp_path):
    (tmp_path / "stuck.py").write_text(
        "import time\ndef evaluate(batch):\n    print('in', flush=True)\n    time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "anabranch", "analyze", "--stdio"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path)
    assert process.stdin is not None
    assert process.stderr is not None
    request = {"id": 1, "op": "search", "game": "tic_tac_toe", "seconds": 1, "evaluator": "stuck.py:evaluate"}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    while process.stderr.readline().strip() != b"in":
        pass
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED
    assert b"Traceback" not in err


def test_an_interruption_in_disguise_is_one():
    """Python wraps what is raised in __set_name__, and users wrap what they like."""
    wrapped = RuntimeError("something went wrong")
    wrapped.__cause__ = KeyboardInterrupt()
    assert failure(wrapped) == ("interrupted", INTERRUPTED)
    hidden = ValueError("something else")
    hidden.__context__ = wrapped
    assert failure(hidden) == ("interrupted", INTERRUPTED)


EARLY = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == MODULE:
            os.kill(os.getpid(), signal.SIGINT)

MODULE = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupts())
from anabranch.cli import main
raise SystemExit(main())
"""


@pytest.mark.parametrize(
    "module",
    ["anabranch.cli.interrupt", "anabranch.cli.output", "anabranch.cli.parse", "anabranch.cli.games", "numpy"],
)
def test_ctrl_c_while_the_first_modules_load_is_quiet_too(module):
    """From the first line of ours on; what Python does before that is its own affair."""
    words = [sys.executable, "-c", EARLY, module, "games", "tic_tac_toe"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "interrupted\n")


@pytest.mark.parametrize("where", ["loading", "callback"])
def test_ctrl_c_is_not_lost(where, tmp_path):
    """While modules load the process ends at once; dropped by a callback it comes again, and is raised."""
    begin = "from anabranch.cli import interrupt; import os, signal, time; interrupt.leave_at_once()\n"
    inside = "class Deaf:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(0.2)\n"
    programs = {
        "loading": begin + "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)",
        "callback": begin + inside + "interrupt.raise_again()\ntry:\n    x = Deaf(); del x; time.sleep(60)\n"
        "except KeyboardInterrupt:\n    interrupt.leave()",
    }
    done = subprocess.run(
        [sys.executable, "-c", programs[where]], capture_output=True, timeout=PATIENCE, check=False, cwd=tmp_path
    )
    assert done.returncode == INTERRUPTED
    assert b"Traceback" not in done.stderr
