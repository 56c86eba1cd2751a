"""The search of docs/model.md in plain Python, slow and obvious; the engine agrees with it visit for visit."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.evaluate.batch import Batch, Evaluation, Evaluator, as_evaluator, evaluations
from anabranch.evaluate.range import limits, warn_of, watched
from anabranch.game.state import State
from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.root_rule import gumbel_rule, in_charge, root_rule
from anabranch.search.reference.nodes import Kind, Node, ReferenceGraph
from anabranch.search.reference.report import read_result
from anabranch.search.reference.select.visits import choice_visits
from anabranch.search.reference.walk import Walker, freeze
from anabranch.search.reference.wave import Path, Pause, Question, Wave
from anabranch.search.results.result import Result, used
from anabranch.search.settings.arguments import (
    BEING_SEARCHED,
    Keep,
    check_budget,
    check_time,
    checked_config,
    checked_keep,
    checked_state,
)
from anabranch.search.settings.config import Gumbel, SearchConfig
from anabranch.search.settings.resolved import resolved


class Reference:
    """One root and its graph, searched wave after wave; `run` may be called again and goes on."""

    walks_by = Walker  # tests put unsound ones here, to see laws fail

    def __init__(self, state: State, evaluator: Any, config: SearchConfig | None = None, *, stream: int = 0) -> None:
        self.game = checked_state(state).game
        self.state = state
        self.evaluator: Evaluator = as_evaluator(evaluator)
        self.config = resolved(checked_config(config), self.game, self.evaluator)
        self.stream = stream
        self.root_number = 0  # how often the root moved on
        self.explores = True  # whether noise and forced playouts are used, where the settings have them
        self.warned = not watched(self.evaluator)  # of values outside of what the game declares
        self._within = limits([self.game])
        self.asked = 0  # how many states the evaluator was asked about
        self._kept: dict[Any, Kept] = {}  # by state: what is kept from before an advance
        self.walker = self._planted(state, 0)

    def _planted(self, state: State, root_number: int) -> Walker:
        """Begin a new graph."""
        walker = self.walks_by(self.game, self.config, Draws(self.config.seed, self.stream, root_number))
        walker.add(state, walker.key(state.data, None, []))
        return walker

    @property
    def graph(self) -> ReferenceGraph:
        """The nodes and edges found so far."""
        return self.walker.graph

    @property
    def root(self) -> Node:
        """The node of the state being searched."""
        return self.graph.nodes[0]

    @property
    def root_visits(self) -> int:
        """Σ N over the root's edges, or the completed visits of a root that is chance."""
        return self.graph.root_visits

    def run(self, *, simulations: int | None = None, visits: int | None = None, seconds: float | None = None) -> Result:
        """Add simulations, or search until the root has so many visits, or until the time is up.

        Whatever fails, the graph is then as it was before the waves in flight.
        """
        check_budget(simulations, visits, seconds)
        check_time(self.config, seconds)
        if self.graph.holder is not None:
            raise UsageError(BEING_SEARCHED)
        try:
            self.graph.holder = threading.get_ident()
            return self._run(simulations, visits, seconds)
        finally:
            self.graph.holder = None

    def _run(self, simulations: int | None, visits: int | None, seconds: float | None) -> Result:
        started = time.perf_counter()
        before = self.root_visits
        goal = before + simulations if simulations is not None else visits
        waves: deque[Wave] = deque()
        try:
            self._prepare(waves, 0 if goal is None else max(0, goal - before))
            while self.root.kind is not Kind.OVER:
                solved = self.root.proven and self.root.visits > 0
                late = seconds is not None and time.perf_counter() - started >= seconds
                flying = sum(len(wave.paths) for wave in waves)
                left = self.config.width if goal is None else goal - self.root_visits - flying
                if (
                    left > 0
                    and not late
                    and not solved
                    and len(waves) < self.config.depth
                    and all(wave.complete for wave in waves)
                ):
                    waves.append(Wave())
                    self._select(waves[-1], min(self.config.width, left))
                elif waves:
                    self._land(waves[0])
                    waves.popleft()
                else:
                    break
        except BaseException:
            while waves:
                waves.pop().take_back()
            raise
        return read_result(self, self.root_visits - before, time.perf_counter() - started)

    def _prepare(self, waves: deque[Wave], simulations: int) -> None:
        """Ask about the root, which is free, and make its rule for a run of so many simulations."""
        if self.root.kind is Kind.DECISION and self.root.evaluation is None:
            waves.append(Wave())
            self.walker.wave = waves[0]
            self.walker.ask(self.root)
            self._answer(waves[0])
            waves.pop()
        root, walker, settings = self.root, self.walker, used(self.config, self.explores)
        drawn_by = (root.priors, root.acting, walker.draws, root.key, walker.rule)
        selector = in_charge(settings, root.acting)
        if isinstance(selector, Gumbel):
            counts = [choice_visits(root, index) for index in range(len(root.acting))]
            walker.rule = gumbel_rule(selector, *drawn_by, counts, simulations)
        else:
            walker.rule = root_rule(settings, *drawn_by)

    # Waves

    def _select(self, wave: Wave, width: int) -> None:
        """Walk paths down from the root, one after the other, each seeing those before it in flight."""
        self.walker.wave = wave
        for _ in range(width):
            wave.paths.append(Path(self.walker.visit(self.root, set())))
            wave.paths[-1].proceed()

    def _land(self, wave: Wave) -> None:
        """Get the answers, let paths that waited for them go on and ask again; then back up all, in order."""
        self.walker.wave = wave
        self._answer(wave)
        while not wave.complete:
            for path in wave.paths:
                if path.paused is Pause.ANSWERS:
                    path.proceed()
            self._answer(wave)
        for path in wave.paths:
            path.proceed()

    def _answer(self, wave: Wave) -> None:
        """Ask the evaluator about all states of a wave at once, except those it spoke about before an advance."""
        questions, wave.questions = wave.questions, []
        known = [question.node and self._kept.get(question.state.data) for question in questions]
        unknown = [
            question for question, before in zip(questions, known, strict=True) if not (before and before.evaluation)
        ]
        fresh = iter(self._evaluations(unknown))
        for question, before in zip(questions, known, strict=True):
            evaluation = before.evaluation if before and before.evaluation else next(fresh)
            if question.node is not None:
                self._settle(question.node, evaluation)
            elif question.edge is not None and question.edge.frozen is not None:
                freeze(question.edge, question.collected, evaluation.values)

    def _evaluations(self, questions: list[Question]) -> list[Evaluation]:
        if not questions:
            return []
        seed = self.walker.draws.evaluation()
        states, keys = [question.state for question in questions], [question.key for question in questions]
        self.asked += len(questions)
        found = evaluations(self.evaluator, Batch(states, keys, [seed] * len(questions)))
        values = np.array([evaluation.values for evaluation in found])
        if not self.warned and (values.min() < self._within[0] or values.max() > self._within[1]):
            self.warned = True
            warn_of(self.game, values, self._within)
        return found

    def _settle(self, node: Node, evaluation: Evaluation) -> None:
        def undo() -> None:
            node.priors, node.evaluation, node.mean = [], None, [0.0] * self.game.players
            node.pending = True

        priors = [prior_of(node, index, evaluation) for index in range(len(node.acting))]
        self.walker.wave.on_failure(undo)
        node.priors, node.evaluation, node.mean = priors, evaluation, list(evaluation.values)
        self.walker.proofs.clip(node)
        node.pending = False

    # Between moves

    def advance(self, action: Any, *, keep: Keep = "graph") -> npt.NDArray[np.float64]:
        """Make the state after an action, a joint action or an outcome the root; return the step's rewards per player.

        `keep` says what stays of what was found below it. `graph`: all of it. `evaluations`: visits are forgotten,
        evaluations are not asked for again. `nothing`.
        """
        checked_keep(keep)
        if self.graph.holder is not None:
            raise UsageError(BEING_SEARCHED)
        state, rewards = self.state.step(action)
        edge = self.root.edges.get(self.root.move_of(action))
        kept = edge.child if edge is not None and edge.child is not None else self.walker.find(state.data)
        kept_evaluations = self._below(kept, state) if keep == "evaluations" else {}
        walker = self._planted(state, self.root_number + 1)
        if keep == "graph" and kept is not None:
            private = self.config.chance.draw == "in_transition"
            walker.graph.take(self.graph, kept, merge=self.config.transposition.merge, private=private)
        # Nothing can fail from here on: a verb that raised above has changed nothing.
        self.state, self.walker, self._kept = state, walker, kept_evaluations
        self.root_number += 1
        self.explores = True  # a cap decides root by root
        return rewards

    def _below(self, kept: Node | None, state: State) -> dict[Any, Kept]:
        """Return what is remembered of states that can be reached, by edges of this graph or of those before it.

        Breadth first, and no more of them than the graph may have nodes.
        """
        all_known = dict(self._kept)
        for node in self.graph.nodes:
            known = all_known.get(node.state.data, Kept())
            children = {child.state.data: None for child in node.children()}
            all_known[node.state.data] = Kept(node.evaluation or known.evaluation, known.children | children)
        waiting = deque([state.data] if kept is None else [state.data, kept.state.data])
        below: dict[Any, Kept] = {}
        while waiting and len(below) != self.config.max_nodes:
            data = waiting.popleft()
            if data in all_known and data not in below:
                below[data] = all_known[data]
                waiting.extend(below[data].children)
        return {
            data: Kept(known.evaluation, {child: None for child in known.children if child in below})
            for data, known in below.items()
        }


@dataclass(frozen=True)
class Kept:
    """What is kept of a state whose visits are forgotten: its evaluation, and the states known to follow."""

    evaluation: Evaluation | None = None
    children: dict[Any, None] = field(default_factory=dict)


def prior_of(node: Node, index: int, evaluation: Evaluation) -> list[float]:
    """Return an acting player's prior over choices: a softmax over its legal ids, summed over ids that do the same."""
    groups = node.ids[index]
    if evaluation.logits is None:
        return formulas.stored_prior([1.0 / len(groups)] * len(groups))
    legal = sorted(action for ids in groups.values() for action in ids)
    chances = dict(zip(legal, formulas.softmax([float(evaluation.logits[index][a]) for a in legal]), strict=True))
    return formulas.stored_prior([formulas.total_of(chances[a] for a in ids) for ids in groups.values()])
