"""A contender in another process, timed there, that `measure.compare` takes like one of its own."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import measure

from peers.catalogue import Peer
from peers.questions import Question

FOLDER = Path(__file__).resolve().parents[1]
SETTING_UP = 90.0  # seconds: imports and compilation


class FailedError(Exception):
    """A contender could not do what it was asked; the message is what the table says."""


class Process:
    """A worker under somebody's interpreter, asked and answering over pipes."""

    def __init__(self, python: str | Path, title: str, path: Sequence[Path] = ()) -> None:
        self._title = title
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 — closed with the process
        self._process = subprocess.Popen(
            [str(python), str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | surroundings(path),
        )

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            assert stream is not None
            stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, doing: str, limit: float, **request: Any) -> Any:
        """Send a request and wait for its answer, saying now and then that it is being waited for."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        began = time.monotonic()
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise FailedError(self._last_words()) from None
        while not select.select([self._process.stdout], [], [], measure.BEAT)[0]:
            waited = time.monotonic() - began
            measure.log(f"    … {self._title}: {doing}, {waited:.0f} s")
            if waited > limit:
                raise FailedError(f"{doing}: stopped after {waited:.0f} s")  # no rate: others may have had the core
        line = self._process.stdout.readline()  # the worker writes whole lines
        if not line:
            raise FailedError(self._last_words())
        reply = json.loads(line)
        if "failure" in reply:
            raise FailedError(" ".join(reply["failure"].split())[:200])
        return reply["answer"]

    def _last_words(self) -> str:
        """Return how the process ended."""
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the process ended with {code}" + (f": {said[-1][:160]}" if said else "")


class Remote(Process):
    """A worker process with one contender, ready to be timed."""

    def __init__(
        self, python: str | Path, peer: Peer, question: Question, limit: float, setting_up: float = SETTING_UP
    ) -> None:
        super().__init__(python, peer.title)
        self.name = peer.name
        self.units = question.units
        self.limit = limit
        self._setting_up = setting_up  # seconds
        self.version: str | None = None
        self.evaluated: float | None = None  # positions evaluated in a search, where it can be told
        self.ready = 0.0  # seconds until the first search was done: imports, compilation, that search
        try:
            self._set_up(peer, question)
        except BaseException:
            self.close()
            raise

    def _set_up(self, peer: Peer, question: Question) -> None:
        task = {"adapter": peer.adapter, "variant": peer.variant, "package": peer.package}
        made = self.ask("setting up", self._setting_up, do="make", question=dataclasses.asdict(question), **task)
        first = self.ask("first search", self.limit + self._setting_up, do="warm")  # some compile only then
        self.version = made["version"]
        self.ready = made["seconds"] + first["seconds"]
        self.evaluated = first["evaluated"]
        counted = first["counted"]
        if counted is not None and abs(counted - self.units) > question.trees:  # the root's own visit may count or not
            raise FailedError(f"made {counted:,.0f} simulations where {self.units:,.0f} were asked")

    def clocks(self, calls: int) -> list[measure.Clock]:
        """Search so often over there and return the clocks."""
        taken = self.ask("searching", self.limit * calls, do="clocks", calls=calls)
        return [(wall, processor) for wall, processor in taken]


def surroundings(first: Sequence[Path] = ()) -> dict[str, str]:
    """Return a worker's environment: one thread, no accelerator, the same hashes; `first`: where modules are sought."""
    pools = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")
    path = os.pathsep.join(filter(None, (*map(str, first), str(FOLDER), os.environ.get("PYTHONPATH", ""))))
    return dict.fromkeys(pools, "1") | {"JAX_PLATFORMS": "cpu", "PYTHONHASHSEED": "0", "PYTHONPATH": path}
