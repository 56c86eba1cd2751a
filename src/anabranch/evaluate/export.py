"""From a torch module to an ONNX file, which runs without torch and faster on processors."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.errors import MissingExtraError, UsageError
from anabranch.evaluate.seal import sealed
from anabranch.evaluate.torch import evaluating
from anabranch.files import replace_file
from anabranch.game.game import Game
from anabranch.nets.shape import shape_of

if TYPE_CHECKING:
    from torch import nn

EXAMPLES = 2  # torch.export takes a first axis of 1 for a constant


def to_onnx(module: nn.Module, game: Game, path: str | os.PathLike[str]) -> Path:
    """Write a module that maps observations to (logits, values) to an ONNX file that takes batches of any size.

    The file is replaced whole or not at all, holds nothing but the network, and ends with a checksum that `ab.Onnx`
    compares.
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
    first = next(module.parameters(), None)
    example = torch.zeros(EXAMPLES, *shape_of(game).observation, device=None if first is None else first.device)
    with evaluating(module), torch.no_grad(), _quiet():
        answer = module(example)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise UsageError(f"a module must return (logits, values), found {type(answer).__name__}")
        program = torch.onnx.export(
            module,
            (example,),
            dynamo=True,
            verbose=False,
            input_names=["observations"],
            output_names=["logits", "values"],
            dynamic_shapes=({0: torch.export.Dim("batch", min=1)},),
        )
    assert program is not None
    model = program.model_proto
    _strip(model)
    onnx.checker.check_model(model)
    replace_file(Path(path), sealed(model.SerializeToString(deterministic=True)))
    return Path(path)


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
