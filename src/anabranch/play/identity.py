"""Which agent it is, so that the file of a match can tell: see `evaluate/identity.py`.

Agents of the library are told by their names, which have all their settings and their evaluators in them. One of the
user's own is told by its code and by what it holds; if it has a `name` of its own, that tells its settings, and what it
holds may change as it plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.errors import DataError, shown
from anabranch.evaluate.batch import Evaluator
from anabranch.evaluate.contents import DIGITS, contents, origin
from anabranch.evaluate.identity import UNKNOWN, Identity, check_same, code_identity, identity
from anabranch.evaluate.sources import DoubtError
from anabranch.play.agent import Agent, name_of
from anabranch.play.human_agent import HumanAgent
from anabranch.play.open_spiel import OpenSpielAgent
from anabranch.play.oracle_agent import OracleAgent
from anabranch.play.plan_agent import PlanAgent
from anabranch.play.random_agent import RandomAgent
from anabranch.play.scripted_agent import ScriptedAgent
from anabranch.play.search_agent import SearchAgent

# What agents of the library hold that their names tell, or that is only of the moment.
_TOLD: dict[type, tuple[str, ...]] = {
    SearchAgent: (
        *("budget", "evaluator", "rule", "temperature", "simultaneous_temperature", "keep", "threads", "config"),
        "_searcher",
    ),
    PlanAgent: ("model", "simulations", "temperature", "config", "_planner"),
    HumanAgent: ("hint", "reading", "writing", "can_undo", "waiting"),
    ScriptedAgent: ("label",),
    OpenSpielAgent: ("_name", "_twins"),
    OracleAgent: ("oracle", "goal"),
    RandomAgent: (),
}
PROMISE = "same_agents=True, or --same-agents"
ADVICE = "Name another file, or repeat the match the file was made with"


def agent_identity(agent: Any) -> Identity:
    """Return which agent it is."""
    kind = type(agent)
    if isinstance(said := getattr(agent, "identity", None), str):
        return Identity(f"{origin(agent)}:identity={said}")
    if isinstance(agent, SearchAgent) and kind is SearchAgent:
        return Identity(agent.name, identity(agent.evaluator).doubt if UNKNOWN in agent.name else "")
    if isinstance(agent, PlanAgent) and kind is PlanAgent:
        return Identity(agent.name, agent.which.doubt)
    if kind in (RandomAgent, HumanAgent, OracleAgent):
        return Identity(name_of(agent))
    if isinstance(agent, ScriptedAgent) and kind is ScriptedAgent:
        found = code_identity(agent.function, known=_known)
        return found if agent.label is None else Identity(f"{agent.label} ({found})", found.doubt)
    return _of_code(agent)


def _of_code(agent: Any) -> Identity:
    """Return which agent of the user's own it is: its code, its name if it is its own, else what it holds."""
    kind, name = type(agent), name_of(agent)
    told = next((known for known in kind.__mro__ if known in _TOLD), None)
    where = origin(agent)
    own = any("name" in vars(each) for each in kind.__mro__ if each not in _TOLD and each is not Agent)
    try:
        made = (kind,) if own or "name" in getattr(agent, "__dict__", {}) else (agent,)
        mark = contents(*made, known=_known, skip={*_TOLD[told]} if told is not None else frozenset())[:DIGITS]
    except DoubtError as doubt:
        return Identity(f"{_called(where, name)}:{UNKNOWN}", f"{where}: {doubt}")
    return Identity(f"{_called(where, name)}:sha256={mark}")


def _called(where: str, name: str) -> str:
    return where if where.endswith(f":{name}") else f"{name} ({where})"


def check_agents_same(there: Any, here: Sequence[Identity], path: Any, *, promised: bool) -> None:
    """Refuse the file of a match between other agents, or where nobody can tell."""
    if not isinstance(there, list) or len(there) != len(here):
        raise DataError(
            f"{path} is of another match: its agents are {shown(there)}, this one has {len(here)}. {ADVICE}"
        )
    for number, (said, agent) in enumerate(zip(there, here, strict=True)):
        what = f"{path} is of a match whose agent {number + 1} is"
        check_same(said, agent, what, advice=ADVICE, promised=promised, promise=PROMISE)


def _known(thing: Any) -> str | None:
    """Return the text of an agent or evaluator of the library inside of another thing, where it is sure."""
    if type(thing).__module__.partition(".")[0] != "anabranch" or not isinstance(thing, (Agent, Evaluator)):
        return None
    found = agent_identity(thing) if isinstance(thing, Agent) else identity(thing)
    if found.doubt:
        raise DoubtError(found.doubt)
    return found.text
