"""A network without a framework for tests of evaluators, and a game where one or both players choose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.evaluate.batch import Batch


class Network:
    """Two layers of random weights on what is seen. Every row is worked out alone, so neighbours cannot change a bit.

    Logits are of the player who sees; where one player moves, so are the values: of me, the next player, and so on.
    """

    def __init__(self, game: ab.Game, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        assert game.observation is not None
        inputs, outputs = math.prod(game.observation), game.actions + game.players
        self.actions = game.actions
        self.first = random.normal(size=(16, inputs)) * 2.0 / math.sqrt(inputs)
        self.bias = random.normal(size=16)
        self.second = random.normal(size=(outputs, 16))
        self.asked: list[int] = []  # rows per call

    def evaluate(self, batch: Batch) -> Any:
        self.asked.append(len(batch))
        seen = batch.observations if batch.joint else batch.observations[:, None]
        said = np.array([[self.row(planes) for planes in views] for views in seen])
        logits = said[:, :, : self.actions].astype(np.float32)
        values = []
        for views, seats in zip(said, batch.seats, strict=True):
            alone = views[seats[0] if batch.joint else 0, self.actions :]  # me, the next player, …
            values.append(views[:, self.actions] if len(seats) > 1 else np.roll(alone, seats[0]))
        return logits if batch.joint else logits[:, 0], np.tanh(values)

    def row(self, planes: Any) -> Any:
        hidden = np.tanh((self.first * planes.reshape(-1)).sum(1) + self.bias)
        return (self.second * hidden).sum(1)


class Standing(NamedTuple):
    mover: int  # 2: both
    round: int
    points: tuple[int, int]


class Duet(ab.ObjectGame):
    """Both bid; who bids more scores and then moves alone, for as many points again; six rounds, seats alike."""

    players, actions, observation = 2, 3, (5,)

    def __init__(self, rounds: Sequence[int] = (1, 2, 1, 2, 1, 2)) -> None:
        self.rounds = rounds

    def setup(self, random: Any) -> Standing:
        return Standing(2, 0, (0, 0))

    def turn(self, state: Standing) -> int:
        if state.round == len(self.rounds):
            return ab.OVER
        return 3 if state.mover == 2 else ab.player(state.mover)

    def legal(self, state: Standing, player: int) -> list[int]:
        return [0, 1, 2] if state.round % 2 == 0 else [0, 1]

    def step(self, state: Standing, actions: Sequence[int]) -> tuple[Standing, list[float]]:
        points, worth = list(state.points), self.rounds[state.round]
        if state.mover == 2:
            mover = 2 if actions[0] == actions[1] else int(actions[1] > actions[0])
        else:
            mover = 2 if actions[state.mover] else 1 - state.mover
        if mover != 2:
            points[mover] += worth
        after = Standing(mover, state.round + 1, (points[0], points[1]))
        lead = (points[0] - points[1]) / 10.0 if after.round == len(self.rounds) else 0.0
        return after, [lead, -lead]

    def observe(self, state: Standing, player: int) -> list[float]:
        mine = 0.5 if state.mover == 2 else float(state.mover == player)
        return [mine, state.round / 6, state.points[player] / 10, state.points[1 - player] / 10, 1.0]

    def symmetries(self) -> list[ab.Symmetry]:
        return [ab.Symmetry(players=(1, 0))]


def batch_of(states: Sequence[ab.State]) -> Batch:
    compiled = isinstance(states[0].game, ab.CompiledGame)
    keys = [state.node_key if compiled else number for number, state in enumerate(states)]
    return Batch(list(states), keys, [7] * len(states))


def seats_of(state: ab.State) -> tuple[int, ...]:
    """Return the acting players of a decision state."""
    assert isinstance(state.turn, tuple)
    return state.turn


def lines(game: ab.Game, count: int, seed: int = 0) -> list[list[tuple[int, ...]]]:
    """Return random lines of play, each move an action per acting player, up to decision states of different depth."""
    random = np.random.default_rng(seed)
    made: list[list[tuple[int, ...]]] = []
    while len(made) < count:
        state = game.start()
        line: list[tuple[int, ...]] = []
        goal = len(made) % 9
        while len(line) < goal:
            move = tuple(int(random.choice(state.legal(seat))) for seat in seats_of(state))
            following, _ = state.step(move)
            if following.over:
                break
            state, line = following, [*line, move]
        made.append(line)
    return made


def after(game: ab.Game, line: Sequence[tuple[int, ...]], symmetry: ab.Symmetry | None = None) -> ab.State:
    """Return the state after a line, or after its image under a symmetry: play decides what an image is."""
    state = game.start()
    for move in line:
        seats = seats_of(state)
        if symmetry is None:
            state, _ = state.step(move)
            continue
        back = symmetry.inverse()
        before = dict(zip(sorted(back.player(seat) for seat in seats), move, strict=True))
        actions = symmetry.actions or tuple(range(game.actions))
        state, _ = state.step(tuple(actions[before[back.player(seat)]] for seat in seats))
    return state
