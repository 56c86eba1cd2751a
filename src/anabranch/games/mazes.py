"""Mazes for PyRat: what one is made of, and how one is drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from anabranch.errors import UsageError, shown
from anabranch.game.parameters import listed, whole
from anabranch.game.random import Random, below, key_of, uniform

Cell = tuple[int, int]  # (x, y), counted from the bottom left
Passage = tuple[Cell, Cell]  # two neighbouring cells, the smaller one first
Item = TypeVar("Item")

_WALLS, _MUD, _CHEESE = 1, 2, 3  # purposes: each part of a maze has random numbers of its own


@dataclass(frozen=True, kw_only=True)
class Maze:
    """A board with walls and mud on passages between neighbouring cells, and cheese on cells; checked when made."""

    width: int
    height: int
    cheese: tuple[Cell, ...]
    walls: tuple[Passage, ...] = ()
    mud: tuple[tuple[Passage, int], ...] = ()

    def __post_init__(self) -> None:
        whole("width of a maze", self.width, 1, 127)
        whole("height of a maze", self.height, 1, 127)
        object.__setattr__(self, "cheese", tuple(sorted({self.cell(place) for place in self.cheese})))
        object.__setattr__(self, "walls", tuple(sorted({self.passage(pair) for pair in self.walls})))
        depths = {self.passage(pair): whole("depth of mud", depth) for pair, depth in self.mud}
        object.__setattr__(self, "mud", tuple(sorted(depths.items())))
        if not self.cheese:
            raise UsageError("a maze needs at least one cheese")
        for pair, depth in self.mud:
            if not 2 <= depth <= 127:
                raise UsageError(f"mud is 2 to 127 deep, found {depth} between {pair[0]} and {pair[1]}")
            if pair in self.walls:
                raise UsageError(f"there is a wall between {pair[0]} and {pair[1]}, so there cannot be mud")

    def cell(self, place: Iterable[int]) -> Cell:
        """Return a place as a cell of the board."""
        x, y = (whole("a cell's x and y", part) for part in _items(place, 2, "a cell is (x, y), e.g. (0, 2)"))
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise UsageError(f"({x}, {y}) is not on the {self.width}×{self.height} board")
        return x, y

    def passage(self, pair: Iterable[Iterable[int]]) -> Passage:
        """Return two neighbouring cells in order."""
        first, second = sorted(map(self.cell, _items(pair, 2, "a passage is two cells, e.g. ((0, 2), (1, 2))")))
        if abs(first[0] - second[0]) + abs(first[1] - second[1]) != 1:
            raise UsageError(f"{first} and {second} are not neighbours")
        return first, second


def draw_maze(
    width: int, height: int, cheese: int, seed: int, *, wall_chance: float = 0.7, mud_chance: float = 0.1
) -> Maze:
    """Draw a maze that is connected and looks the same after half a turn; same arguments, same maze.

    A passage becomes a wall with `wall_chance`, then walls are opened in random order as long as they part cells that
    cannot reach each other. An open passage gets mud with `mud_chance`, 2 or 3 deep. An odd number of cheese puts one
    at the centre, the rest lie in pairs; corners (0, 0) and (width - 1, height - 1), where players start, have none.
    """

    def turned(place: Cell) -> Cell:
        return width - 1 - place[0], height - 1 - place[1]

    def turned_passage(passage: Passage) -> Passage:
        first, second = sorted((turned(passage[0]), turned(passage[1])))
        return first, second

    places = [(x, y) for y in range(height) for x in range(width)]
    passages = [((x, y), (x + 1, y)) for x, y in places if x + 1 < width]
    passages += [((x, y), (x, y + 1)) for x, y in places if y + 1 < height]
    words = (seed, width, height, cheese)

    random = Random(key_of((_WALLS, *words)))
    closed: list[tuple[Passage, ...]] = []
    opened: list[tuple[Passage, ...]] = []
    for pair in orbits(passages, turned_passage):
        (closed if uniform(random) < wall_chance else opened).append(pair)
    regions = Regions(places)
    for pair in opened:
        regions.join(pair)
    walls: list[Passage] = []
    for pair in shuffled(closed, random):
        if regions.join(pair):
            opened.append(pair)
        else:
            walls.extend(pair)

    random = Random(key_of((_MUD, *words)))
    mud = []
    for pair in sorted(opened):
        depth = 2 + below(random, 2) if uniform(random) < mud_chance else 0
        mud.extend([(passage, depth) for passage in pair if depth])

    centre = (width // 2, height // 2)
    corners = ((0, 0), (width - 1, height - 1))
    pairs = [pair for pair in orbits(places, turned) if len(pair) == 2 and pair[0] not in corners]
    if cheese < 1 or cheese // 2 > len(pairs):
        raise UsageError(f"{cheese} cheese do not fit a {width}×{height} board")
    if cheese % 2 and (turned(centre) != centre or centre in corners):
        raise UsageError(f"an odd number of cheese needs a centre cell, and a {width}×{height} board has none")
    chosen = shuffled(pairs, Random(key_of((_CHEESE, *words))))[: cheese // 2]
    return Maze(
        width=width,
        height=height,
        cheese=(*(place for pair in chosen for place in pair), *((centre,) if cheese % 2 else ())),
        walls=tuple(walls),
        mud=tuple(mud),
    )


def given_maze(
    width: int,
    height: int,
    cheese: Iterable[Cell],
    walls: Iterable[Passage] = (),
    mud: Mapping[Passage, int] | Iterable[tuple[Cell, Cell, int]] = (),
) -> Maze:
    """Make a maze from its parts; mud is {(cell, cell): depth} or triples (cell, cell, depth), as JSON can hold."""
    lairs = listed("cheese", cheese, "cells, e.g. [[0, 2], [1, 1]]")
    closed = listed("walls", walls, "pairs of cells, e.g. [[[0, 2], [1, 2]]]")
    if isinstance(mud, Mapping):
        depths = tuple(mud.items())
    else:
        form = "cell, cell and depth, e.g. [[[0, 2], [1, 2], 3]]"
        triples = (_items(triple, 3, f"mud is {form}") for triple in listed("mud", mud, form))
        depths = tuple(((one, other), depth) for one, other, depth in triples)
    return Maze(width=width, height=height, cheese=tuple(lairs), walls=tuple(closed), mud=depths)


def _items(value: Any, count: int, what: str) -> tuple[Any, ...]:
    """Return the parts of something that has so many."""
    items = tuple(value) if isinstance(value, Iterable) else ()
    if len(items) != count:
        raise UsageError(f"{what}, found {shown(value)}")
    return items


class Regions:
    """Which cells can reach each other (union-find)."""

    def __init__(self, places: Iterable[Cell]) -> None:
        self.parent = {place: place for place in places}

    def root(self, place: Cell) -> Cell:
        """Return the cell that stands for a region, shortening the way to it."""
        while self.parent[place] != place:
            self.parent[place] = self.parent[self.parent[place]]
            place = self.parent[place]
        return place

    def join(self, passages: Iterable[Passage]) -> bool:
        """Open passages; return whether cells can now reach each other that could not before."""
        news = False
        for one, other in passages:
            first, second = self.root(one), self.root(other)
            if first != second:
                self.parent[first] = second
                news = True
        return news


def orbits(items: Iterable[Item], image: Callable[[Item], Item]) -> list[tuple[Item, ...]]:
    """Group items with their images under a half turn: pairs, and single items that stay where they are."""
    groups: dict[Item, tuple[Item, ...]] = {}
    for item in items:
        other = image(item)
        if other not in groups:
            groups[item] = (item,) if other == item else (item, other)
    return list(groups.values())


def shuffled(items: list[Item], random: Random) -> list[Item]:
    """Return the items in random order (Fisher and Yates)."""
    items = list(items)
    for last in range(len(items) - 1, 0, -1):
        other = below(random, last + 1)
        items[last], items[other] = items[other], items[last]
    return items
