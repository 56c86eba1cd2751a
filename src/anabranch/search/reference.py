"""The search of MODEL.md in plain Python, slow and obvious: what the native engine must agree with, visit for visit."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from typing import Any

from anabranch.errors import CycleError
from anabranch.evaluate.batch import Batch, Evaluator, Opinion, as_evaluator, opinions
from anabranch.game.compiled import CompiledGame
from anabranch.game.random import Random, fold, key_of, key_of_bytes
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER, as_row
from anabranch.search import formulas
from anabranch.search.arguments import check_budget, checked_config, checked_state
from anabranch.search.config import SearchConfig
from anabranch.search.draws import Draws, Purpose
from anabranch.search.nodes import Edge, Kind, Move, Node, ReferenceGraph, Values
from anabranch.search.result import Result, read_result
from anabranch.search.selectors import choose, decision_value, learn

Visit = Generator["Visit", None, None]  # a visit in progress; it yields visits that must be finished first
Path = list[tuple[Node, list[Edge]]]  # nodes walked, each with the edges this visit will count


class Reference:
    """One root and its graph, searched one playout at a time; `run` may be called again and goes on."""

    def __init__(self, state: State, evaluator: Any, config: SearchConfig | None = None, *, stream: int = 0) -> None:
        self.game = checked_state(state).game
        self.rules = state.game.rules
        self.evaluator: Evaluator = as_evaluator(evaluator)
        self.config = checked_config(config)
        self.draws = Draws(self.config.seed, stream)
        self.graph = ReferenceGraph(self.game)
        self.root = self._add(state, self._key(state.data, None, []))

    def run(self, *, simulations: int | None = None, visits: int | None = None, seconds: float | None = None) -> Result:
        """Add simulations, or search until the root has so many visits, or until the time is up."""
        check_budget(simulations, visits, seconds)
        started = time.perf_counter()
        goal = self.root_visits + simulations if simulations is not None else visits
        if self.root.kind is Kind.DECISION and self.root.opinion is None:
            self._evaluate([self.root])
        done = 0
        while self.root.kind is not Kind.OVER:
            elapsed = time.perf_counter() - started
            if self.root_visits >= goal if goal is not None else elapsed >= (seconds or 0.0):
                break
            self.simulate()
            done += 1
        return read_result(self.graph, self.config, done, time.perf_counter() - started)

    @property
    def root_visits(self) -> int:
        """Σ N over the root's edges, or the completed visits of a root that is chance."""
        return self.root.completed if self.root.kind is Kind.CHANCE else self.root.edge_visits

    # One playout

    def simulate(self) -> None:
        """Run one playout from the root. Visits that wait for others are kept on a stack, so depth has no limit."""
        waiting = [self._visit(self.root, set())]
        while waiting:
            try:
                waiting.append(next(waiting[-1]))
            except StopIteration:
                waiting.pop()

    def _visit(self, node: Node, above: set[Node]) -> Visit:
        """Walk down from a node to where the playout ends, then back up; `above` holds the current path's nodes."""
        path: Path = []
        while node.kind is not Kind.OVER:
            if node.kind is Kind.DECISION and node.opinion is None:
                self._evaluate([node])
                break
            above.add(node)
            if node.kind is Kind.CHANCE and node.completed == 0 and self._opens_at_once(node):
                edges, fresh = self._open(node, above)
                path.append((node, edges))
                for unvisited in fresh:
                    if unvisited.visits == 0:
                        yield self._visit(unvisited, above)
                break
            edge = self._draw(node) if node.kind is Kind.CHANCE else self._select(node)
            path.append((node, [edge]))
            if edge.frozen is not None:
                break
            assert edge.child is not None
            child = edge.child
            if child in above:
                self._repeat(path, edge)
                break
            if node.kind is Kind.DECISION and self._stops(node, edge, child):
                self._refresh(child)
                break
            node = child
        self._back(path)
        above.difference_update(walked for walked, _ in path)

    def _back(self, path: Path) -> None:
        """Add one to each edge walked and recompute each node, leaf first."""
        for node, edges in reversed(path):
            for edge in edges:
                edge.visits += 1
            if node.kind is Kind.CHANCE:
                node.completed += 1
            else:
                learn(node, edges[0], self.config)
            self._refresh(node)

    def _refresh(self, node: Node) -> None:
        """Recompute Q from the children: idempotent, so paths that meet may refresh a shared node in any order."""
        players = range(self.game.players)
        if node.kind is Kind.DECISION and node.opinion is not None:
            node.mean = [decision_value(node, self.config, player) for player in players]
            for edge in node.edges.values():
                if edge.visits > 0:
                    for player in players:
                        self.graph.low[player] = min(self.graph.low[player], edge.value(player))
                        self.graph.high[player] = max(self.graph.high[player], edge.value(player))
        elif node.kind is Kind.CHANCE and node.completed > 0:
            node.mean = [chance_value(node, player) for player in players]

    # Decisions

    def _select(self, node: Node) -> Edge:
        """Let the acting players choose, and make the edge if nobody took it before."""
        move = choose(self.graph, node, self.config, self.draws)
        return node.edges.get(move) or self._take(node, move)

    def _take(self, node: Node, move: Move) -> Edge:
        chosen = [ids[choice] for ids, choice in zip(node.choices, move, strict=True)]
        actions = as_row(self.game.players, node.acting, chosen)
        edge, data = self._step(node, move, actions, self.game.discount, 1.0)
        if not self._attach(edge, node, data, actions):
            self._freeze(edge, node, data, actions)
        return edge

    def _stops(self, node: Node, edge: Edge, child: Node) -> bool:
        """Whether the playout ends before a child that knows more than this edge asked of it (`stop`, ρ, `leak`)."""
        rule = self.config.transposition
        if rule.on_visit == "continue" or not child.visits > rule.rho * edge.visits:
            return False
        return rule.leak == 0.0 or self.draws.uniform(Purpose.LEAK, 0, node.key, node.visits) >= rule.leak

    def _repeat(self, path: Path, edge: Edge) -> None:
        """End a playout that came back into its own path, if the game says what a repetition is worth."""
        if self.game.cycles is None:
            loop: list[str] = []
            for node, edges in reversed(path):
                loop.append(_describe(node, edges[0]))
                if node is edge.child:
                    break
            raise CycleError(
                f"{self.game.name} came back to a state of the same line of play, but declares no cycles. Set "
                f"self.cycles = 'bootstrap' or a number in __init__, or put what differs into the state. The loop: "
                f"{', '.join(reversed(loop))}\nfrom the state\n{edge.child.state if edge.child else ''}"
            )
        if self.game.cycles != "bootstrap":
            edge.repeats += 1

    # Chance

    def _opens_at_once(self, node: Node) -> bool:
        """Whether the first visit makes several children as one batch: all outcomes, or m draws."""
        node.exact = 0 < len(node.outcomes) <= self.config.chance.exact_up_to
        return node.exact or self.config.chance.draws > 1

    def _open(self, node: Node, above: set[Node]) -> tuple[list[Edge], list[Node]]:
        """Make the first children of a chance node; return the edges drawn and the chance children to visit once."""
        before = len(self.graph.nodes)
        if node.exact:
            edges = [self._outcome(node, index, None) for index in range(len(node.outcomes))]
        else:
            draws = range(1, self.config.chance.draws + 1)
            edges = [self._outcome(node, self._outcome_index(node, number), number) for number in draws]
        for edge in edges:
            if edge.child in above and not (node.exact and self.game.cycles is not None):  # enumerating ends no playout
                self._repeat([(node, [edge])], edge)
        fresh = self.graph.nodes[before:]
        unknown = {edge.child: None for edge in edges if edge.child and edge.child.visits == 0}  # in order, once each
        self._evaluate([child for child in unknown if child.kind is Kind.DECISION])
        return ([] if node.exact else edges), [
            child for child in unknown if child.kind is Kind.CHANCE and child in fresh
        ]

    def _draw(self, node: Node) -> Edge:
        """Draw the outcome of this visit."""
        drawn = node.completed if node.exact else node.edge_visits
        return self._outcome(node, self._outcome_index(node, drawn + 1), drawn + 1)

    def _outcome_index(self, node: Node, number: int) -> int:
        """Return the outcome of the `number`-th draw (1 for the first)."""
        chance = self.config.chance
        if not node.outcomes:  # the game can only draw; outcomes are then told apart by their own ids
            return self.rules.draw(node.state.data, Random(self.draws.key(Purpose.CHANCE, 0, node.key, number)))
        if chance.draw == "sampled":
            point = self.draws.uniform(Purpose.CHANCE, 0, node.key, number)
        else:
            offset = self.draws.offset(node.key) if chance.offset is None else chance.offset
            point = formulas.spread_point(offset, number)
        return formulas.first_above(point, [p for _, p in node.outcomes])

    def _outcome(self, node: Node, index: int, number: int | None) -> Edge:
        """Return the edge of an outcome, with a child if widening allows one at the `number`-th draw, else frozen."""
        limit = None if number is None else self.config.chance.limit(number)
        room = limit is None or sum(1 for _ in node.children()) < limit
        outcome, p = node.outcomes[index] if node.outcomes else (index, 0.0)
        actions = as_row(self.game.players, (0,), (outcome,))
        edge = node.edges.get((index,))
        if edge is None:
            edge, data = self._step(node, (index,), actions, 1.0, p)
            if not (room and self._attach(edge, node, data, actions)):
                self._freeze(edge, node, data, actions)
        elif edge.frozen is not None and room:
            data, _ = self.rules.step(node.state.data, actions)
            self._attach(edge, node, data, actions)
        return edge

    # Making nodes

    def _step(self, node: Node, move: Move, actions: list[int], discount: float, p: float) -> tuple[Edge, Any]:
        """Make an edge without a child yet; return it with the state it leads to."""
        data, rewards = self.rules.step(node.state.data, actions)
        repetition = self.game.cycles if isinstance(self.game.cycles, (int, float)) else 0.0
        edge = Edge(move, [formulas.single(r) for r in rewards], discount, p, repetition)
        node.edges[move] = edge
        return edge, data

    def _attach(self, edge: Edge, node: Node, data: Any, actions: list[int]) -> bool:
        """Give an edge the node of a state, found or made; False where it would be new and the graph is full."""
        child = self._find(data)
        if child is None:
            limit = self.config.max_nodes
            if limit is not None and len(self.graph.nodes) >= limit:
                return False
            child = self._add(State(self.game, data), self._key(data, node, actions))
        edge.child, edge.frozen = child, None
        return True

    def _find(self, data: Any) -> Node | None:
        return self.graph.index.get(self.rules.key(data)) if self.config.transposition.merge else None

    def _add(self, state: State, key: int) -> Node:
        node = Node(state, key)
        self.graph.nodes.append(node)
        if self.config.transposition.merge:
            self.graph.index[state.key] = node
        return node

    def _key(self, data: Any, creator: Node | None, actions: Iterable[int]) -> int:
        """Return a node's key: the hash of its bytes, or for objects a mix of the creator's key and the edge."""
        if isinstance(self.game, CompiledGame):
            return key_of_bytes(self.rules.key(data))
        mixed = key_of(()) if creator is None else creator.key
        for action in actions:
            mixed = fold(mixed, action)
        return mixed

    def _freeze(self, edge: Edge, node: Node, data: Any, actions: list[int]) -> None:
        """Keep u = r + d·U of a state that gets no node."""
        beyond = self._judge(node, data, actions)
        edge.frozen = [r + edge.discount * u for r, u in zip(edge.reward, beyond, strict=True)]

    def _judge(self, node: Node, data: Any, actions: list[int]) -> Values:
        """Return what a state without a node is worth: chance is walked through by draws, a known state lends its Q."""
        key = self._key(data, node, actions)
        random = Random(self.draws.key(Purpose.FREEZE, 0, key, node.visits))
        collected = [0.0] * self.game.players
        while True:
            known, turn = self._find(data), self.rules.turn(data)
            if known is not None and known.visits > 0:
                worth: Iterable[float] = known.mean
                break
            if turn == OVER:
                return collected
            if turn != CHANCE:
                batch = Batch([State(self.game, data)], [key], [self.draws.evaluation()])
                worth = opinions(self.evaluator, batch)[0].values
                break
            outcome = self.rules.draw(data, random)
            data, rewards = self.rules.step(data, as_row(self.game.players, (0,), (outcome,)))
            collected = [c + formulas.single(r) for c, r in zip(collected, rewards, strict=True)]
            records = isinstance(self.game, CompiledGame)
            key = key_of_bytes(self.rules.key(data)) if records else fold(key, outcome)
        return [c + w for c, w in zip(collected, worth, strict=True)]

    def _evaluate(self, nodes: list[Node]) -> None:
        """Ask the evaluator about decision nodes, all in one batch."""
        if not nodes:
            return
        seeds = [self.draws.evaluation()] * len(nodes)
        batch = Batch([node.state for node in nodes], [node.key for node in nodes], seeds)
        for node, opinion in zip(nodes, opinions(self.evaluator, batch), strict=True):
            node.priors = [prior_of(node, index, opinion) for index in range(len(node.acting))]
            node.opinion = opinion.values
            node.mean = list(opinion.values)


def prior_of(node: Node, index: int, opinion: Opinion) -> list[float]:
    """Return an acting player's prior over choices: a softmax over its legal ids, summed over ids that do the same."""
    groups = node.ids[index]
    if opinion.logits is None:
        return formulas.stored_prior([1.0 / len(groups)] * len(groups))
    legal = sorted(action for ids in groups.values() for action in ids)
    chances = dict(zip(legal, formulas.softmax([float(opinion.logits[index][a]) for a in legal]), strict=True))
    return formulas.stored_prior([formulas.total_of(chances[a] for a in ids) for ids in groups.values()])


def chance_value(node: Node, player: int) -> float:
    """Return Q of a chance node: Σ p·q over all outcomes where enumerated, else the mean of what was drawn."""
    if node.exact:
        return formulas.total_of(edge.chance * edge.value(player) for edge in node.edges.values())
    drawn = [edge for edge in node.edges.values() if edge.visits > 0]
    return formulas.total_of(edge.visits * edge.value(player) for edge in drawn) / node.edge_visits


def _describe(node: Node, edge: Edge) -> str:
    game = node.state.game
    if node.kind is Kind.CHANCE:
        outcome = node.outcomes[edge.move[0]][0] if node.outcomes else edge.move[0]
        return f"outcome {game.outcome_name(outcome)}"
    names = [game.action_name(ids[choice]) for ids, choice in zip(node.choices, edge.move, strict=True)]
    return names[0] if len(names) == 1 else "(" + ", ".join(names) + ")"
