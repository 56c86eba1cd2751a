"""Where the nodes, edges and labels of a graph go when it is drawn in layers, parents above children (Sugiyama 1981).

Nodes are put into layers by the longest path that leads to them or, where lines of play may come back to where they
were, by the shortest. Layers are the even rows; below each is a row for labels. An edge has a slot of its own in every
row it passes, and in one of them the slot is as wide as its label. So edges that go the same way lie side by side, and
neither labels nor nodes lie on anything else. Each row is ordered by barycentres until crossings stop falling, and
places are found by least squares.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Link = tuple[int, int]
Place = tuple[float, int]  # the middle, in pixels from the left; the row, from the top
SWEEPS = 12
STRAIGHT = 4.0  # how much more it counts that an edge goes straight down through rows than that it meets a node so
SLOT = 12.0  # pixels an edge takes across in a row where it has no label
BETWEEN = 10.0  # pixels between labels


@dataclass(frozen=True)
class Way:
    """The slots an edge passes from its start to its end, and which of them has its label.

    An edge that does not lead down is `back`: it closes a loop, or leads to a node no deeper. One between nodes of one
    layer, or from a node to itself, goes through a slot below them.
    """

    slots: Sequence[Place]
    label: int
    back: bool


@dataclass(frozen=True)
class Layout:
    """Nodes by number, in even rows; the ways of the edges, in the order they were given."""

    places: Mapping[int, Place]
    ways: Sequence[Way]
    width: float  # in pixels
    rows: int


def layered(
    nodes: Sequence[int], links: Sequence[Link], *, wide: float, labels: Sequence[float], loops: bool = False
) -> Layout:
    """Lay out a graph whose first node is the root; every other one can be reached from it.

    Nodes are `wide` pixels across, room beside them included, and the label of each link so many as `labels` says.
    With `loops` layers count the fewest steps from the root, which keeps graphs full of loops small.
    """
    if loops:
        depth = _shortest(nodes[0], links)
        back = {(start, end) for start, end in links if depth[end] <= depth[start]}
    else:
        back = _loops(nodes[0], links)
        depth = _longest(nodes, [link for link in links if link not in back])
    passed = [_passed(2 * depth[start], 2 * depth[end]) for start, end in links]
    chosen = _label_rows(passed, labels)
    rows: list[list[int]] = [[] for _ in range(max(map(max, [*passed, *([2 * at] for at in depth.values())])) + 1)]
    for node in nodes:
        rows[2 * depth[node]].append(node)
    width = dict.fromkeys(nodes, wide)
    below: dict[int, list[int]] = {node: [] for node in nodes}
    chains: list[list[int]] = []
    slot = -1  # slots are numbered −1, −2, …; nodes are not negative
    for (start, end), through, labelled, across in zip(links, passed, chosen, labels, strict=True):
        chain = []
        for row in through:
            rows[row].append(slot)
            width[slot] = max(across + BETWEEN, SLOT) if row == labelled else SLOT
            below[slot] = []
            chain.append(slot)
            slot -= 1
        chains.append(chain)
        level = {start: 2 * depth[start], end: 2 * depth[end], **dict(zip(chain, through, strict=True))}
        for one, other in pairwise([start, *chain, end]):
            upper, lower = (one, other) if level[one] < level[other] else (other, one)
            below[upper].append(lower)
    above: dict[int, list[int]] = {item: [] for item in below}
    for item, children in below.items():
        for child in children:
            above[child].append(item)
    rows = _ordered(rows, above, below)
    x = _spread(rows, above, below, width)
    left = min(x[item] - width[item] / 2 for item in x)
    return Layout(
        places={node: (x[node] - left, 2 * depth[node]) for node in nodes},
        ways=[
            Way(
                slots=[(x[item] - left, row) for item, row in zip(chain, through, strict=True)],
                label=through.index(labelled),
                back=link in back,
            )
            for link, chain, through, labelled in zip(links, chains, passed, chosen, strict=True)
        ],
        width=max(x[item] + width[item] / 2 for item in x) - left,
        rows=len(rows),
    )


def _passed(start: int, end: int) -> list[int]:
    """Return the rows between two layers, in the order they are passed; within one layer, the row below it."""
    if start == end:
        return [start + 1]
    return list(range(start + 1, end)) if start < end else list(range(start - 1, end, -1))


def _label_rows(passed: Sequence[Sequence[int]], labels: Sequence[float]) -> list[int]:
    """Return the row of each edge's label: of several the one with most room left, the first of equals."""
    filled: Counter[int] = Counter()
    chosen = [0] * len(passed)
    for at in sorted(range(len(passed)), key=lambda at: len(passed[at])):
        chosen[at] = min((row for row in passed[at] if row % 2), key=filled.__getitem__)
        filled[chosen[at]] += round(labels[at] + BETWEEN)
    return chosen


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
    rows: list[list[int]], above: Mapping[int, Sequence[int]], below: Mapping[int, Sequence[int]]
) -> list[list[int]]:
    """Order each row by the mean place of its neighbours, down and up, and keep the order with fewest crossings."""
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for at in order:
            beside = {node: place for place, node in enumerate(rows[at - 1 if down else at + 1])}
            centre = {}
            for place, node in enumerate(rows[at]):
                found = [beside[other] for other in neighbours[node] if other in beside]
                centre[node] = sum(found) / len(found) if found else float(place)
            rows[at].sort(key=centre.__getitem__)
        crossed = _crossings(rows, below)
        if crossed < fewest:
            best, fewest = [list(row) for row in rows], crossed
    return best


def _crossings(rows: Sequence[Sequence[int]], below: Mapping[int, Sequence[int]]) -> int:
    """Count the pairs of edges between neighbouring rows that cross."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {item: at for at, item in enumerate(lower)}
        seen: list[int] = []
        for item in upper:
            for end in sorted(place[child] for child in below[item]):
                total += len(seen) - bisect_right(seen, end)
                insort(seen, end)
    return total


def _spread(
    rows: Sequence[Sequence[int]],
    above: Mapping[int, Sequence[int]],
    below: Mapping[int, Sequence[int]],
    width: Mapping[int, float],
) -> dict[int, float]:
    """Place items near the middle of their neighbours, without changing their order or letting them overlap.

    Row by row, Σ w·(x(item) − x(neighbour))² is made least, with w = STRAIGHT between two slots and 1 elsewhere.
    """
    x: dict[int, float] = {}
    gaps = [[(width[one] + width[other]) / 2 for one, other in pairwise(row)] for row in rows]
    for row, apart in zip(rows, gaps, strict=True):
        at = -sum(apart) / 2
        for item, gap in zip(row, [0.0, *apart], strict=False):
            at += gap
            x[item] = at
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row, apart in zip(*((rows, gaps) if down else (rows[::-1], gaps[::-1])), strict=True):
            wanted, weights = [], []
            for item in row:
                near = [(x[other], STRAIGHT if max(item, other) < 0 else 1.0) for other in (*above[item], *below[item])]
                weights.append(sum(weight for _, weight in near) or 1.0)
                wanted.append(sum(place * weight for place, weight in near) / weights[-1] if near else x[item])
            x.update(zip(row, _apart(wanted, weights, apart), strict=True))
    return x


def _apart(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted (least squares) that keep the gaps: isotonic regression by pooling."""
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, float, int]] = []  # mean of wanted − offset, its weight, and of how many
    for place, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, size = place - offset, 1
        while pools and pools[-1][0] > mean:
            before, heavy, many = pools.pop()
            mean, weight, size = (before * heavy + mean * weight) / (heavy + weight), heavy + weight, many + size
        pools.append((mean, weight, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
