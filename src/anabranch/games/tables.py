"""Tables of finite games: read one, check that it holds together, find its cycles and the range of its returns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.errors import GameError, UsageError, suggestion
from anabranch.files import read_file

LARGEST = 2**28  # bytes of a file


class Edge(NamedTuple):
    """Where one joint choice or outcome leads; `chance` is 0 on decision edges."""

    child: int
    rewards: tuple[float, ...]
    chance: float


class Node(NamedTuple):
    """One node; edges are in the order of joint choices (the last acting player's running fastest) or of outcomes."""

    turn: int
    acting: tuple[int, ...]
    counts: tuple[int, ...]
    edges: tuple[Edge, ...]


Evaluation = tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]  # a value per player, priors per acting player


class Table(NamedTuple):
    """A table that holds together; nodes are numbered in the order they were written."""

    players: int
    root: int
    returns: tuple[float, float] | None
    names: list[str]
    nodes: list[Node]
    evaluations: dict[str, Evaluation]


_ENTRIES = {"over": (), "chance": ("outcomes",), "decision": ("acting", "choices", "edges", "U", "priors")}


def load_table(table: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    """Return a table, from a JSON file if that is what was named."""
    if isinstance(table, (str, Path)):
        data = read_file(table, LARGEST)
        try:
            table = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise GameError(f"the table {str(table)!r} is no JSON: {error}") from None
    if not isinstance(table, Mapping):
        raise UsageError(f"an explicit game is given as a mapping or a JSON file, found {type(table).__name__}")
    return table


def read_table(table: Mapping[str, Any]) -> Table:
    """Read a table; whatever is wrong with it is a GameError that names the node."""
    _only(table, ("players", "returns", "root", "nodes"), "the table")
    players = _integer(_entry(table, "players", "the table"), 1, 62, "the table's players")
    described = _entry(table, "nodes", "the table")
    if not isinstance(described, Mapping) or not described or not all(isinstance(name, str) for name in described):
        raise GameError("the table's nodes must be a mapping from names to nodes, with at least one")
    numbers = {name: number for number, name in enumerate(described)}
    nodes, evaluations = [], {}
    for name, node in described.items():
        where = f"node {name!r}"
        kind = _entry(node, "kind", where)
        if not isinstance(kind, str) or kind not in _ENTRIES:
            raise GameError(f"{where} has kind {kind!r}; kinds are {', '.join(_ENTRIES)}")
        _only(node, ("kind", *_ENTRIES[kind]), where)
        if kind == "over":
            nodes.append(Node(ab.OVER, (), (), ()))
        elif kind == "chance":
            nodes.append(_chance(node, where, players, numbers))
        else:
            nodes.append(_decision(node, where, players, numbers))
            if "U" in node:
                evaluations[name] = _evaluation(node, where, players, nodes[-1].counts)
    root = _child(_entry(table, "root", "the table"), "the table's root", numbers)
    return Table(players, root, _declared(table.get("returns")), list(numbers), nodes, evaluations)


def children_first(nodes: Sequence[Node]) -> tuple[list[int], list[int]]:
    """Return (all nodes, children before parents; []), or an incomplete order and the nodes of a cycle, closed."""
    order: list[int] = []
    seen = [False] * len(nodes)
    for start in range(len(nodes)):
        path: list[tuple[int, int]] = []
        on_path: set[int] = set()
        if not seen[start]:
            path.append((start, 0))
        while path:
            number, edge = path.pop()
            if edge == 0:
                seen[number] = True
                on_path.add(number)
            if edge == len(nodes[number].edges):
                order.append(number)
                on_path.remove(number)
                continue
            path.append((number, edge + 1))
            child = nodes[number].edges[edge].child
            if child in on_path:
                walked = [step for step, _ in path]
                return order, [*walked[walked.index(child) :], child]
            if not seen[child]:
                path.append((child, 0))
    return order, []


def range_of_returns(table: Table, order: Sequence[int] | None, discount: float) -> tuple[float, float]:
    """Return what the table declares, checked against what its paths pay, or the latter.

    `order` lists the nodes, children first; None where there is a cycle: it may pay without end, and only the table's
    author knows a range.
    """
    if order is None:
        if table.returns is None:
            raise GameError("a table with a cycle must declare its returns: [low, high]")
        return table.returns
    low, high = np.zeros((len(table.nodes), table.players)), np.zeros((len(table.nodes), table.players))
    for number in order:
        node = table.nodes[number]
        if node.edges:
            children = [edge.child for edge in node.edges]
            rewards = np.array([edge.rewards for edge in node.edges])
            factor = 1.0 if node.turn == ab.CHANCE else discount
            low[number] = (rewards + factor * low[children]).min(axis=0)
            high[number] = (rewards + factor * high[children]).max(axis=0)
    lowest, highest = float(low[table.root].min()), float(high[table.root].max())
    if table.returns is not None:
        slack = 1e-9 * max(1.0, abs(lowest), abs(highest))
        if lowest < table.returns[0] - slack or highest > table.returns[1] + slack:
            raise GameError(f"the table declares returns {table.returns}, but its paths pay from {lowest} to {highest}")
        return table.returns
    # A range without width could not be mapped onto [−1, 1].
    return (lowest, highest) if lowest < highest else (lowest - 1.0, highest + 1.0)


def _chance(node: Mapping[str, Any], where: str, players: int, numbers: Mapping[str, int]) -> Node:
    edges, total = [], 0.0
    for probability, child, rewards in _triples(node, "outcomes", where):
        chance = _real(probability, f"{where}: a probability")
        if not 0.0 < chance <= 1.0:
            raise GameError(f"{where}: an outcome has probability {chance}; leave out what cannot happen")
        edges.append(Edge(_child(child, where, numbers), _rewards(rewards, where, players), chance))
        total += chance
    if abs(total - 1.0) > 1e-6:
        raise GameError(f"{where}: the probabilities sum to {total}, not to 1")
    return Node(ab.CHANCE, (), (), tuple(edges))


def _decision(node: Mapping[str, Any], where: str, players: int, numbers: Mapping[str, int]) -> Node:
    acting = tuple(_integer(seat, 0, players - 1, f"{where}: a seat") for seat in _listed(node, "acting", where))
    if any(left >= right for left, right in pairwise(acting)):
        raise GameError(f"{where}: acting must list players ascending, found {list(acting)}")
    counts = tuple(_integer(count, 1, 2**31 - 1, f"{where}: choices") for count in _listed(node, "choices", where))
    if len(counts) != len(acting):
        raise GameError(f"{where}: {len(acting)} players act, but choices has {len(counts)} entries")
    edges: dict[int, Edge] = {}
    for joint, child, rewards in _triples(node, "edges", where):
        if not isinstance(joint, Sequence) or len(joint) != len(acting):
            raise GameError(f"{where}: the joint choice {joint!r} needs {len(acting)} entries, one per acting player")
        index = 0
        for choice, count in zip(joint, counts, strict=True):
            index = index * count + _integer(choice, 0, count - 1, f"{where}: a choice in {list(joint)}")
        if index in edges:
            raise GameError(f"{where}: the joint choice {list(joint)} has two edges")
        edges[index] = Edge(_child(child, where, numbers), _rewards(rewards, where, players), 0.0)
    if len(edges) != math.prod(counts):
        missing = next(index for index in range(len(edges) + 1) if index not in edges)
        joint = [missing // math.prod(counts[i + 1 :]) % counts[i] for i in range(len(counts))]
        raise GameError(f"{where}: the joint choice {joint} has no edge; there must be {math.prod(counts)} edges")
    turn = sum(ab.player(seat) for seat in acting)
    return Node(turn, acting, counts, tuple(edges[index] for index in range(len(edges))))


def _evaluation(node: Mapping[str, Any], where: str, players: int, counts: tuple[int, ...]) -> Evaluation:
    values = tuple(_real(value, f"{where}: U") for value in _listed(node, "U", where))
    if len(values) != players:
        raise GameError(f"{where}: U needs {players} entries, found {len(values)}")
    if "priors" not in node:
        return values, tuple((1.0 / count,) * count for count in counts)
    priors = _listed(node, "priors", where)
    if not all(isinstance(prior, Sequence) for prior in priors) or tuple(map(len, priors)) != counts:
        raise GameError(f"{where}: priors must have one number for each choice of each acting player")
    return values, tuple(tuple(_real(p, f"{where}: a prior") for p in prior) for prior in priors)


def _declared(returns: Any) -> tuple[float, float] | None:
    if returns is None:
        return None
    if not isinstance(returns, Sequence) or len(returns) != 2:
        raise GameError(f"the table's returns must be [low, high], found {returns!r}")
    return _real(returns[0], "the lowest return"), _real(returns[1], "the highest return")


def _child(name: Any, where: str, numbers: Mapping[str, int]) -> int:
    if not isinstance(name, str) or name not in numbers:
        raise GameError(f"{where} leads to {name!r}, which is no node.{suggestion(str(name), numbers)}")
    return numbers[name]


def _rewards(rewards: Any, where: str, players: int) -> tuple[float, ...]:
    if not isinstance(rewards, Sequence) or len(rewards) != players:
        raise GameError(f"{where}: rewards need {players} entries, one per player, found {rewards!r}")
    return tuple(_real(reward, f"{where}: a reward") for reward in rewards)


def _triples(node: Mapping[str, Any], name: str, where: str) -> Iterator[tuple[Any, Any, Any]]:
    for listed in _listed(node, name, where):
        if not isinstance(listed, Sequence) or len(listed) != 3:
            raise GameError(f"{where}: an entry of {name} is [choice or probability, child, rewards], found {listed!r}")
        yield listed[0], listed[1], listed[2]


def _listed(node: Mapping[str, Any], name: str, where: str) -> Sequence[Any]:
    listed = _entry(node, name, where)
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise GameError(f"{where}: {name} must be a list with at least one entry, found {listed!r}")
    return listed


def _entry(mapping: Any, name: str, where: str) -> Any:
    if not isinstance(mapping, Mapping):
        raise GameError(f"{where} must be a mapping, found {mapping!r}")
    if name not in mapping:
        raise GameError(f"{where} has no {name!r}")
    return mapping[name]


def _only(mapping: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    for name in mapping:
        if name not in names:
            raise GameError(f"{where} has an unknown entry {name!r}.{suggestion(str(name), names)}")


def _integer(value: Any, low: int, high: int, what: str) -> int:
    if not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise GameError(f"{what} must be an integer from {low} to {high}, found {value!r}")
    return int(value)


def _real(value: Any, what: str) -> float:
    if not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise GameError(f"{what} must be a finite number, found {value!r}")
    return float(value)
