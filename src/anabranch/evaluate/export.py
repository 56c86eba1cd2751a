"""From a torch module to an ONNX file, which runs without torch and faster on processors."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anabranch.errors import EvaluatorError, MissingExtraError, shown
from anabranch.evaluate.positions import random_positions
from anabranch.evaluate.seal import sealed
from anabranch.evaluate.torch import Torch, evaluating
from anabranch.files import replace_file
from anabranch.game.game import Game
from anabranch.nets.shape import Shape, shape_of

if TYPE_CHECKING:
    from torch import nn

HEADS = ("logits", "values")
SAMPLE = 16  # positions on which a module is tried
EXAMPLES = 2  # torch.export takes a first axis of 1 for a constant


def to_onnx(module: nn.Module, game: Game, path: str | os.PathLike[str]) -> Path:
    """Write a module that maps observations to (logits, values) to an ONNX file that takes batches of any size.

    What the module says of a few positions is checked first, and its file after that; what is wrong with either is an
    error, and leaves no file. The file is replaced whole or not at all, holds nothing but the network, and ends with a
    checksum that `ab.Onnx` compares.
    """
    try:
        import onnx
        import onnxscript
        import torch
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "onnxscript", "torch"):
            raise
        raise MissingExtraError(str(error.name), "train,fast", "an export") from None
    del onnxscript  # torch's exporter imports it, and says less well that it is missing
    shape = shape_of(game)
    sample = random_positions(game, SAMPLE).observations
    _check_heads(Torch(module).run(sample), len(sample), shape)
    first = next(module.parameters(), None)
    example = torch.zeros(EXAMPLES, *shape.observation, device=None if first is None else first.device)
    with evaluating(module), torch.no_grad(), _quiet():
        program = torch.onnx.export(
            module,
            (example,),
            dynamo=True,
            verbose=False,
            input_names=["observations"],
            output_names=list(HEADS),
            dynamic_shapes=({0: torch.export.Dim("batch", min=1)},),
        )
    assert program is not None
    model = program.model_proto
    _strip(model)
    onnx.checker.check_model(model)
    names = tuple(output.name for output in model.graph.output)
    if names != HEADS:  # torch drops or joins outputs that are one and the same
        raise EvaluatorError(
            f"the export of {type(module).__name__} has the outputs {', '.join(names)}, expected {', '.join(HEADS)}"
        )
    replace_file(Path(path), sealed(model.SerializeToString(deterministic=True)))
    return Path(path)


def _check_heads(answer: tuple[Any, ...], rows: int, shape: Shape) -> None:
    """Refuse what is not logits `[rows, A]` and values `[rows, P]`, or one value a row for two players, all finite."""
    if len(answer) != 2:
        raise EvaluatorError(f"a module must return (logits, values), found {len(answer)} tensors")
    logits, values = answer
    wanted: dict[str, list[tuple[int, ...]]] = {"logits": [(rows, shape.actions)], "values": [(rows, shape.players)]}
    if shape.players == 2:  # view="scalar"
        wanted["values"] += [(rows, 1), (rows,)]
    for name, head in zip(HEADS, answer, strict=True):
        if head.shape not in wanted[name]:
            swapped = values.shape in wanted["logits"] and logits.shape in wanted["values"]
            raise EvaluatorError(
                f"the module gives {name} of shape {head.shape} for {rows} observations of {shape.game}, expected "
                f"{wanted[name][0]}" + ("; return logits first, then values" if swapped else "")
            )
        if head.dtype.kind != "f":
            raise EvaluatorError(f"the module gives {name} of type {head.dtype}, expected numbers with a point")
        if not np.isfinite(head).all():
            row = int(np.argwhere(~np.isfinite(head))[0][0])
            raise EvaluatorError(
                f"the module's {name} are not finite on position {row} of {rows} played at random: {shown(head[row])}; "
                f"look for weights that are not, or were never trained"
            )


def _strip(model: Any) -> None:
    """Leave out what the exporter notes about itself: the lines of source it read, with the paths of this machine."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.initializer, *graph.input, *graph.output, *graph.value_info):
        if hasattr(part, "metadata_props"):
            del part.metadata_props[:]
        part.doc_string = ""


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what torch's exporter says of its own insides and of packages nobody asked for."""
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
