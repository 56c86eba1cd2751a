"""One path of the reference: walk down to its end, wait for answers, back up (docs/model.md sections 5 and 6)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from anabranch.errors import CycleError, UsageError
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.random import Random, fold, key_of, key_of_bytes
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER, as_row
from anabranch.search.engine.failure import endless, too_many_players
from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Edge, Kind, Move, Node, ReferenceGraph, Values
from anabranch.search.reference.proofs import Proofs, open_point
from anabranch.search.reference.select import selectors
from anabranch.search.reference.select.selector import Selector
from anabranch.search.reference.select.visits import best_values
from anabranch.search.reference.staleness import ancestors, children_first, leaves_of
from anabranch.search.reference.wave import Pause, Question, Step, Visit, Wave
from anabranch.search.settings.config import SearchConfig

LONGEST = 100_000  # states on one way, inner visits included: where dice lead to dice for ever, a search must end
FEW_VISITS = 64  # between two sweeps at least
LOOPS = 1_000  # steps after which a path that comes back to itself ends, where it may go round


class Walker:
    """Walks the paths of one graph; every change is announced to the wave, which may have to take it back."""

    def __init__(self, game: Game, config: SearchConfig, draws: Draws) -> None:
        self.game, self.rules, self.config, self.draws = game, game.rules, config, draws
        self.graph = ReferenceGraph(game, keeps_parents=config.refresh in ("parents", "ancestors"))
        self.proofs = Proofs(game, config.proofs == "on")
        alone = config.width == 1 and config.depth == 1 and game.cycles != "bootstrap"
        self.settles = self.proofs.on and alone and config.refresh == "path"  # see `_settle`
        self.alone, self.together = selectors(
            config, self.graph, self.proofs
        )  # where one player acts, where several do
        self.rule = RootRule()  # of the root
        self.wave = Wave()  # the one at work

    def selector_at(self, node: Node) -> Selector:
        """Return who is in charge of a decision."""
        return self.alone if len(node.acting) == 1 else self.together

    def visit(self, node: Node, above: set[Node], outermost: bool = True) -> Visit:
        """Walk down from a node to where the visit ends, then back up; `above` holds the current path's nodes.

        The outermost visit waits for its turn to be backed up. Those that an enumerated chance node wants, one for each
        of its new chance children, come after the answers for its other children and are backed up at once.
        """
        steps: list[Step] = []
        repeated: list[Edge] = []  # edges that came back into the path
        refreshed: Node | None = None  # known well enough to end before it
        while node.kind is not Kind.OVER:
            if node.kind is Kind.DECISION and node.evaluation is None:
                self.ask(node)
                break
            above.add(node)
            if node.kind is Kind.CHANCE and len(above) > LONGEST:
                raise CycleError(endless(self.game))
            if node.kind is Kind.CHANCE and node.visits + node.in_flight == 0 and self._opens_at_once(node):
                edges, fresh = self._open(node, above, repeated)
                steps.append(Step(node, edges))
                self._mark(node, edges)
                if fresh:
                    yield Pause.ANSWERS
                for unvisited in fresh:
                    if unvisited.visits == 0:
                        yield self.visit(unvisited, above, outermost=False)
                break
            if node.kind is Kind.CHANCE:
                edge = self._draw(node)
                steps.append(Step(node, [edge]))
            else:
                edge, chances = self._select(node)
                steps.append(Step(node, [edge], chances))
            child = edge.child
            repeats = child is not None and child in above
            closed = child is not None and not repeats and child.proven and child.visits > 0
            goes_on = child is not None and not repeats and not closed
            if goes_on and child is not None and node.kind is Kind.DECISION and self._stops(node, edge, child):
                refreshed = child
            self._mark(node, [edge])
            if repeats:
                self._repeat(steps, edge, repeated)
            loops = self.game.cycles == "bootstrap" and outermost and child is not self.graph.nodes[0]
            ends = repeats and not (loops and len(steps) < LOOPS)
            if closed and outermost and self.settles:
                following = self._settle(steps, above)
                if following is None:
                    break
                node = following
                continue
            if child is None or ends or closed or refreshed is not None:
                break
            node = child
        yield Pause.BACK if outermost else Pause.ANSWERS
        self._back(steps, repeated, refreshed)
        if outermost and self.config.refresh == "sweep" and self.graph.root_visits % self._sweep_every == 0:
            self._refresh_beside(children_first(self.graph.nodes[0]))
        above.difference_update(step.node for step in steps)

    def _settle(self, steps: list[Step], above: set[Node]) -> Node | None:
        """Count a visit that came to a proven child; return where the path goes on, None where it ends.

        If a single player chose it, below the root and for the first time since it is proven, the visit counts at this
        node alone, which passes the edge over from now on; a node proven by that is such a child itself.
        """
        while len(steps) > 1:
            node, (edge,) = steps[-1].node, steps[-1].edges
            if node.kind is not Kind.DECISION or len(node.acting) != 1 or edge.skip:
                return None
            self._remember(node)
            steps.pop()
            above.discard(node)
            self._mark(node, [edge], -1)
            edge.count()
            self.proofs.reconsider(node)
            self.refresh(node)
            if not node.proven:
                return node if edge.skip else None
        return None

    @property
    def _sweep_every(self) -> int:
        """Visits of the root between two sweeps: as set, or the number of nodes rounded up to a power of two."""
        return self.config.sweep_every or 1 << (max(FEW_VISITS, len(self.graph.nodes)) - 1).bit_length()

    def _mark(self, node: Node, edges: list[Edge], change: int = 1) -> None:
        """Count a visit in flight, or one no longer in flight: v of the node, v of the edges."""
        self._count_in_flight(node, edges, change)
        self.wave.on_failure(lambda: self._count_in_flight(node, edges, -change))

    @staticmethod
    def _count_in_flight(node: Node, edges: list[Edge], change: int) -> None:
        node.passing += change
        for edge in edges:
            edge.in_flight += change

    def _back(self, steps: list[Step], repeated: list[Edge], refreshed: Node | None) -> None:
        """Add one to each edge walked and recompute each node, leaf first, and others as `SearchConfig.refresh` says.

        `parents`: after each node, the leaf first, its parents but the one walked next. `ancestors`: at the end all
        nodes that can reach one of the path or its leaf, these included.
        """
        leaves, walked = leaves_of(steps), [step.node for step in steps]
        if refreshed is not None:
            self._refresh_beside([refreshed])
        for leaf in leaves:
            self._refresh_parents(leaf, walked[-1])
        for step in steps:
            self._remember(step.node)
        for edge in repeated:
            edge.repeats += 1
        for number in reversed(range(len(steps))):
            node, edges, chances = steps[number]
            self._mark(node, edges, -1)
            for edge in edges:
                edge.count()
            if node.kind is Kind.CHANCE:
                node.completed += 1
            else:
                self.selector_at(node).learn(node, edges[0], chances)
            if self.proofs.teaches(node, edges):
                self.proofs.reconsider(node)
            self.refresh(node)
            self._refresh_parents(node, walked[number - 1] if number > 0 else None)
        if self.config.refresh == "ancestors":
            self._refresh_beside(ancestors([*leaves, *reversed(walked)]))

    def _refresh_parents(self, node: Node, following: Node | None) -> None:
        """Where parents are to be refreshed, refresh a node's, but for the one that the walk back comes to next."""
        if self.config.refresh == "parents":
            self._refresh_beside(parent for parent in node.parents if parent is not following)

    def _refresh_beside(self, nodes: Iterable[Node]) -> None:
        """Refresh nodes whether or not a visit walked them: none is counted and no selector learns."""
        for node in nodes:
            if node.visits > 0:  # else opened by another path of the wave and not backed up yet
                self._remember_value(node)
                self.proofs.reconsider(node)
                self.refresh(node)

    def _remember_value(self, node: Node) -> None:
        """Remember what a refresh changes: the node's value, and the range of values."""
        graph = self.graph
        mean, low, high = node.mean, list(graph.low), list(graph.high)
        proof = node.remember_proof()

        def undo() -> None:
            node.mean, graph.low, graph.high = mean, low, high
            node.restore_proof(proof)

        self.wave.on_failure(undo)

    def _remember(self, node: Node) -> None:
        """Remember all that a backup changes."""
        self._remember_value(node)
        known = node.remember()
        self.wave.on_failure(lambda: node.restore(known))

    def refresh(self, node: Node) -> None:
        """Recompute Q from the children: idempotent, so paths that meet may refresh a shared node in any order."""
        players = range(self.game.players)
        if node.kind is Kind.DECISION and node.evaluation is not None:
            best = self.config.backup == "best" and len(node.acting) == 1
            node.mean = best_values(node) if best else self.selector_at(node).value(node)
            self.proofs.clip(node)
            for edge in node.edges.values():
                if edge.visits > 0:
                    for player in players:
                        self.graph.low[player] = min(self.graph.low[player], edge.value(player))
                        self.graph.high[player] = max(self.graph.high[player], edge.value(player))
        elif node.kind is Kind.CHANCE and node.completed > 0:
            node.mean = [chance_value(node, player) for player in players]
            self.proofs.clip(node)

    # Decisions

    def _select(self, node: Node) -> tuple[Edge, tuple[float, ...]]:
        """Let the acting players choose, and make the edge if nobody took it before; with what chances they drew."""
        rule = self.rule if node is self.graph.nodes[0] else None
        move, chances = self.selector_at(node).choose(node, self.draws, rule)
        return node.edges.get(move) or self._take(node, move), chances

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
        known = child.visits + child.in_flight
        if rule.on_visit == "continue" or not known > rule.rho * (edge.visits + edge.in_flight):
            return False
        counted = node.visits + node.in_flight
        return rule.leak == 0.0 or self.draws.uniform(Purpose.LEAK, 0, node.key, counted) >= rule.leak

    def _repeat(self, steps: list[Step], edge: Edge, repeated: list[Edge]) -> None:
        """End a playout that came back into its own path, if the game says what a repetition is worth."""
        if self.game.cycles is None:
            loop: list[str] = []
            for step in reversed(steps):
                loop.append(_describe(step.node, step.edges[0]))
                if step.node is edge.child:
                    break
            raise CycleError(
                f"{self.game.name} came back to a state of the same line of play, but declares no cycles. Set "
                f"self.cycles = 'bootstrap' or a number in __init__, or put what differs into the state. The loop: "
                f"{', '.join(reversed(loop))}\nfrom the state\n{edge.child.state if edge.child else ''}"
            )
        if self.game.cycles != "bootstrap":
            repeated.append(edge)

    # Chance

    def _opens_at_once(self, node: Node) -> bool:
        """Whether the first visit makes several children as one batch: all outcomes, or m draws."""
        node.exact = 0 < len(node.outcomes) <= self.config.chance.enumerated
        return node.exact or self.config.chance.draws > 1

    def _open(self, node: Node, above: set[Node], repeated: list[Edge]) -> tuple[list[Edge], list[Node]]:
        """Make the first children of a chance node; return the edges drawn and the chance children to visit once."""
        before = len(self.graph.nodes)
        if node.exact:
            edges = [self._outcome(node, index, None) for index in range(len(node.outcomes))]
        else:
            draws = range(1, self.config.chance.draws + 1)
            edges = [self._outcome(node, self._outcome_index(node, number), number) for number in draws]
        for edge in edges:
            if edge.child in above and not (node.exact and self.game.cycles is not None):  # enumerating ends no playout
                self._repeat([Step(node, [edge])], edge, repeated)
        fresh = self.graph.nodes[before:]
        unknown = {edge.child: None for edge in edges if edge.child and edge.child.visits == 0}  # in order, once each
        for child in unknown:
            if child.kind is Kind.DECISION:
                self.ask(child)
        return ([] if node.exact else edges), [
            child for child in unknown if child.kind is Kind.CHANCE and child in fresh
        ]

    def _draw(self, node: Node) -> Edge:
        """Draw the outcome of this visit; those in flight have drawn theirs."""
        drawn = node.completed + node.passing if node.exact else node.edge_visits + node.edges_in_flight
        return self._outcome(node, self._outcome_index(node, drawn + 1), drawn + 1)

    def _outcome_index(self, node: Node, number: int) -> int:
        """Return the outcome of the `number`-th draw (1 for the first)."""
        chance = self.config.chance
        if not node.outcomes:  # the game can only draw; outcomes are then told apart by their own ids
            return self.rules.draw(node.state.data, Random(self.draws.key(Purpose.CHANCE, 0, node.key, number)))
        if chance.draw != "spread":
            point = self.draws.uniform(Purpose.CHANCE, 0, node.key, number)
        else:
            offset = self.draws.offset(node.key) if chance.offset is None else chance.offset
            point = formulas.spread_point(offset, number)
        chances = [p for _, p in node.outcomes]
        skipped = [(edge := node.edges.get((index,))) is not None and edge.skip for index in range(len(chances))]
        return formulas.first_above(*open_point(point, chances, skipped))

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
        elif edge.child is None and room and edge.in_flight == 0:
            data, _ = self.rules.step(node.state.data, actions)
            self._attach(edge, node, data, actions)
        return edge

    # Making nodes

    def _step(self, node: Node, move: Move, actions: list[int], discount: float, p: float) -> tuple[Edge, Any]:
        """Make an edge without a child yet; return it with the state it leads to."""
        data, rewards = self.rules.step(node.state.data, actions)
        discount = self.game.edge_discount(data, discount)
        repetition = self.game.cycles if isinstance(self.game.cycles, (int, float)) else 0.0
        edge = Edge(move, [formulas.single(r) for r in rewards], discount, p, repetition)
        self.wave.on_failure(lambda: node.edges.pop(move))
        node.edges[move] = edge
        return edge, data

    def _attach(self, edge: Edge, node: Node, data: Any, actions: list[int]) -> bool:
        """Give an edge the node of a state, found or made; False where it would be new and the graph is full."""
        child = self.find(data)
        if child is None:
            limit = self.config.max_nodes
            if limit is not None and len(self.graph.nodes) >= limit:
                return False
            child = self.add(State(self.game, data), self.key(data, node, actions))

        def undo() -> None:
            edge.child = None

        self.wave.on_failure(undo)
        edge.child = child
        if self.graph.keeps_parents and node not in child.parents:
            self.wave.on_failure(lambda: child.parents.pop(node))
            child.parents[node] = None
        return True

    def find(self, data: Any) -> Node | None:
        """Return the node of a state, if there is one that equal states share."""
        return self.graph.index.get(self.rules.key(data)) if self.config.transposition.merge else None

    def add(self, state: State, key: int) -> Node:
        """Make the node of a state; one where more players choose at once than the selector knows is refused here."""
        node, most = Node(state, key), self.together.most_acting
        if most is not None and len(node.acting) > most:
            raise UsageError(too_many_players(self.game, self.config.simultaneous, most, len(node.acting), state))
        self.proofs.begin(node)
        self.graph.nodes.append(node)
        self.wave.on_failure(self.graph.nodes.pop)
        if self.config.transposition.merge and not self._private(state.data):
            self.graph.index[state.key] = node
            self.wave.on_failure(lambda: self.graph.index.pop(state.key))
        return node

    def _private(self, data: Any) -> bool:
        """Whether a state is no node that others find: dice that are rolled inside the transition."""
        return self.config.chance.draw == "in_transition" and self.rules.turn(data) == CHANCE

    def key(self, data: Any, creator: Node | None, actions: Iterable[int]) -> int:
        """Return a node's key: the hash of its bytes, or for objects a mix of the creator's key and the edge.

        So it is for dice rolled inside the transition, since each edge draws its own.
        """
        private = creator is not None and self._private(data)
        if isinstance(self.game, CompiledGame) and not private:
            return key_of_bytes(self.rules.key(data))
        mixed = key_of(()) if creator is None else creator.key
        for action in actions:
            mixed = fold(mixed, action)
        return mixed

    # Evaluations

    def ask(self, node: Node) -> None:
        """Ask about a decision node, unless somebody did already and the answer is on its way."""
        if node.pending:
            return

        def undo() -> None:
            node.pending = False

        self.wave.on_failure(undo)
        node.pending = True
        self.wave.questions.append(Question(node.state, node.key, node=node))

    def _freeze(self, edge: Edge, node: Node, data: Any, actions: list[int]) -> None:
        """Keep u = r + d·U of a state without a node: chance is walked through by draws, a known state lends its Q."""
        key = self.key(data, node, actions)
        random = Random(self.draws.key(Purpose.FREEZE, 0, key, node.visits + node.in_flight))
        collected = [0.0] * self.game.players
        for drawn in itertools.count():
            if drawn > LONGEST:
                raise CycleError(endless(self.game))
            known, turn = self.find(data), self.rules.turn(data)
            if known is not None and known.visits > 0:
                freeze(edge, collected, known.mean)
                return
            if turn == OVER:
                freeze(edge, collected, [0.0] * self.game.players)
                return
            if turn != CHANCE:
                break
            outcome = self.rules.draw(data, random)
            data, rewards = self.rules.step(data, as_row(self.game.players, (0,), (outcome,)))
            collected = [c + formulas.single(r) for c, r in zip(collected, rewards, strict=True)]
            records = isinstance(self.game, CompiledGame)
            key = key_of_bytes(self.rules.key(data)) if records else fold(key, outcome)
        edge.frozen = [0.0] * self.game.players  # from now on; its value comes with the answer
        self.wave.questions.append(Question(State(self.game, data), key, edge=edge, collected=collected))


def freeze(edge: Edge, collected: Values, worth: Iterable[float]) -> None:
    """Let an edge keep r + d·(rewards on the way + what the state there is worth)."""
    beyond = [c + w for c, w in zip(collected, worth, strict=True)]
    edge.frozen = [r + edge.discount * u for r, u in zip(edge.reward, beyond, strict=True)]


def chance_value(node: Node, player: int) -> float:
    """Return Q of a chance node: Σ p·q over all outcomes where enumerated, else the mean of what was drawn.

    Drawn outcomes that are proven, and not drawn any more, count by their chances: Σ_C p·q + (1 − Σ_C p)·(mean of the
    draws of others).
    """
    if node.exact:
        return formulas.total_of(edge.chance * edge.value(player) for edge in node.edges.values())
    drawn = [edge for edge in node.edges.values() if edge.visits > 0]
    proven, others = [edge for edge in drawn if edge.skip], [edge for edge in drawn if not edge.skip]
    mass = formulas.total_of(edge.chance for edge in proven)
    if mass <= 0.0:
        return formulas.total_of(edge.visits * edge.value(player) for edge in drawn) / node.edge_visits
    certain = formulas.total_of(edge.chance * edge.value(player) for edge in proven)
    visits = sum(edge.visits for edge in others)
    if visits == 0:
        return certain / mass
    mean = formulas.total_of(edge.visits * edge.value(player) for edge in others) / visits
    return certain + (1.0 - mass) * mean


def _describe(node: Node, edge: Edge) -> str:
    game = node.state.game
    if node.kind is Kind.CHANCE:
        outcome = node.outcomes[edge.move[0]][0] if node.outcomes else edge.move[0]
        return f"outcome {game.outcome_name(outcome)}"
    names = [game.action_name(ids[choice]) for ids, choice in zip(node.choices, edge.move, strict=True)]
    return names[0] if len(names) == 1 else "(" + ", ".join(names) + ")"
