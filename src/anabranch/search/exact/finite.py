"""A finite game written out: every state that can follow a state, what leads where, and what comes back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, TooManyStatesError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER, acting, as_row
from anabranch.search.exact.progress import Teller

Floats = npt.NDArray[np.float64]


@dataclass(slots=True)
class Position:
    """One state as the solver stores it; entries of `children` and `rewards` run over joint choices or outcomes."""

    seats: tuple[int, ...]
    choices: tuple[tuple[int, ...], ...]  # per acting player, representative ids
    chances: Floats  # at chance only
    children: list[int]
    rewards: Floats  # [edge, player]

    def edges(self) -> Iterator[tuple[int, ...]]:
        """Yield joint choices, the last player's running fastest."""
        return itertools.product(*self.choices)


class FiniteGame(Protocol):
    """Every state that can follow a start, which has number 0."""

    @property
    def game(self) -> Game:
        """The game they are states of."""

    def __len__(self) -> int: ...

    def number_of(self, state: State) -> int | None:
        """Return a state's number; None if it cannot follow."""

    def state(self, number: int) -> State:
        """Return the state with a number."""

    def position(self, number: int) -> Position:
        """Return what can happen in it."""


@dataclass(frozen=True)
class ListedGame:
    """A FiniteGame of Python lists."""

    game: Game
    numbers: dict[Any, int]  # by key
    states: list[State]
    positions: list[Position]

    def __len__(self) -> int:
        return len(self.states)

    def number_of(self, state: State) -> int | None:
        return self.numbers.get(state.key)

    def state(self, number: int) -> State:
        return self.states[number]

    def position(self, number: int) -> Position:
        return self.positions[number]


def explore(start: State, max_states: int, teller: Teller) -> ListedGame:
    """Find every state that can follow, breadth first; equal keys are one state."""
    game = start.game
    numbers: dict[Any, int] = {start.key: 0}
    states = [start]
    positions: list[Position] = []
    while len(positions) < len(states):
        state = states[len(positions)]
        position = position_of(state)
        paid = []
        for row in _rows(state, position):
            data, rewards = game.rules.step(state.data, row)
            child = State(game, data)
            number = numbers.setdefault(child.key, len(states))
            if number == len(states):
                if number >= max_states:
                    raise too_many_states(game, max_states, len(positions))
                states.append(child)
            position.children.append(number)
            paid.append(rewards)
        if paid:
            position.rewards = np.array(paid)
        positions.append(position)
        teller.beat(len(states), len(positions), 0)
    return ListedGame(game, numbers, states, positions)


def position_of(state: State) -> Position:
    """Return who chooses among what in a state, or what the dice may show; without what follows."""
    game, turn = state.game, state.turn_bits
    seats = acting(turn)
    position = Position(seats, (), np.zeros(0), [], np.zeros((0, game.players)))
    if turn == CHANCE:
        position.chances = np.array([chance for _, chance in state.outcomes()])
    elif turn != OVER:
        position.choices = tuple(tuple(state.choices(seat)) for seat in seats)
        if not all(position.choices):
            raise GameError(f"{game.name}: a player who should act has no legal action:\n{state}")
    return position


def too_many_states(game: Game, max_states: int, expanded: int, size: int | None = None) -> TooManyStatesError:
    """Return what is said of a game with more states than allowed; `size` is the bytes that one takes."""
    room = f"; here a state takes about {size} bytes" if size else ""
    return TooManyStatesError(
        f"{game.name} has more than {max_states} states: so many were found when the moves of {expanded:,} of them had "
        "been tried",
        f"Raise max_states{room}; or solve a position nearer to the end, or a smaller board",
    )


def _rows(state: State, position: Position) -> Iterator[list[int]]:
    """Yield what may happen in a state, as rows for `step`."""
    players = state.game.players
    if len(position.chances):
        for outcome, _ in state.outcomes():
            yield as_row(players, (0,), (outcome,))
    elif position.seats:
        for joint in position.edges():
            yield as_row(players, position.seats, joint)


def components(positions: Sequence[Position]) -> Iterator[list[int]]:
    """Yield the strongly connected components, children before parents (Tarjan 1972, without recursion).

    States that can follow each other form one component; a game without cycles has one per state.
    """
    order = [-1] * len(positions)  # when a state was first met
    lowest = [0] * len(positions)  # the earliest open state known to follow it
    is_open = [False] * len(positions)
    opened: list[int] = []
    path = [(0, 0)]
    clock = 0
    while path:
        number, edge = path.pop()
        if edge == 0:
            order[number] = lowest[number] = clock
            clock += 1
            opened.append(number)
            is_open[number] = True
        if edge < len(positions[number].children):
            path.append((number, edge + 1))
            child = positions[number].children[edge]
            if order[child] < 0:
                path.append((child, 0))
            elif is_open[child]:
                lowest[number] = min(lowest[number], order[child])
            continue
        if path:
            parent = path[-1][0]
            lowest[parent] = min(lowest[parent], lowest[number])
        if lowest[number] == order[number]:
            component: list[int] = []
            while not component or component[-1] != number:
                component.append(opened.pop())
                is_open[component[-1]] = False
            yield component


def describe_loop(finite: FiniteGame, component: set[int]) -> str:
    """Return a way from a state of a component back to it, in words."""
    game = finite.game
    loop = _shortest_loop(finite, component)
    lines = [f"{game.name} comes back to a state, after {len(loop)} steps:"]
    for number, edge in loop[:10]:
        state = finite.state(number)
        lines += [str(state), f"    {_edge_name(game, finite.position(number), state, edge)}"]
    lines.append(str(finite.state(loop[0][0])) if len(loop) <= 10 else "…")
    return "\n".join(lines)


def _shortest_loop(finite: FiniteGame, component: set[int]) -> list[tuple[int, int]]:
    """Return [(state, edge taken)] of a shortest way from a component's earliest state back to it."""
    start = min(component)
    came_from: dict[int, tuple[int, int]] = {}
    queue = [start]
    for number in queue:
        for edge, child in enumerate(finite.position(number).children):
            if child in component and child not in came_from:
                came_from[child] = (number, edge)
                queue.append(child)
        if start in came_from:
            break
    loop = [came_from[start]]
    while loop[-1][0] != start:
        loop.append(came_from[loop[-1][0]])
    return loop[::-1]


def _edge_name(game: Game, position: Position, state: State, edge: int) -> str:
    if len(position.chances):
        return f"chance: {game.outcome_name(state.outcomes()[edge][0])}"
    joint = list(position.edges())[edge]
    return ", ".join(
        f"{game.player_name(s)}: {game.action_name(a)}" for s, a in zip(position.seats, joint, strict=True)
    )
