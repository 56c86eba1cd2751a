"""An ONNX network in whole numbers of eight bits: smaller, often quicker, and measured before it is believed."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import AccuracyError, MissingExtraError, UsageError
from anabranch.evaluate.onnx import LARGEST, Onnx
from anabranch.evaluate.positions import Positions, random_positions
from anabranch.evaluate.seal import sealed
from anabranch.evaluate.seats import View
from anabranch.files import naming, read_file, replace_file
from anabranch.game.game import Game

CHUNK = 64  # rows of one call, for calibration, comparison and timing
ROUNDS = 7  # of timing; the quickest of each counts


@dataclass(frozen=True, kw_only=True)
class Bound:
    """How far a network in whole numbers may be from the one it was made of, over positions it was not made with."""

    policy_kl_mean: Annotated[float, "mean of KL(policy ‖ its copy) over legal actions, in nats"] = 0.01
    policy_kl_max: Annotated[float, "the largest of them"] = 0.25
    value_error_mean: Annotated[float, "mean error of values, as a share of half the range of returns"] = 0.02
    value_error_max: Annotated[float, "the largest of them"] = 0.25
    top1: Annotated[float, "share of positions where both like the same action best, at least"] = 0.95


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """What was measured of a network in whole numbers, beside the one it was made of and in the same run."""

    positions: int  # compared, none of which was used to calibrate
    policy_kl_mean: float
    policy_kl_max: float
    value_error_mean: float
    value_error_max: float
    top1: float
    positions_per_second: float
    speed: float  # how many times as quick as before
    bytes: int
    bytes_before: int

    def misses(self, bound: Bound) -> list[str]:
        """Return in words where a bound is not kept."""
        told = []
        for name, limit in asdict(bound).items():
            found = getattr(self, name)
            kept = found >= limit if name == "top1" else found <= limit
            if not kept:  # NaN keeps none
                told.append(f"{name} {found:.4g}, allowed is {'at least' if name == 'top1' else 'at most'} {limit:g}")
        return told

    def __str__(self) -> str:
        return (
            f"{self.positions} positions: policy KL {self.policy_kl_mean:.2g} (at most {self.policy_kl_max:.2g}), "
            f"value error {self.value_error_mean:.2g} (at most {self.value_error_max:.2g}), "
            f"same best action {self.top1:.1%}, {self.speed:.2f} times the speed, "
            f"{self.bytes / self.bytes_before:.0%} of the bytes"
        )


def quantise(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    game: Game,
    *,
    positions: int = 1024,
    seed: int = 0,
    bound: Bound | None = None,
    threads: int = 1,
    view: View = "mover",
) -> Accuracy:
    """Write an ONNX network of floats as one of whole numbers of eight bits, and return how well it does.

    `view` says how the network speaks of values, as `ab.Onnx` takes it.

    Ranges are taken from half the positions, which random games by the seed reach; the other half says how far the
    two networks are apart. Beyond the bound nothing is written and AccuracyError has the numbers.
    """
    bound = Bound() if bound is None else bound
    if not isinstance(bound, Bound):
        raise UsageError(f"bound is an ab.Bound, e.g. ab.Bound(top1=0.9), found {bound!r}")
    if Path(out).exists() and Path(out).samefile(path):
        raise UsageError(f"{path} would be replaced by its copy in eight bits; give the copy another name")
    data = read_file(path, LARGEST)
    before = Onnx(data, threads=threads, view=view)
    before.check(game)
    found = random_positions(game, positions, seed)
    # Every other one: both halves see all stages of play. A game with a single position is measured on that.
    calibration, measured = found.rows(slice(0, None, 2)), found.rows(slice(1, None, 2))
    measured = measured if len(measured) else calibration
    small = sealed(_convert(data, before.input_name, calibration))
    after = Onnx(small, threads=threads, view=view)
    report = _compare(before, after, measured, game, len(data), len(small))
    misses = report.misses(bound)
    if misses:
        raise AccuracyError(f"{Path(path).name} in eight bits is too far from itself: {'; '.join(misses)}", report)
    replace_file(Path(out), small)
    return report


def _convert(data: bytes, input_name: str, calibration: Positions) -> bytes:
    """Return the model with weights and activations in eight bits, by onnxruntime's static quantisation."""
    try:
        import onnx
        from onnxruntime import quantization
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "onnxruntime"):
            raise
        raise MissingExtraError(str(error.name), "fast", "quantisation") from None

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        """Positions as the calibration asks for them."""

        def __init__(self) -> None:
            self.chunks: Iterator[npt.NDArray[np.float32]] = iter(_chunks(calibration.observations))

        def get_next(self) -> dict[str, Any] | None:
            chunk = next(self.chunks, None)
            return None if chunk is None else {input_name: chunk}

    model = onnx.load_model_from_string(data)
    del model.metadata_props[:]  # the checksum is that of the file it was
    with _quiet(), naming(Path(tempfile.gettempdir()), "cannot be written to"), tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "int8.onnx")
        quantization.quantize_static(
            model,
            made,
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            # Without it, processors that lack VNNI overflow 16 bits in sums of two products.
            reduce_range=True,
            calibrate_method=quantization.CalibrationMethod.MinMax,
        )
        return made.read_bytes()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself that the quantiser would rather be given an optimised file; exports are that already."""

    def other(record: logging.LogRecord) -> bool:
        return "pre-processing" not in record.getMessage()

    logger = logging.getLogger()
    logger.addFilter(other)
    try:
        yield
    finally:
        logger.removeFilter(other)


def _compare(before: Onnx, after: Onnx, measured: Positions, game: Game, bytes_before: int, size: int) -> Accuracy:
    chunks = _chunks(measured.observations)
    (logits, values), (logits8, values8) = (_answers(network, chunks) for network in (before, after))
    policy, policy8 = (log_softmax(each, measured.legal) for each in (logits, logits8))
    divergence = np.where(measured.legal, np.exp(policy) * (policy - policy8), 0.0).sum(axis=1)
    best, best8 = (np.where(measured.legal, each, -np.inf).argmax(axis=1) for each in (logits, logits8))
    low, high = game.returns
    error = np.abs(values - values8) / (max(high - low, 1e-12) / 2.0)
    seconds, seconds8 = _times(before, after, chunks)
    return Accuracy(
        positions=len(measured),
        policy_kl_mean=float(divergence.mean()),
        policy_kl_max=float(divergence.max()),
        value_error_mean=float(error.mean()),
        value_error_max=float(error.max()),
        top1=float((best == best8).mean()),
        positions_per_second=len(measured) / seconds8,
        speed=seconds / seconds8,
        bytes=size,
        bytes_before=bytes_before,
    )


def log_softmax(logits: npt.NDArray[Any], legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the logarithms of a policy over legal actions; 0 where an action is not legal."""
    masked = np.where(legal, logits.astype(np.float64), -np.inf)
    masked -= masked.max(axis=1, keepdims=True)
    total = np.log(np.exp(masked).sum(axis=1, keepdims=True))
    return np.where(legal, masked - total, 0.0)


def _answers(network: Onnx, chunks: list[npt.NDArray[np.float32]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    logits, values = zip(*(network.run(chunk) for chunk in chunks), strict=True)
    return np.concatenate(logits), np.concatenate(values)


def _times(before: Onnx, after: Onnx, chunks: list[npt.NDArray[np.float32]]) -> tuple[float, float]:
    """Return the shortest time of each for all chunks; they take turns, so that what else runs meets both."""
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for index, network in enumerate((before, after)):
            begun = time.perf_counter()
            for chunk in chunks:
                network.run(chunk)
            best[index] = min(best[index], time.perf_counter() - begun)
    return best[0], best[1]


def _chunks(observations: npt.NDArray[np.float32]) -> list[npt.NDArray[np.float32]]:
    return [observations[begin : begin + CHUNK] for begin in range(0, len(observations), CHUNK)]
