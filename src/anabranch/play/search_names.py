"""`search:simulations=800,evaluator=uniform,c=2`: a search agent from one line of text, and back."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from anabranch.errors import UsageError
from anabranch.evaluate.load import BUILT_IN, load
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.onnx import Onnx
from anabranch.evaluate.torch import Torch
from anabranch.play.names import read_options
from anabranch.play.search_agent import SearchAgent
from anabranch.search.config import SearchConfig, Ucb1
from anabranch.search.settings import from_pairs, known_settings

AGENT = ("simulations", "visits", "seconds", "temperature", "simultaneous_temperature", "threads")
OTHERS = ("evaluator", "c")


def make_search(text: str) -> SearchAgent:
    """Make a search agent.

    Options: a budget (1000 simulations if none is given), temperatures and threads as SearchAgent takes them,
    evaluator=NAME as `evaluate.load` reads it, c=NUMBER for the weight of exploration, and every setting by its dotted
    name, e.g. selector=Ucb1, selector.first_play=parent, simultaneous=RegretMatching, seed=3.
    """
    pairs = list(filter(None, text.split(",")))
    names = {name for setting in known_settings() for name in _beginnings(setting.key)}
    options = read_options(text, [*AGENT, *OTHERS, *sorted(names)], "search")
    settings = [pair for pair in pairs if pair.partition("=")[0] in names]
    given = {name: options[name] for name in AGENT if name in options}
    evaluator = load(str(options["evaluator"])) if "evaluator" in options else None
    return SearchAgent(**given, evaluator=evaluator, config=_config(settings, options.get("c")))


def search_name(agent: SearchAgent) -> str:
    """Return the text that makes such an agent: every setting that differs from the default."""
    told = [f"{key}={value}" for key, value in agent.budget.items() if value is not None]
    if agent.evaluator != Rollout():
        told.append(f"evaluator={_evaluator_name(agent.evaluator)}")
    for name, usual in (("temperature", 0.0), ("simultaneous_temperature", 1.0)):
        if getattr(agent, name) != usual:
            told.append(f"{name}={getattr(agent, name):g}")
    told += _differences(agent.config, SearchConfig(), "")
    return "search:" + ",".join(told)


def _config(settings: list[str], weight: Any) -> SearchConfig:
    """Return the settings; `c` is a short name for what the weight of exploration is called in the selector."""
    config = from_pairs(settings, flag="search:")
    if weight is None:
        return config
    name = "selector.c" if isinstance(config.selector, Ucb1) else "selector.c_init"
    if any(pair.startswith(f"{name}=") for pair in settings):
        raise UsageError(f"search: c is a short name of {name}; give one of them")
    return from_pairs([*settings, f"{name}={weight}"], flag="search:")


def _beginnings(key: str) -> list[str]:
    """Return a dotted key and the parts it belongs to, which are set by a kind: selector.c_init, selector."""
    words = key.split(".")
    return [".".join(words[:end]) for end in range(1, len(words) + 1)]


def _differences(config: Any, default: Any, prefix: str) -> list[str]:
    told = []
    for field in fields(config):
        value, usual = getattr(config, field.name), getattr(default, field.name)
        if value == usual:
            continue
        if not is_dataclass(value) or isinstance(value, type):
            told.append(f"{prefix}{field.name}={value}")
            continue
        if type(value) is not type(usual):
            told.append(f"{prefix}{field.name}={type(value).__name__}")
            usual = type(value)()
        told += _differences(value, usual, f"{prefix}{field.name}.")
    return told


def _evaluator_name(evaluator: Any) -> str:
    """Return `rollout:count=4` for a built-in evaluator; of any other what it shows of its settings, else its name."""
    for name, kind in BUILT_IN.items():
        if type(evaluator) is kind:
            told = [f"{field.name}={getattr(evaluator, field.name)}" for field in fields(kind)]
            usual = [f"{field.name}={field.default}" for field in fields(kind)]
            changed = [pair for pair in told if pair not in usual]
            return name + (":" + ",".join(changed) if changed else "")
    if isinstance(evaluator, (Onnx, Torch)):
        return evaluator.name
    if is_dataclass(evaluator):
        return repr(evaluator)
    named = evaluator if hasattr(evaluator, "__qualname__") else type(evaluator)
    return f"{named.__module__}:{named.__qualname__}"
