"""`search:simulations=800,evaluator=uniform,c=2`: a search agent from one line of text, and back.

Options are separated by commas; those of an evaluator, inside its own, by plus signs:
`search:evaluator=rollout:count=4+max_depth=200,keep=graph`.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

from anabranch.errors import UsageError, shown
from anabranch.evaluate.identity import identity
from anabranch.evaluate.load import load
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.ready import ready_model
from anabranch.game.game import Game
from anabranch.play.names import read_options
from anabranch.play.search_agent import SearchAgent
from anabranch.search.results.move_rules import MOVE_RULES, LowerBound, MoveRule, move_rule
from anabranch.search.settings.config import SearchConfig, Ucb1
from anabranch.search.settings.mapping import from_pairs, known_settings

AGENT = ("simulations", "visits", "seconds", "keep", "temperature", "simultaneous_temperature", "threads")
RULE = tuple(f"rule.{each.name}" for each in fields(LowerBound))
OTHERS = ("evaluator", "c", "rule", *RULE)


def make_search(text: str) -> SearchAgent:
    """Make a search agent.

    Options: a budget (1000 simulations if none is given), keep, temperatures and threads as SearchAgent takes them,
    evaluator=NAME as `evaluate.load` reads it, a network's file too, rule=visits, lcb or regularised (and rule.z,
    rule.share, rule.least of lcb), c=NUMBER for the weight of exploration, and every setting by its dotted name, e.g.
    width=16, noise.weight=0.3, selector=Ucb1, selector.first_play=parent, simultaneous=RegretMatching, seed=3.
    """
    pairs = list(filter(None, text.split(",")))
    names = setting_names()
    options = read_options(text, [*AGENT, *OTHERS, *names], "search")
    settings = [pair for pair in pairs if pair.partition("=")[0] in names]
    given = {name: options[name] for name in AGENT if name in options}
    evaluator = load(with_commas(str(options["evaluator"]))) if "evaluator" in options else None
    config = _config(settings, options.get("c"))
    return SearchAgent(**given, evaluator=evaluator, config=config, rule=_rule(options))


def make_best(text: str, game: Game | None) -> SearchAgent:
    """Make the agent called `best`: a search with the network that comes with the package for a game.

    Its settings are those the network was measured with, changed by options as `search` has them.
    """
    if game is None:
        raise UsageError("best is the agent of a game, which is not known here; name it with its game")
    model = ready_model(game)
    if model is None:
        load("best", game)  # says which there are
        raise AssertionError
    given = {pair.partition("=")[0] for pair in text.split(",")}
    if given & {"visits", "seconds"}:
        given.add("simulations")
    usual = [pair for pair in model.log.agent.split(",") if pair.partition("=")[0] not in given]
    return make_search(",".join(filter(None, [*usual, text, "evaluator=best"])))


def search_name(agent: SearchAgent) -> str:
    """Return the text that makes such an agent: every setting that differs from the default."""
    told = [f"{key}={value}" for key, value in agent.budget.items() if value is not None]
    if agent.evaluator != Rollout():
        told.append(f"evaluator={identity(agent.evaluator).text.replace(',', '+')}")
    told += _rule_name(agent.rule)
    if agent.keep != "nothing":
        told.append(f"keep={agent.keep}")
    for name, usual in (("temperature", 0.0), ("simultaneous_temperature", None)):
        if getattr(agent, name) != usual:
            told.append(f"{name}={getattr(agent, name)}")
    told += differences(agent.config, SearchConfig())
    return "search:" + ",".join(told)


def with_commas(text: str) -> str:
    """Return an evaluator's name as `evaluate.load` reads it: inside an agent's, plus signs stand for commas."""
    head, separator, options = text.rpartition(":")
    return head + separator + re.sub(r"\+(?=\w+=)", ",", options)


def _rule(options: dict[str, Any]) -> MoveRule:
    rule = move_rule(str(options.get("rule", "visits")))
    given = {name.removeprefix("rule."): options[name] for name in RULE if name in options}
    if not given:
        return rule
    if not isinstance(rule, LowerBound):
        raise UsageError(f"search: rule.{next(iter(given))} is a setting of rule=lcb")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise UsageError(f"search: rule.{name} must be a number, found {shown(value)}")
    return replace(rule, **given)


def _rule_name(rule: MoveRule) -> list[str]:
    """Return a rule's name and what of its settings is not usual."""
    name, usual = next((name, usual) for name, usual in MOVE_RULES.items() if type(usual) is type(rule))
    told = [f"rule={name}"] if name != "visits" else []
    values = {each.name: getattr(rule, each.name) for each in fields(rule)}
    told += [f"rule.{each}={value}" for each, value in values.items() if value != getattr(usual, each)]
    return told


def _config(settings: list[str], weight: Any) -> SearchConfig:
    """Return the settings; `c` is a short name for what the weight of exploration is called in the selector."""
    config = from_pairs(settings, flag="search:")
    if weight is None:
        return config
    name = "selector.c" if isinstance(config.selector, Ucb1) else "selector.c_init"
    if any(pair.startswith(f"{name}=") for pair in settings):
        raise UsageError(f"search: c is a short name of {name}; give one of them")
    return from_pairs([*settings, f"{name}={weight}"], flag="search:")


def setting_names() -> list[str]:
    """Return the dotted names of all settings of a search, and of its parts."""
    return sorted({name for setting in known_settings() for name in _beginnings(setting.key)})


def _beginnings(key: str) -> list[str]:
    """Return a dotted key and the parts it belongs to, which are set by a kind: selector.c_init, selector."""
    words = key.split(".")
    return [".".join(words[:end]) for end in range(1, len(words) + 1)]


def differences(config: Any, default: Any, prefix: str = "") -> list[str]:
    """Return the settings that differ from default ones, by their dotted names."""
    told = []
    for field in fields(config):
        value, usual = getattr(config, field.name), getattr(default, field.name)
        if value == usual:
            continue
        if not is_dataclass(value) or isinstance(value, type):
            word = str(value).lower() if isinstance(value, bool) else value  # settings are read as JSON
            told.append(f"{prefix}{field.name}={word}")
            continue
        if type(value) is not type(usual):
            told.append(f"{prefix}{field.name}={type(value).__name__}")
            usual = type(value)()
        told += differences(value, usual, f"{prefix}{field.name}.")
    return told
