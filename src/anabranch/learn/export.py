"""From the learner's averaged weights to an evaluator for self-play: torch itself, ONNX, or eight bits."""

from __future__ import annotations

import copy
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.errors import AccuracyError
from anabranch.evaluate.cached import Cached
from anabranch.evaluate.export import to_onnx
from anabranch.evaluate.mixed import Mixed
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.onnx import Onnx
from anabranch.evaluate.quantise import quantise
from anabranch.evaluate.torch import Torch
from anabranch.files import read_file
from anabranch.game.game import Game
from anabranch.learn.settings import Evaluates, SelfPlay
from anabranch.nets.files import LARGEST
from anabranch.nets.net import Net
from anabranch.play.agent import Agent
from anabranch.play.plan_agent import PlanAgent
from anabranch.play.search_agent import SearchAgent
from anabranch.search.settings.config import SearchConfig


@dataclass(eq=False)
class Model(Torch):
    """A network of a run as an evaluator that is known by what it is told; hashing a module's code takes seconds."""

    identity: str = field(kw_only=True)


def mixed(evaluator: Any, settings: SelfPlay) -> Any:
    """Return who is asked when a network plays: itself, or together with rollouts. A teacher and plans have none.

    A cache begins empty here: newer weights never find answers of older ones.
    """
    if isinstance(evaluator, Rollout) or plans(evaluator):
        return evaluator
    if settings.cache:
        evaluator = Cached(evaluator, entries=settings.cache)
    return Mixed(evaluator, settings.rollouts, settings.share) if settings.rollouts else evaluator


def plans(evaluator: Any) -> bool:
    """Whether a network learnt the rules, and plans in what it learnt."""
    return isinstance(evaluator, Torch) and callable(getattr(evaluator.module, "represent", None))


def exported(net: Net, game: Game, kind: Evaluates, version: int = 0) -> tuple[Any, str]:
    """Return an evaluator with the weights as they are now, and a note on what could not be had.

    A network that loses too much in eight bits is used as ONNX; that happens to those that have learnt nothing yet.
    """
    if kind == "torch":
        return Model(copy.deepcopy(net).eval(), identity=f"step {version}"), ""
    with tempfile.TemporaryDirectory() as folder:
        path = to_onnx(net, game, Path(folder) / "net.onnx")
        if kind == "int8":
            small = Path(folder) / "net.int8.onnx"
            try:
                quantise(path, small, game, positions=256)
                return Onnx(read_file(small, LARGEST)), ""
            except AccuracyError as error:
                return Onnx(read_file(path, LARGEST)), f"eight bits are not enough for these weights: {error}"
        return Onnx(read_file(path, LARGEST)), ""


def agent_of(evaluator: Any, simulations: int, config: SearchConfig | None = None) -> Agent:
    """Return an evaluator of a run as an agent: it plans if its network learnt the rules, else it searches by them."""
    if plans(evaluator):
        return PlanAgent(evaluator, simulations=simulations, config=config)
    return SearchAgent(simulations=simulations, evaluator=evaluator, config=config, threads=1)
