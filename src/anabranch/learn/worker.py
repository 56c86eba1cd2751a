"""A process that plays: `python -m anabranch.learn.worker`, which speaks by messages on its standard streams.

It is told a game, settings, weights with a version, and numbers of games; it answers with whole games. It keeps
nothing that would be missed: games of a process that died are played again, by another, under the same numbers. An
exception is the last thing it tells: the next process would meet it too.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any, BinaryIO

from anabranch.errors import AnabranchError, EvaluatorError, GameError, blame, fault_of
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.onnx import Onnx
from anabranch.evaluate.torch import Torch
from anabranch.game.game import Game
from anabranch.learn.game_of_run import load_game
from anabranch.learn.messages import ERROR, GAMES, NEWS, NUMBERS, SETUP, WEIGHTS, receive, send
from anabranch.learn.records import GameRecord, write_shard
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import TrainConfig
from anabranch.search.settings.config import SearchConfig
from anabranch.search.settings.mapping import from_mapping

TURN = 0.5  # seconds for which games are kept to be sent together: a message costs what a dozen games do


class Inbox:
    """Messages as they come, read by a thread of its own so that games need not wait for them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._messages: queue.SimpleQueue[tuple[bytes, bytes] | None] = queue.SimpleQueue()
        self.closed = False
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: BinaryIO) -> None:
        while (message := receive(stream)) is not None:
            self._messages.put(message)
        self._messages.put(None)

    def take(self, *, wait: bool) -> tuple[bytes, bytes] | None:
        """Return the next message; None if there is none now, or there never will be (`closed`)."""
        try:
            message = self._messages.get(block=wait)
        except queue.Empty:
            return None
        self.closed |= message is None
        return message


def weights_message(evaluator: Any, version: int) -> bytes:
    """Return weights as bytes: an ONNX model, or a network of the registry; a teacher has none."""
    from anabranch.nets.files import written

    if isinstance(evaluator, Rollout):
        return f"rollouts {version}\n".encode()
    if isinstance(evaluator, Onnx):
        assert isinstance(evaluator.model, bytes)
        return f"onnx {version}\n".encode() + evaluator.model
    return f"safetensors {version}\n".encode() + written(evaluator.module)


def read_weights(body: bytes, game: Game) -> tuple[Any, int]:
    """Return the evaluator and the version in such bytes."""
    from anabranch.nets.files import read

    head, _, data = body.partition(b"\n")
    kind, version = head.decode().split()
    if kind == "rollouts":
        return Rollout(), int(version)
    return (Onnx(data) if kind == "onnx" else Torch(read("weights", data, game))), int(version)


class Playing:
    """A worker's main loop, over two streams."""

    def __init__(self, given: BinaryIO, out: BinaryIO) -> None:
        self.inbox, self.out = Inbox(given), out
        self._numbers: list[int] = []
        self._weights: bytes | None = None
        self._setup: dict[str, Any] | None = None
        self._waited = 0.0  # seconds for numbers
        self._worker: Worker | None = None
        self._begun = self._sent = 0.0  # when it began to play, and last sent games
        self._ended: list[GameRecord] = []  # games that were not sent yet

    def run(self) -> None:
        """Play until the other side closes."""
        while (self._setup is None or self._weights is None or not self._numbers) and not self.inbox.closed:
            self._look(wait=True)
        if self.inbox.closed:
            return
        assert self._setup is not None
        assert self._weights is not None
        game = load_game(self._setup["game"])
        config = from_mapping(self._setup["config"], base=TrainConfig(search=SearchConfig()))
        evaluator, version = read_weights(self._weights, game)
        self._weights = None
        self._begun, self._waited = time.perf_counter(), 0.0
        with Worker(game, config, evaluator, version) as worker:
            self._worker = worker
            for ended in worker.play(self._given()):
                self._ended += ended
                if time.perf_counter() - self._sent > TURN:
                    self._send()
                self._look(wait=False)
                if self.inbox.closed:
                    return
                if self._weights is not None:
                    worker.use(*read_weights(self._weights, game))
                    self._weights = None

    def _send(self) -> None:
        """Send the games that have ended, and how things are going."""
        worker, self._sent = self._worker, time.perf_counter()
        if worker is None or not self._ended:
            return
        news = {"rows": worker.rows, "fill": worker.fill, "idle": self._waited / max(1e-9, self._sent - self._begun)}
        send(self.out, NEWS, json.dumps(news).encode())
        send(self.out, GAMES, write_shard(self._ended, worker.game.players))
        self._ended = []

    def _given(self) -> Iterator[int]:
        """Yield numbers of games; wait for more where there are none, until the other side closes."""
        while True:
            while not self._numbers:
                if self.inbox.closed:
                    return
                self._send()  # for which there will be others
                begun = time.perf_counter()
                self._look(wait=True)
                self._waited += time.perf_counter() - begun
            yield self._numbers.pop(0)

    def _look(self, *, wait: bool) -> None:
        """Take in the messages that have come."""
        while (message := self.inbox.take(wait=wait)) is not None:
            wait = False
            kind, body = message
            if kind == SETUP:
                self._setup = json.loads(body)
            elif kind == WEIGHTS:
                self._weights = body
            elif kind == NUMBERS:
                self._numbers += json.loads(body)


ERRORS: dict[str, type[AnabranchError]] = {"game": GameError, "evaluator": EvaluatorError, "": AnabranchError}


def error_message(error: Exception) -> bytes:
    """Return an exception as bytes: whose fault it is, what it says, and its traceback."""
    whose = "game" if isinstance(error, GameError) else "evaluator" if isinstance(error, EvaluatorError) else ""
    text = str(error)
    if not isinstance(error, AnabranchError):
        whose = fault_of(error)
        text = f"{f'the {whose} raised ' if whose else ''}{type(error).__name__}: {error} ({blame(error)})"
    trace = "".join(traceback.format_exception(error))
    return json.dumps({"whose": whose if whose in ERRORS else "", "text": text, "trace": trace}).encode()


def read_error(body: bytes) -> AnabranchError:
    """Return the exception in such bytes, with the traceback of the process that met it as a note."""
    told = json.loads(body)
    error = ERRORS[told["whose"]](told["text"])
    error.add_note(f"in a process that played:\n{told['trace']}")
    return error


def main() -> None:
    """Play for whoever started this process; Ctrl-C is for that one, and closing our input ends us."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a game prints must not mix with messages
    try:
        Playing(sys.stdin.buffer, out).run()
    except Exception as error:
        with contextlib.suppress(OSError):  # nobody is there any more
            send(out, ERROR, error_message(error))
        os._exit(1)  # Python's own way out may end in an abort: a thread still reads our input


if __name__ == "__main__":
    main()
