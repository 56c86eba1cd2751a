"""Training runs of ours and others: each a session of processes, ended when its processor time is used up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import measure

from peers.remote import surroundings

POLL = 0.5  # seconds
SAVING = 300.0  # seconds on the wall that a run may take to save after it was interrupted
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Trained:
    """What a run took, of all its processes, and how it ended."""

    processor: float  # seconds
    wall: float
    ended: str  # "time", or how it ended by itself


def session_seconds(stats: Iterable[str], session: int) -> float:
    """Return the processor's seconds of a session: its living processes and the children they waited for.

    `stats` are lines as in /proc/PID/stat. A process may be named anything, in brackets, so fields are counted from the
    last bracket on: the session is the 4th, user and system time are the 12th and 13th, those of children the next two.
    """
    total = 0
    for line in stats:
        fields = line.rpartition(")")[2].split()
        if len(fields) > 14 and int(fields[3]) == session:
            total += sum(map(int, fields[11:15]))
    return total / TICKS


def living() -> Iterable[str]:
    """Yield a line per process."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                yield (folder / "stat").read_text(errors="replace")
            except OSError:  # it ended meanwhile
                continue


def run(
    command: Sequence[str | Path], folder: Path, seconds: float, *, saves: bool, path: Sequence[Path] = ()
) -> Trained:
    """Run a command until it has used so much processor time.

    One that saves when it is interrupted, as Ctrl-C does, gets time for that, and what it takes counts; any other is
    ended at once, and what it last wrote by itself is its result.
    """
    folder.mkdir(parents=True, exist_ok=True)
    began, spent, ended = time.monotonic(), 0.0, ""
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=os.environ | surroundings(path),
            start_new_session=True,
        )
        try:
            told, asked = began, 0.0
            while not _over(process):
                spent = max(spent, session_seconds(living(), process.pid))
                now = time.monotonic()
                if now - told > 30.0:
                    told = now
                    measure.log(f"    … {folder.name}: {spent:.0f} of {seconds:.0f} s, {now - began:.0f} s on the wall")
                if not asked and spent >= seconds:
                    ended = "time"
                    if not saves:
                        break
                    asked = now
                    os.kill(process.pid, signal.SIGINT)
                if asked and now - asked > SAVING:
                    break
                time.sleep(POLL)
            spent = max(spent, session_seconds(living(), process.pid))
        finally:
            _end(process)
    trained = Trained(spent, time.monotonic() - began, ended or f"by itself, with {process.returncode}")
    (folder / "trained.json").write_text(json.dumps(asdict(trained)))
    return trained


def _over(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended, which leaves it to be waited for: its number and its time are still there."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a session; its number stays taken until its first process has been waited for."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
