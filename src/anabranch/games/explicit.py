"""Explicit games: any finite game written down as a table of nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.errors import CycleError, UsageError, suggestion
from anabranch.game.parameters import one_of, real
from anabranch.games.tables import Table, children_first, load_table, range_of_returns, read_table


class Explicit(ab.CompiledGame):
    """A finite game given as a table, or as the name of a JSON file that holds one.

        {"players": 2, "root": "a", "returns": [-1, 1], "nodes": {
           "a": {"kind": "decision", "acting": [0], "choices": [2], "edges": [[[0], "b", [0, 0]], [[1], "c", [1, -1]]]},
           "b": {"kind": "chance", "outcomes": [[0.5, "c", [1, -1]], [0.5, "c", [-1, 1]]]},
           "c": {"kind": "over"}}}

    An edge is [joint choice, child, rewards], one for every joint choice of the acting players; an outcome is
    [probability, child, rewards]. The same child is the same state. `returns` may be left out of a game without cycles:
    the range of what its paths pay is then used. A decision may carry an evaluation, `U` (a value per player) and
    `priors` (per acting player): no rules, but kept in `evaluations` by node. The table is kept, not copied.
    """

    title = "explicit"

    def __init__(
        self,
        table: Mapping[str, Any] | str | Path | None = None,
        discount: float = 1.0,
        cycles: str | float | None = None,
    ) -> None:
        real("discount", discount, 0.0, 1.0)
        if isinstance(cycles, str):
            one_of("cycles", cycles, ("bootstrap",))
        elif cycles is not None:
            real("cycles", cycles)
        self.table = EIGHT_NODES if table is None else load_table(table)
        read = read_table(self.table)
        self.evaluations = read.evaluations
        self._names = read.names
        self._numbers = {name: number for number, name in enumerate(read.names)}
        order, loop = children_first(read.nodes)
        if loop and cycles is None:
            path = " → ".join(read.names[number] for number in loop)
            raise CycleError(
                f"the table has a cycle, {path}; declare it with cycles='bootstrap' or the value of a repetition"
            )

        self.players, self.root = read.players, read.root
        self.discount, self.cycles = float(discount), cycles if loop else None
        self.actions = room(max((max(node.counts) for node in read.nodes if node.counts), default=1), 2, 2)
        self.outcomes = room(max((len(node.edges) for node in read.nodes if node.turn == ab.CHANCE), default=1), 4)
        self.rewards_along = any(
            any(edge.rewards) and read.nodes[edge.child].turn != ab.OVER for node in read.nodes for edge in node.edges
        )
        paid = [np.array(edge.rewards, np.float32) for node in read.nodes for edge in node.edges]
        self.zero_sum = self.players == 2 and all(rewards[0] + rewards[1] == 0.0 for rewards in paid)
        self.returns = range_of_returns(read, None if loop else order, self.discount)
        self.state = ab.record(node=np.int32)
        self._store(read)

    def _store(self, read: Table) -> None:
        """Lay the table out as arrays."""
        nodes, edges = room(len(read.nodes), 64), room(sum(len(node.edges) for node in read.nodes), 256)
        seats = room(self.players, 4)
        self.turns = np.zeros(nodes, np.int64)
        self.counts = np.zeros((nodes, seats), np.int32)  # the choices of each acting player
        self.first_edges = np.zeros(
            nodes + 1, np.int32
        )  # node n has the edges from first_edges[n] to first_edges[n + 1]
        self.children = np.zeros(edges, np.int32)
        self.rewards = np.zeros((edges, seats), np.float64)
        self.chances = np.zeros(edges, np.float64)
        first = 0
        for number, node in enumerate(read.nodes):
            self.turns[number] = node.turn
            for seat, count in zip(node.acting, node.counts, strict=True):
                self.counts[number, seat] = count
            for index, edge in enumerate(node.edges, first):
                self.children[index], self.chances[index] = edge.child, edge.chance
                self.rewards[index, : self.players] = edge.rewards
            first += len(node.edges)
            self.first_edges[number + 1] = first

    def setup(self, state: Any, random: Any) -> None:
        state.node = self.root

    def turn(self, state: Any) -> int:
        turn: int = self.turns[state.node]
        return turn

    def legal(self, state: Any, player: int, actions: Any) -> int:
        count: int = self.counts[state.node, player]
        for action in range(count):
            actions[action] = action
        return count

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        first = self.first_edges[state.node]
        count: int = self.first_edges[state.node + 1] - first
        for outcome in range(count):
            outcomes[outcome] = outcome
            chances[outcome] = self.chances[first + outcome]
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        turn, index = self.turns[state.node], 0
        if turn == ab.CHANCE:
            index = actions[0]
        else:  # joint choices are numbered with the last acting player's running fastest
            for player in range(self.players):
                if turn >> player & 1:
                    index = index * self.counts[state.node, player] + actions[player]
        edge = self.first_edges[state.node] + index
        for player in range(self.players):
            rewards[player] = self.rewards[edge, player]
        state.node = self.children[edge]

    def node(self, name: str) -> ab.State:
        """Return the state a node of the table stands for."""
        if name not in self._numbers:
            raise UsageError(f"{self!r} has no node {name!r}.{suggestion(name, self._names)}")
        return ab.State(self, self.replace(bytes(self.state.itemsize), node=self._numbers[name]))

    def id_of(self, state: ab.State) -> str:
        """Return the table's name of a state."""
        if state.game is not self and state.game != self:
            raise UsageError(f"that is a state of {state.game!r}, not of {self!r}")
        number: int = self.field(state.data, "node")
        return self._names[number]

    def text(self, state: ab.State) -> str:
        """Draw a node: who acts, and where every choice or outcome leads with which rewards."""
        name = self.id_of(state)
        if state.over:
            return f"{name}: over"
        node = self.table["nodes"][name]
        if state.turn == ab.CHANCE:
            lines = [f"{chance:.6g} → {_target(child, rewards)}" for chance, child, rewards in node["outcomes"]]
            return "\n  ".join([f"{name}: chance", *lines])
        who = "player" if len(node["acting"]) == 1 else "players"
        lines = [f"{', '.join(map(str, joint))} → {_target(child, rewards)}" for joint, child, rewards in node["edges"]]
        return "\n  ".join([f"{name}: {who} {', '.join(map(str, node['acting']))}", *lines])

    def __repr__(self) -> str:
        return f"{self.name}({len(self._names)} nodes from {self._names[self.root]!r})"

    def _identity(self) -> Any:
        return *super()._identity(), tuple(self._names)


def room(size: int, least: int, step: int = 4) -> int:
    """Round a size up, to `least` times a power of `step`: games of equal sizes share one compilation."""
    rounded = least
    while rounded < size:
        rounded *= step
    return rounded


def _target(child: str, rewards: Sequence[float]) -> str:
    paid = ", ".join(f"{reward:+.6g}" if reward else "0" for reward in rewards)
    return f"{child} ({paid})" if any(rewards) else child


def _fork(evaluation: float, left: str, left_reward: float, right: str, right_reward: float) -> dict[str, Any]:
    edges = [[[0], left, [left_reward]], [[1], right, [right_reward]]]
    return {"kind": "decision", "acting": [0], "choices": [2], "edges": edges, "U": [evaluation]}


#: One player; the lines through A and B rejoin in C. What `Explicit()` is without a table.
EIGHT_NODES: Mapping[str, Any] = {
    "players": 1,
    "root": "R",
    "nodes": {
        "R": _fork(0.0, "A", 0.0, "B", 0.0),
        "A": _fork(0.1, "C", 0.0, "D", -0.2),
        "B": _fork(0.2, "C", 0.0, "E", 0.1),
        "C": _fork(0.5, "F", 0.8, "G", -0.4),
        **{name: {"kind": "over"} for name in "DEFG"},
    },
}
