"""An ONNX file as an evaluator, run by onnxruntime."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.errors import DataError, EvaluatorError, MissingExtraError, UsageError
from anabranch.evaluate.external import check_whole
from anabranch.evaluate.network import NetworkEvaluator, Observations
from anabranch.evaluate.seal import check_seal
from anabranch.evaluate.seats import View, checked_view
from anabranch.files import read_file
from anabranch.game.game import Game

LARGEST = 2**31 - 1  # bytes; more than protocol buffers can hold anyway
MOST_THREADS = 1024


@dataclass(eq=False)
class Onnx(NetworkEvaluator):
    """A network in an ONNX file, or in its bytes, as an evaluator.

    It takes float32 observations `[batch, …]` and gives logits `[batch, A]` and values `[batch, P]`, by these names or
    in this order; `view` is as `ab.Torch` takes it. One thread is the usual number, 0 is as many as onnxruntime would
    use: a search has other work for the rest, and more of them may change the last digits.
    """

    model: str | os.PathLike[str] | bytes = field(repr=False)
    threads: int = 1
    view: View = "mover"
    file: str = field(init=False)
    sha256: str = field(init=False)  # the beginning of the file's SHA-256
    _session: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.view = checked_view(self.view)
        if not 0 <= self.threads <= MOST_THREADS:
            raise UsageError(f"threads must lie between 0 and {MOST_THREADS}, found {self.threads}")
        self.file = "bytes" if isinstance(self.model, bytes) else Path(self.model).name
        data = self.model if isinstance(self.model, bytes) else read_file(self.model, LARGEST)
        self.sha256 = hashlib.sha256(data).hexdigest()[:16]
        check_seal(data, self.file)
        self._session = session(data, self.file, self.threads)
        self.input_name, self._observation = self._read_input()
        self._outputs = self._read_outputs()

    def _read_input(self) -> tuple[str, list[Any]]:
        """Return the name of the input and the shape of one observation; sizes that vary are None or names."""
        given = self._session.get_inputs()
        if len(given) != 1:
            raise DataError(f"{self.file} has {len(given)} inputs, expected one: the observations")
        _expect_float(self.file, "input", given[0])
        batch, *observation = given[0].shape or [None]
        if isinstance(batch, int):
            raise DataError(
                f"{self.file} was exported for batches of {batch} and no others; "
                "export it with a first axis that varies, as ab.to_onnx does"
            )
        return given[0].name, observation

    def _read_outputs(self) -> dict[str, list[Any]]:
        """Return the names of logits and values and their shapes, in this order."""
        found = {node.name: node for node in self._session.get_outputs()}
        chosen = ["logits", "values"] if {"logits", "values"} <= found.keys() else list(found)
        if len(chosen) != 2:
            raise DataError(f"{self.file} has the outputs {', '.join(chosen)}, expected logits and values")
        for name in chosen:
            _expect_float(self.file, "output", found[name])
        return {name: list(found[name].shape) for name in chosen}

    def check(self, game: Game) -> None:
        """Refuse a game whose shapes are not the file's."""
        from anabranch.nets.shape import shape_of

        shape = shape_of(game)
        logits, values = self._outputs.values()
        wanted = (
            ("takes observations", self._observation, list(shape.observation)),
            ("gives logits", logits[1:], [shape.actions]),
            ("gives values", values[1:], [] if self.view == "scalar" else [shape.players]),
        )
        for verb, there, here in wanted:
            if self.view == "scalar" and verb == "gives values":
                there = [size for size in there if size != 1]
            if len(there) != len(here) or any(isinstance(a, int) and a != b for a, b in zip(there, here, strict=True)):
                raise DataError(f"{self.file} {verb} of shape {_told(there)}, and {game.name} has {_told(here)}")

    def run(self, observations: Observations) -> tuple[Any, Any]:
        """Return (logits, values) of observations, as the file says them."""
        try:
            logits, values = self._session.run(list(self._outputs), {self.input_name: observations})
        except Exception as error:  # onnxruntime has classes of its own for shapes, types and failures
            raise EvaluatorError(
                f"{self.file} failed on observations of shape {observations.shape} and type {observations.dtype}: "
                f"{error}"
            ) from error
        return logits, values

    @property
    def name(self) -> str:
        """What this network is called everywhere, and what `evaluate.load` reads: the file and a hash."""
        told = [f"sha256={self.sha256}"]
        if self.threads != 1:
            told.append(f"threads={self.threads}")
        if self.view != "mover":
            told.append(f"view={self.view}")
        return f"{self.file}:{','.join(told)}"

    def __repr__(self) -> str:
        return f"Onnx({self.name})"


def session(data: bytes, name: str, threads: int) -> Any:
    """Return onnxruntime's session of a model, which must have all its weights inside."""
    check_whole(data, name)
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        if error.name != "onnxruntime":
            raise
        raise MissingExtraError("onnxruntime", "fast", "an ONNX file") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; they are raised as well
    options.use_deterministic_compute = True
    options.add_session_config_entry("session.load_model_format", "ONNX")  # no other, whatever the bytes begin with
    # Idle threads that spin take the processor from the search between two batches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a class of its own for every way a file can be wrong
        raise DataError(f"{name} is no ONNX model that onnxruntime runs: {error}") from None


def _expect_float(file: str, what: str, node: Any) -> None:
    if node.type != "tensor(float)":
        raise DataError(f"{file}: the {what} {node.name} has type {node.type}, expected float32, tensor(float)")


def _told(shape: list[Any]) -> str:
    return "(" + ", ".join(str(size) for size in shape) + ("," if len(shape) == 1 else "") + ")"
