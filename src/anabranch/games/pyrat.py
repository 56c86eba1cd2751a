"""PyRat: two players race for cheese through a maze, moving at once."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.draw.maze import maze_board
from anabranch.errors import UsageError, shown
from anabranch.game.parameters import flag, listed, one_of, whole
from anabranch.games.mazes import Cell, Maze, Passage, draw_maze, given_maze
from anabranch.games.race import greedy, most_raced, race, turn_costs

STAY = 4
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0), (0, 0))  # UP, RIGHT, DOWN, LEFT, STAY as (x, y), y upwards
NAMES = ("up", "right", "down", "left", "stay")
PLANES = 12
# The last line of a position, as `text` writes it.
STANDING = re.compile(
    r"turn (?P<turns>[0-9]{1,5}) of [0-9]{1,5}: "
    r"R rat (?P<rat>[0-9]{1,4}(?:\.5)?)(?: \(stuck for (?P<rat_stuck>[0-9]{1,2})\))?, "
    r"P python (?P<python>[0-9]{1,4}(?:\.5)?)(?: \(stuck for (?P<python_stuck>[0-9]{1,2})\))?"
)
CHEESE_PER_WORD = 63  # of an int64, whose sign stays out of it


class Preset(NamedTuple):
    """A size of board: cells, cheese, turns, and whether it has walls and mud."""

    width: int
    height: int
    cheese: int
    max_turns: int
    open: bool = False


PRESETS = {
    "open5": Preset(5, 5, 5, 30, open=True),
    "open7": Preset(7, 7, 10, 50, open=True),
    "tiny": Preset(11, 9, 13, 150),
    "small": Preset(15, 13, 21, 200),
    "medium": Preset(21, 15, 41, 300),
    "large": Preset(31, 21, 85, 400),
}


class PyRat(ab.CompiledGame):
    """Two players move at once through a maze; whoever holds more than half of the cheese has won the race.

    Cells are (x, y) from the bottom left; the rat starts at (0, 0), the python at the opposite corner. Each turn
    both go up, right, down, left or stay; they never block each other. Into a wall or off the board is a stay, and
    one choice with it. On a passage with mud N the player arrives at once but is stuck for N more turns, in which
    all actions are one choice. Then every player who is not stuck takes the cheese under it, or half of it if both
    stand there. The game ends when a score exceeds half of all cheese, when no cheese is left, or after
    `max_turns`.

    Rewards come as cheese is taken. With `rewards="points"` each player gets what it took; with "difference" that
    less what the other took, which is zero-sum.

    Boards: `PyRat("tiny", seed=3)` draws a maze by its preset's sizes (`open5` and `open7` have neither walls nor
    mud); `PyRat(width=3, height=3, cheese=[(1, 1)], walls=[((0, 0), (1, 0))], mud={((0, 0), (0, 1)): 2})` is made
    by hand. With `drawn` as much cheese is drawn anew at every start, half of the times as symmetric as the maze and
    half of them anywhere: what networks are trained on.

    A player observes 12 planes [y, x]: itself; the other; cheese; for up, right, down, left the speed of that step
    from each cell (1 free, 1/(N+1) through mud N, 0 blocked); and constant planes: how stuck it is, t/(1+t) for t
    turns, and the other; its share of all cheese, and the other's; the share of turns left.
    """

    title = "pyrat"

    def __init__(
        self,
        preset: str | None = None,
        *,
        seed: int = 0,
        width: int | None = None,
        height: int | None = None,
        cheese: Iterable[Cell] | None = None,
        walls: Iterable[Passage] = (),
        mud: Mapping[Passage, int] | Iterable[tuple[Cell, Cell, int]] = (),
        starts: tuple[Cell, Cell] | None = None,
        max_turns: int | None = None,
        rewards: str = "points",
        drawn: bool = False,
    ) -> None:
        one_of("reward scheme of pyrat", rewards, ("points", "difference"))
        whole("seed", seed)
        if width is not None and height is not None and cheese is not None:
            if preset is not None:
                raise UsageError("pyrat: give a preset, or width, height and cheese, not both")
            maze = given_maze(width, height, cheese, walls, mud)
            turns = 300 if max_turns is None else max_turns
        else:
            if (width, height, cheese) != (None, None, None) or walls or mud:
                raise UsageError("pyrat: a board made by hand needs width, height and cheese")
            size = PRESETS[one_of("pyrat preset", "open5" if preset is None else preset, PRESETS)]
            chances = {"wall_chance": 0.0, "mud_chance": 0.0} if size.open else {}
            maze = draw_maze(size.width, size.height, size.cheese, seed, **chances)
            turns = size.max_turns if max_turns is None else max_turns
        whole("max_turns", turns, 1, 32000)

        corners = ((0, 0), (maze.width - 1, maze.height - 1))
        begins = [maze.cell(place) for place in (corners if starts is None else listed("starts", starts, "cells"))]
        if len(begins) != 2:
            raise UsageError(f"pyrat: starts are two cells, found {len(begins)}")
        places = [_index(maze, place) for place in begins]
        self.cheese, self.drawn = len(maze.cheese), flag("drawn", drawn)
        if drawn:  # wherever cheese may lie
            anywhere = product(range(maze.width), range(maze.height))
            cells = tuple(place for place in anywhere if _index(maze, place) not in places)
            maze = dataclasses.replace(maze, cheese=cells or maze.cheese)
            if len(cells) < self.cheese:
                raise UsageError(f"pyrat: {self.cheese} cheese do not fit between the starts of this board")
        count = len(maze.cheese)  # places of cheese; all have one unless it is drawn
        self._maze = maze
        self.players, self.actions = 2, 5
        self.width, self.height, self.max_turns = maze.width, maze.height, turns
        self.difference = rewards == "difference"
        self.starts = np.array(places, np.int16)
        self.moves, self.mud = _move_tables(maze)
        self.slots = np.full(maze.width * maze.height, -1, np.int16)  # cell → number of its cheese, -1 without
        self.slots[[_index(maze, place) for place in maze.cheese]] = np.arange(count)
        words = -(-count // CHEESE_PER_WORD)
        self.words = words
        slots = most_raced(maze.width * maze.height, CHEESE_PER_WORD * words)
        self.raced = min(count, slots)  # cheese that the heuristic races for
        self.places = np.zeros(slots, np.int16)  # number of a cheese → its cell
        self.places[: self.raced] = [_index(maze, place) for place in maze.cheese[: self.raced]]
        self.costs = np.zeros((maze.width * maze.height, slots), np.int16)  # turns from a cell to a cheese
        self.costs[:, : self.raced] = turn_costs(self.moves, self.mud, self.places[: self.raced])
        most = min(self.cheese, self.cheese / 2 + 1)
        self.returns = (-most if self.difference else 0.0, most)
        self.rewards_along, self.zero_sum = True, self.difference
        self.observation = (PLANES, maze.height, maze.width)
        self.fates = {"cheese": (maze.height, maze.width), "margin": ()}
        self.state = ab.record(
            cheese=(np.int64, words),  # bit by bit: which are left
            cell=(np.int16, 2),
            score=(np.int16, 2),  # in half points
            turns=np.int16,  # played so far
            stuck=(np.int8, 2),  # turns in mud still to come
        )

    def setup(self, state: Any, random: Any) -> None:
        for seat in range(2):
            state.cell[seat] = self.starts[seat]
        if not self.drawn:
            for slot in range(self.cheese):
                put(state, slot)
            return
        cells, left = self.width * self.height, self.cheese
        even = (
            ab.below(random, 2) == 0
            and (left % 2 == 0 or self.slots[cells // 2] >= 0)
            and self.starts[0] == (cells - 1 - self.starts[1])
        )
        if even and left % 2 == 1:
            put(state, self.slots[cells // 2])
            left -= 1
        while left > 0:
            cell = ab.below(random, cells)
            slot, other = self.slots[cell], self.slots[cells - 1 - cell]
            if slot < 0 or is_there(state, slot) or (even and slot == other):
                continue
            put(state, slot)
            left -= 1
            if even:
                put(state, other)
                left -= 1

    def turn(self, state: Any) -> int:
        over = is_over(state.score[0], state.score[1], self.cheese, state.turns, self.max_turns)
        return ab.OVER if over else 3

    def legal(self, state: Any, player: int, actions: Any) -> int:
        for action in range(5):
            actions[action] = action
        return 5

    def same(self, state: Any, player: int, action: int) -> int:
        cell = state.cell[player]
        return STAY if state.stuck[player] > 0 or self.moves[cell, action] == cell else action

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        for seat in range(2):
            if state.stuck[seat] > 0:
                state.stuck[seat] -= 1
            else:
                cell = state.cell[seat]
                state.cell[seat] = self.moves[cell, actions[seat]]
                state.stuck[seat] = self.mud[cell, actions[seat]]
        state.turns += 1

        first, second = within_reach(state, 0, self.slots), within_reach(state, 1, self.slots)
        if first < 0 and second < 0:
            return
        share = 1 if first == second else 2  # half points
        taken, other = share if first >= 0 else 0, share if second >= 0 else 0
        if first >= 0:
            take(state, first)
        if second >= 0 and second != first:
            take(state, second)
        state.score[0] += taken
        state.score[1] += other
        rewards[0] = 0.5 * (taken - other) if self.difference else 0.5 * taken
        rewards[1] = 0.5 * (other - taken) if self.difference else 0.5 * other

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        for seat in range(2):
            most = most_to_come(state, seat, self.cheese, self.max_turns)
            high[seat] = most
            if self.difference:
                low[1 - seat] = -most

    def heuristic(self, state: Any, values: Any) -> None:
        turns = self.max_turns - state.turns
        race(state, self.moves, self.mud, self.costs, self.places, self.raced, self.cheese, turns, values)
        if self.difference:
            values[0] -= values[1]
            values[1] = -values[0]

    def observe(self, state: Any, player: int, planes: Any) -> None:
        width, other = self.width, 1 - player
        planes[0, state.cell[player] // width, state.cell[player] % width] = 1.0
        planes[1, state.cell[other] // width, state.cell[other] % width] = 1.0
        stuck, stuck_other = state.stuck[player], state.stuck[other]
        left = (self.max_turns - state.turns) / self.max_turns
        for cell in range(width * self.height):
            y, x = cell // width, cell % width
            slot = self.slots[cell]
            if slot >= 0 and state.cheese[slot // CHEESE_PER_WORD] >> slot % CHEESE_PER_WORD & 1:
                planes[2, y, x] = 1.0
            for action in range(4):
                if self.moves[cell, action] != cell:
                    planes[3 + action, y, x] = 1.0 / (1 + self.mud[cell, action])
            planes[7, y, x] = stuck / (1 + stuck)
            planes[8, y, x] = stuck_other / (1 + stuck_other)
            planes[9, y, x] = 0.5 * state.score[player] / self.cheese
            planes[10, y, x] = 0.5 * state.score[other] / self.cheese
            planes[11, y, x] = left

    def fate(self, states: Sequence[ab.State], player: int) -> Mapping[str, Any]:
        """Tell who takes each cheese that is there, 0 if nobody does or both do, and the lead in cheese at the end."""
        cheese = np.full(self.width * self.height, np.nan)
        cheese[[cell for cell, slot in enumerate(self.slots.tolist()) if slot >= 0 and is_there(states[0], slot)]] = 0
        for before, after in pairwise(states):
            if np.array_equal(before.cheese, after.cheese):
                continue
            for seat in range(2):
                cell = after.cell[seat]
                slot = self.slots[cell]
                if after.stuck[seat] == 0 and slot >= 0 and is_there(before, slot):
                    cheese[cell] += 1 if seat == player else -1
        lead = states[-1].score[player] - states[-1].score[1 - player]
        return {"cheese": cheese.reshape(self.height, self.width), "margin": 0.5 * lead / self.cheese}

    @property
    def maze(self) -> Maze:
        """The board: walls, mud and cheese as cells."""
        return self._maze

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Turns and reflections that leave walls, mud, cheese and starts alone; they may swap the seats."""
        found = []
        for target, actions in _board_maps(self.width, self.height):
            moved = np.zeros_like(self.moves)
            moved[np.ix_(target, actions)] = target[self.moves]
            muddy = np.zeros_like(self.mud)
            muddy[np.ix_(target, actions)] = self.mud
            if not (np.array_equal(moved, self.moves) and np.array_equal(muddy, self.mud)):
                continue
            if not np.array_equal(self.slots[target] >= 0, self.slots >= 0):
                continue
            for seats in ((0, 1), (1, 0)):
                unmoved = np.array_equal(target, np.arange(target.size)) and seats == (0, 1)
                if unmoved or not np.array_equal(target[self.starts], self.starts[list(seats)]):
                    continue
                planes = [*range(3), *(3 + action for action in actions[:STAY]), *range(7, PLANES)]
                cells = tuple(int(plane * target.size + cell) for plane in planes for cell in target)
                found.append(ab.Symmetry(actions=tuple(actions), cells=cells, players=seats))
        return found

    def agents(self) -> Mapping[str, Callable[[ab.State, int], int]]:
        return {"greedy": greedy}

    def text(self, state: ab.State) -> str:
        walls, mud = set(self._maze.walls), dict(self._maze.mud)
        places = [(int(cell) % self.width, int(cell) // self.width) for cell in state.cell]

        def between(one: Cell, other: Cell, wall: str) -> str:
            return wall if (one, other) in walls else str(mud.get((one, other), " ")).center(len(wall))

        rows = ["+---" * self.width + "+"]
        for y in reversed(range(self.height)):
            row, below = "|", "+"
            for x in range(self.width):
                slot = int(self.slots[y * self.width + x])
                left = slot >= 0 and int(state.cheese[slot // CHEESE_PER_WORD]) >> slot % CHEESE_PER_WORD & 1
                row += ("R" if places[0] == (x, y) else " ") + ("*" if left else " ")
                row += "P" if places[1] == (x, y) else " "
                row += "|" if x + 1 == self.width else between((x, y), (x + 1, y), "|")
                below += ("---" if y == 0 else between((x, y - 1), (x, y), "---")) + "+"
            rows += [row, below]
        rat, python = (
            f"{name} {score / 2:g}" + (f" (stuck for {stuck})" if stuck else "")
            for name, score, stuck in zip(("rat", "python"), state.score, state.stuck, strict=True)
        )
        return "\n".join([*rows, f"turn {state.turns} of {self.max_turns}: R {rat}, P {python}"])

    def read(self, text: str) -> ab.State:
        """Read a maze with what is left in it, and the line below it, as they are printed."""
        lines = [line.rstrip() for line in text.strip("\n").splitlines()]
        found, rows = STANDING.fullmatch(lines[-1]) if lines else None, lines[1:-1:2]
        if not found or len(rows) != self.height:
            raise UsageError(
                f"pyrat: write a position as it is printed: {self.height} rows of the maze with walls between them, "
                f"and a last line such as {str(self.start()).splitlines()[-1]!r}"
            )
        places, cheese, left = [-1, -1], [0] * self.words, 0
        for row, line in enumerate(rows):
            for x in range(self.width):
                cell = (self.height - 1 - row) * self.width + x
                marks, slot = line[1 + 4 * x : 4 + 4 * x], int(self.slots[cell])
                if "*" in marks:
                    if slot < 0:
                        raise UsageError(f"pyrat: row {row + 1} from the top, column {x + 1}: no cheese was ever there")
                    cheese[slot // CHEESE_PER_WORD] |= 1 << slot % CHEESE_PER_WORD
                    left += 1
                for seat, mark in enumerate("RP"):
                    places[seat] = cell if mark in marks else places[seat]
        score = [round(2 * float(found[name])) for name in ("rat", "python")]
        if min(places) < 0 or sum(score) != 2 * (self.cheese - left):
            raise UsageError(
                f"pyrat: the maze has one R, one P and {self.cheese} cheese, found {left} left and "
                f"{sum(score) / 2:g} taken; correct the maze or the scores"
            )
        state = self.start().replace(
            cheese=cheese,
            cell=places,
            score=score,
            turns=int(found["turns"]),
            stuck=[int(found[name] or 0) for name in ("rat_stuck", "python_stuck")],
        )
        for number, (line, ours) in enumerate(zip(lines, str(state).splitlines(), strict=True), 1):
            if line != ours.rstrip():
                raise UsageError(f"pyrat: line {number} is not of this maze: it is {ours!r} there, found {shown(line)}")
        return state

    def svg(self, state: ab.State) -> str:
        """Draw the maze with mud, the cheese that is left and both players."""
        left = [
            (cell % self.width, cell // self.width)
            for cell, slot in enumerate(self.slots.tolist())
            if slot >= 0 and int(state.cheese[slot // CHEESE_PER_WORD]) >> slot % CHEESE_PER_WORD & 1
        ]
        labels = [
            f"{name} {score / 2:g}" + (f", stuck for {stuck}" if stuck else "")
            for name, score, stuck in zip(("rat", "python"), state.score.tolist(), state.stuck.tolist(), strict=True)
        ]
        return maze_board(
            self.width,
            self.height,
            walls=self._maze.walls,
            mud=dict(self._maze.mud),
            cheese=left,
            places=[(cell % self.width, cell // self.width) for cell in state.cell.tolist()],
            labels=labels,
            note=f"turn {state.turns} of {self.max_turns}",
        )

    def player_name(self, player: int) -> str:
        return ("rat", "python")[player]

    def action_name(self, action: int) -> str:
        return NAMES[action]


def is_over(first: int, second: int, cheese: int, turns: int, max_turns: int) -> bool:
    """Whether the game is decided, the cheese gone, or the time up; scores count half points."""
    return first > cheese or second > cheese or first + second == 2 * cheese or turns >= max_turns


def within_reach(state: Any, seat: int, slots: Any) -> int:
    """Return the number of the cheese a player takes now, -1 for none."""
    slot = slots[state.cell[seat]]
    if slot < 0 or state.stuck[seat] > 0 or not state.cheese[slot // CHEESE_PER_WORD] >> slot % CHEESE_PER_WORD & 1:
        return -1
    return int(slot)


def is_there(state: Any, slot: int) -> bool:
    """Whether a cheese is left."""
    return bool(state.cheese[slot // CHEESE_PER_WORD] >> slot % CHEESE_PER_WORD & 1)


def put(state: Any, slot: int) -> None:
    """Lay one cheese down."""
    state.cheese[slot // CHEESE_PER_WORD] |= 1 << slot % CHEESE_PER_WORD


def take(state: Any, slot: int) -> None:
    """Remove one cheese."""
    state.cheese[slot // CHEESE_PER_WORD] ^= 1 << slot % CHEESE_PER_WORD


def most_to_come(state: Any, seat: int, cheese: int, max_turns: int) -> float:
    """Return an upper bound on the points a player can still take.

        min(cheese left, turns left, cheese/2 + 1 − score),  0 once the game is over

    The last term: with more than half the game ends, so the last gain, at most 1, starts from half at most.
    """
    first, second = state.score[0], state.score[1]
    if is_over(first, second, cheese, state.turns, max_turns):
        return 0.0
    left = cheese - 0.5 * (first + second)
    most: float = min(left, float(max_turns - state.turns), 0.5 * (cheese - state.score[seat]) + 1.0)
    return most


def _index(maze: Maze, place: Cell) -> int:
    return place[1] * maze.width + place[0]


def _move_tables(maze: Maze) -> tuple[Any, Any]:
    """Return (cell, action) → where it leads, and how deep the mud on the way is."""
    walls, depths = set(maze.walls), dict(maze.mud)
    moves = np.zeros((maze.width * maze.height, 5), np.int16)
    mud = np.zeros((maze.width * maze.height, 5), np.int8)
    for (x, y), action in product(product(range(maze.width), range(maze.height)), range(5)):
        target = (x + STEPS[action][0], y + STEPS[action][1])
        inside = 0 <= target[0] < maze.width and 0 <= target[1] < maze.height
        if not inside or target == (x, y) or maze.passage(((x, y), target)) in walls:
            target = (x, y)
        else:
            mud[_index(maze, (x, y)), action] = depths.get(maze.passage(((x, y), target)), 0)
        moves[_index(maze, (x, y)), action] = _index(maze, target)
    return moves, mud


def _board_maps(width: int, height: int) -> Iterator[tuple[Any, list[int]]]:
    """Yield the turns and reflections of a board: where each cell goes, and where each action goes."""
    for across, flip_x, flip_y in product((False, True), repeat=3):
        if across and width != height:
            continue

        def image(x: int, y: int, *, across: bool = across, flip_x: bool = flip_x, flip_y: bool = flip_y) -> Cell:
            x, y = (y, x) if across else (x, y)
            return -x if flip_x else x, -y if flip_y else y

        target = []
        for y, x in product(range(height), range(width)):
            column, row = image(x, y)
            target.append((row + (height - 1) * flip_y) * width + column + (width - 1) * flip_x)
        yield np.array(target), [STEPS.index(image(*step)) for step in STEPS]
