"""Agents by name, as commands take them: `random`, `search:simulations=800`, `path/to/file.py:Name`.

A kind of agent is a prefix and a function that makes one from the text after the colon. Kinds of the library are listed
here and imported when first used; `register` adds others. A game may bring players of its own, by its `agents`.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from anabranch.errors import DataError, UnknownNameError, UsageError, shortened
from anabranch.evaluate.load import newest_weights
from anabranch.game.game import Game
from anabranch.game.load import load_module, refuse_pythons_own
from anabranch.play.agent import Agent
from anabranch.play.random_agent import RandomAgent
from anabranch.play.scripted_agent import ScriptedAgent

Maker = Callable[..., Any]

# prefix → where in this layer the function is that makes such an agent
_KINDS: dict[str, str | Maker] = {
    "best": "search_names:make_best",
    "human": "names:make_human",
    "open_spiel": "open_spiel:make_open_spiel",
    "oracle": "oracle_agent:make_oracle",
    "plan": "plan_agent:make_plan",
    "random": "names:make_random",
    "search": "search_names:make_search",
}


def register(prefix: str, make: Maker) -> None:
    """Add a kind of agent: `make` gets the text after `prefix:` ("" if there is none) and returns the agent."""
    if not prefix.isidentifier():
        raise UsageError(f"a kind of agent is named by a word, e.g. my_engine, found {prefix!r}")
    _KINDS[prefix] = make


def kinds() -> list[str]:
    """Return the kinds of agents there are."""
    return sorted(_KINDS)


def agent_by_name(text: str, game: Game | None = None) -> Agent:
    """Make the agent a text names; those of a game's own are known where it is given."""
    prefix, separator, rest = text.partition(":")
    if prefix in _KINDS:
        make = _KINDS[prefix]
        if isinstance(make, str):
            module, _, function = make.partition(":")
            make = getattr(importlib.import_module(f"anabranch.play.{module}"), function)
        return as_agent(make(rest, game) if prefix == "best" else make(rest))
    own = {} if game is None else dict(game.agents())
    if prefix in own:
        if rest:
            raise UsageError(f"{prefix} has no options, found {shortened(rest)!r}")
        return ScriptedAgent(own[prefix], prefix)
    text, _, mark = text.partition(":sha256=")
    where, separator, member = text.rpartition(":")
    if separator and (where.endswith(".py") or "." in where):
        return _marked(_from_module(where, member), text, mark)
    if text.endswith(".py"):
        file = shortened(text)
        raise UsageError(f"which agent of {file}? Name its class or function too, e.g. {file}:MyAgent")
    refuse_weights(text)
    raise UnknownNameError("agent", prefix, [*_KINDS, *own, "path/to/file.py:Name"])


def refuse_weights(text: str) -> None:
    """Say how to name who plays with the newest weights of a run, if this is its folder, or with those of a file."""
    path = Path(text)
    weights = path if path.suffix == ".safetensors" and os.path.isfile(path) else newest_weights(path)
    if text and weights is not None:
        raise UsageError(
            f"{shortened(text)} is no agent; write search:simulations=200,evaluator={weights}, or plan:model={weights} "
            f"where the rules were learnt too"
        )


def with_evaluator(text: str, evaluator: str) -> str:
    """Return an agent's name with an evaluator, if it is one that searches and names none of its own."""
    prefix, _, rest = text.partition(":")
    if prefix != "search" or any(pair.startswith("evaluator=") for pair in rest.split(",")):
        return text
    pairs = [*filter(None, rest.split(",")), f"evaluator={evaluator.replace(',', '+')}"]
    return f"search:{','.join(pairs)}"


def as_agent(given: Any, game: Game | None = None) -> Agent:
    """Return an agent: one that is given, one named by a text, or one made of a function of (state, seat)."""
    if isinstance(given, str):
        return agent_by_name(given, game)
    if isinstance(given, type):
        raise UsageError(f"{given.__name__} is a class; an agent is one of its instances: {given.__name__}(…)")
    if callable(getattr(given, "choose", None)):
        agent: Agent = given
        return agent
    if callable(given):
        return ScriptedAgent(given)
    raise UsageError(
        f"an agent has choose(turns), is a function of (state, seat), or a name such as 'random'; found {given!r}"
    )


def read_options(text: str, known: Iterable[str], kind: str) -> dict[str, Any]:
    """Return `key=value,key=value` as a dict; values are JSON or words, and unknown keys name the nearest one."""
    options: dict[str, Any] = {}
    known = list(known)
    for pair in filter(None, text.split(",")):
        key, separator, value = pair.partition("=")
        if key not in known and not separator and key.isdigit():
            raise UsageError(f"{kind}: {shortened(pair)!r} is not of the form key=value, e.g. {kind}:{known[0]}={key}")
        if key not in known:
            raise UnknownNameError(f"option of {kind}", key, known)
        if not separator or not value:
            raise UsageError(f"{kind}: {shortened(pair)!r} is not of the form key=value, e.g. {kind}:{known[0]}=…")
        if key in options:
            raise UsageError(f"{kind}: {key} is given twice")
        try:
            options[key] = json.loads(value)
        except (ValueError, RecursionError):  # no JSON, or more digits or brackets than Python reads
            options[key] = value
    return options


def make_random(text: str) -> Agent:
    """Make the agent called `random`, which has no options."""
    if text:
        raise UsageError(f"random has no options, found {shortened(text)!r}")
    return RandomAgent()


def make_human(text: str) -> Agent:
    """Make the agent called `human`, which has no options."""
    from anabranch.play.human_agent import HumanAgent

    if text:
        raise UsageError(f"human has no options, found {shortened(text)!r}")
    return HumanAgent()


def _marked(agent: Agent, text: str, mark: str) -> Agent:
    """Return an agent that is the one named, if its name has a hash."""
    from anabranch.play.identity import agent_identity

    if mark and not agent_identity(agent).text.endswith(f":sha256={mark}"):
        raise DataError(
            f"{text} is another agent than the one named: it is {agent_identity(agent)}, not :sha256={mark}"
        )
    return agent


def _from_module(where: str, member: str) -> Agent:
    module = load_module(where)
    found = getattr(module, member, None)
    if found is None:
        names = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise UnknownNameError(f"agent in {where}", member, names)
    wanted = "an agent has choose(turns), or is a function of (state, seat)"
    refuse_pythons_own(f"{where}:{member}", found, wanted)
    if isinstance(found, type):
        if not callable(getattr(found, "choose", None)):
            raise UsageError(f"{where}:{member} is no agent: it has no choose(turns); derive it from ab.Agent")
        found = found()
    if isinstance(found, str):  # which would be read as another name
        raise UsageError(f"{where}:{member}: {wanted}; found str")
    return as_agent(found)
