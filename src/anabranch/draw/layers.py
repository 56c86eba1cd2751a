"""Where the nodes of a graph go when it is drawn in layers, parents above children (after Sugiyama 1981).

Nodes are put into layers by the longest path that leads to them or, where lines of play may come back to where they
were, by the shortest; edges that skip layers get waypoints in between, each layer is ordered by barycentres until
crossings stop falling, and places are found by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Link = tuple[int, int]
SWEEPS = 12
NARROW = 0.35  # room a waypoint takes, as a share of a node's


@dataclass(frozen=True)
class Layout:
    """Places in units of one node's width and one layer's height; `ways` are the points an edge passes between."""

    places: Mapping[int, tuple[float, int]]
    ways: Mapping[Link, Sequence[tuple[float, int]]]
    back: frozenset[Link]  # edges that do not lead down: they close a loop, or lead to a node no deeper
    width: float
    layers: int


def layered(nodes: Sequence[int], links: Sequence[Link], *, loops: bool = False) -> Layout:
    """Lay out a graph whose first node is the root; every other one can be reached from it.

    With `loops` layers count the fewest steps from the root, which keeps graphs full of loops small.
    """
    links = list(dict.fromkeys(links))
    if loops:
        depth = _shortest(nodes[0], links)
        back = {(start, end) for start, end in links if depth[end] <= depth[start]}
    else:
        back = _loops(nodes[0], links)
        depth = _longest(nodes, [link for link in links if link not in back])
    forward = [link for link in links if link not in back]
    count = max(depth.values(), default=0) + 1
    layers: list[list[int]] = [[] for _ in range(count)]
    for node in nodes:
        layers[depth[node]].append(node)
    below: dict[int, list[int]] = {node: [] for node in nodes}
    chains: dict[Link, list[int]] = {}
    waypoint = -1  # waypoints are numbered −1, −2, …; nodes are not negative
    for start, end in forward:
        chain = [start]
        for layer in range(depth[start] + 1, depth[end]):
            layers[layer].append(waypoint)
            below[waypoint] = []
            chain.append(waypoint)
            waypoint -= 1
        chain.append(end)
        chains[start, end] = chain
        for one, other in pairwise(chain):
            below[one].append(other)
    above: dict[int, list[int]] = {node: [] for node in below}
    for node, children in below.items():
        for child in children:
            above[child].append(node)
    layers = _ordered(layers, above, below)
    x = _spread(layers, above, below)
    left = min(x.values())
    right = max(x.values())
    return Layout(
        places={node: (x[node] - left, depth[node]) for node in nodes},
        ways={
            link: [(x[way] - left, depth[link[0]] + 1 + at) for at, way in enumerate(chain[1:-1])]
            for link, chain in chains.items()
        },
        back=frozenset(back),
        width=right - left + 1,
        layers=count,
    )


def _loops(root: int, links: Sequence[Link]) -> set[Link]:
    """Return the edges that lead back to a node on the way to them, walking depth first."""
    children: dict[int, list[int]] = {}
    for start, end in links:
        children.setdefault(start, []).append(end)
    loops: set[Link] = set()
    done: set[int] = set()
    trail, on_trail = [(root, iter(children.get(root, [])))], {root}
    while trail:
        node, rest = trail[-1]
        child = next(rest, None)
        if child is None:
            trail.pop()
            on_trail.discard(node)
            done.add(node)
        elif child in on_trail:
            loops.add((node, child))
        elif child not in done:
            trail.append((child, iter(children.get(child, []))))
            on_trail.add(child)
    return loops


def _shortest(root: int, links: Sequence[Link]) -> dict[int, int]:
    """Return the fewest steps from the root to each node."""
    depth, wave = {root: 0}, [root]
    while wave:
        wave = [end for start in wave for one, end in links if one == start and end not in depth]
        depth.update(dict.fromkeys(wave, max(depth.values()) + 1))
    return depth


def _longest(nodes: Sequence[int], links: Sequence[Link]) -> dict[int, int]:
    """Return the length of the longest path to each node; there are no loops."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        changed = False
        for start, end in links:
            if depth[end] <= depth[start]:
                depth[end] = depth[start] + 1
                changed = True
        if not changed:
            break
    return depth


def _ordered(
    layers: list[list[int]], above: Mapping[int, Sequence[int]], below: Mapping[int, Sequence[int]]
) -> list[list[int]]:
    """Order each layer by the mean place of its neighbours, down and up, and keep the order with fewest crossings."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, below)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        order = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
        for at in order:
            beside = {node: place for place, node in enumerate(layers[at - 1 if down else at + 1])}
            centre = {}
            for place, node in enumerate(layers[at]):
                found = [beside[other] for other in neighbours[node] if other in beside]
                centre[node] = sum(found) / len(found) if found else float(place)
            layers[at].sort(key=centre.__getitem__)
        crossed = _crossings(layers, below)
        if crossed < fewest:
            best, fewest = [list(layer) for layer in layers], crossed
    return best


def _crossings(layers: Sequence[Sequence[int]], below: Mapping[int, Sequence[int]]) -> int:
    """Count the pairs of edges between neighbouring layers that cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {node: at for at, node in enumerate(lower)}
        ends = [sorted(place[child] for child in below[node]) for node in upper]
        flat = [end for group in ends for end in group]
        total += sum(later < earlier for at, earlier in enumerate(flat) for later in flat[at + 1 :])
    return total


def _spread(
    layers: Sequence[Sequence[int]], above: Mapping[int, Sequence[int]], below: Mapping[int, Sequence[int]]
) -> dict[int, float]:
    """Place nodes near the middle of their neighbours, without changing their order or letting them overlap."""
    x: dict[int, float] = {}
    for layer in layers:
        gaps = _gaps(layer)
        at = -sum(gaps) / 2
        for node, gap in zip(layer, [0.0, *gaps], strict=False):
            at += gap
            x[node] = at
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else list(reversed(layers)):
            wanted = []
            for node in layer:
                near = [x[other] for other in (*above[node], *below[node])]
                wanted.append(sum(near) / len(near) if near else x[node])
            x.update(zip(layer, _apart(wanted, _gaps(layer)), strict=True))
    return x


def _gaps(layer: Sequence[int]) -> list[float]:
    """Return how far apart neighbours must be: a node's width between nodes, less beside waypoints."""
    room = [1.0 if node >= 0 else NARROW for node in layer]
    return [(one + other) / 2 for one, other in pairwise(room)]


def _apart(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted (least squares) that keep the gaps: isotonic regression by pooling."""
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, int]] = []  # mean of wanted − offset, and of how many
    for place, offset in zip(wanted, offsets, strict=True):
        mean, size = place - offset, 1
        while pools and pools[-1][0] > mean:
            before, many = pools.pop()
            mean, size = (before * many + mean * size) / (many + size), many + size
        pools.append((mean, size))
    means = [mean for mean, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
