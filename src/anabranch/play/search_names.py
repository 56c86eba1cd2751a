"""`search:simulations=800,evaluator=uniform,c=2`: a search agent from one line of text."""

from __future__ import annotations

from typing import Any

from anabranch.errors import UnknownNameError, UsageError
from anabranch.evaluate.native import Hashing, Rollout, Uniform
from anabranch.play.names import read_options
from anabranch.play.search_agent import SearchAgent
from anabranch.search.config import Exp3, MatrixGame, Puct, RegretMatching, SearchConfig, Ucb1

AGENT = ("simulations", "visits", "seconds", "temperature", "simultaneous_temperature", "threads")
OPTIONS = (*AGENT, "evaluator", "rollouts", "selector", "simultaneous", "c", "seed")
EVALUATORS = {"rollout": Rollout, "uniform": Uniform, "hashing": Hashing}
SELECTORS: dict[str, Any] = {"puct": Puct, "ucb1": Ucb1}
SIMULTANEOUS = {**SELECTORS, "regret_matching": RegretMatching, "matrix_game": MatrixGame, "exp3": Exp3}


def make_search(text: str) -> SearchAgent:
    """Make a search agent.

    Options: a budget (1000 simulations if none is given), temperatures, threads, and
    evaluator=rollout|uniform|hashing, rollouts=COUNT per leaf, selector=puct|ucb1, c=EXPLORATION of the selector,
    simultaneous=puct|ucb1|regret_matching|matrix_game|exp3, seed=NUMBER.
    """
    options = read_options(text, OPTIONS, "search")
    given = {name: options[name] for name in AGENT if name in options}
    return SearchAgent(**given, evaluator=_evaluator(options), config=_config(options))


def _evaluator(options: dict[str, Any]) -> Any:
    name = options.get("evaluator", "rollout")
    if name not in EVALUATORS:
        raise UnknownNameError("evaluator", str(name), EVALUATORS)
    if "rollouts" not in options:
        return EVALUATORS[name]()
    if name != "rollout":
        raise UsageError(f"search: rollouts={options['rollouts']} goes with evaluator=rollout, not with {name}")
    return Rollout(count=options["rollouts"])


def _config(options: dict[str, Any]) -> SearchConfig:
    kind = _named("selector", options.get("selector", "puct"), SELECTORS)
    weight = {"c_init" if kind is Puct else "c": options["c"]} if "c" in options else {}
    settings: dict[str, Any] = {"selector": kind(**weight)}
    if "simultaneous" in options:
        settings["simultaneous"] = _named("simultaneous", options["simultaneous"], SIMULTANEOUS)()
    if "seed" in options:
        settings["seed"] = options["seed"]
    return SearchConfig(**settings)


def _named(what: str, name: Any, known: dict[str, Any]) -> Any:
    if name not in known:
        raise UnknownNameError(f"{what} of search", str(name), known)
    return known[name]
