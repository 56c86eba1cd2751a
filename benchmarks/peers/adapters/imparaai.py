"""The package imparaai-montecarlo: the user makes the children of a node, the library scores and descends."""

from __future__ import annotations

from typing import Any

from measure import Contender
from montecarlo.montecarlo import MonteCarlo
from montecarlo.node import Node

from peers.adapters.states import starts
from peers.questions import Question


def node_of(state: Any) -> Any:
    """Return a node that knows whose turn it is."""
    node = Node(state)
    node.player_number = state.current_player()
    return node


def make(question: Question, variant: str) -> Contender:
    """Return its search: with rollouts, or with an expert's evaluation (a uniform policy, value 0)."""
    start = starts(question)
    expert = question.evaluator == "uniform"

    def find_children(node: Any, search: Any) -> None:
        state = node.state
        if state.is_terminal():  # met again: the library would count nothing
            node.update_win_value(state.returns()[0])
            return
        legal = state.legal_actions()
        for action in legal:
            child = node_of(state.child(action))
            if expert:
                child.update_policy_value(1.0 / len(legal))
            node.add_child(child)
        if expert:
            node.update_win_value(0.0)

    def judge(child: Any, search: Any) -> Any:
        return child.state.returns()[0] if child.state.is_terminal() else None

    def call() -> None:
        search = MonteCarlo(node_of(start()))
        search.child_finder, search.node_evaluator = find_children, judge
        search.simulate(question.simulations)

    return Contender("imparaai-montecarlo", call, question.units)  # it counts values, several a simulation
