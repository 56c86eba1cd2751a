"""Evaluators that need no network: uniform, rollouts, a game's own heuristic, and the hashing one that tests use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, UnknownNameError, UsageError, shown
from anabranch.evaluate.batch import LARGEST, Batch
from anabranch.game.game import Game
from anabranch.game.random import Random, below, fold, unit
from anabranch.game.state import State
from anabranch.game.words import CHANCE, IDLE, OVER, acting, as_row

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Uniform:
    """Every choice equally likely, every value the same."""

    priors: ClassVar[bool] = False

    value: Annotated[float, "what every state is worth to every player"] = 0.0

    def __post_init__(self) -> None:
        if not abs(self.value) <= LARGEST:
            raise UsageError(f"the value of every state must be finite and at most {LARGEST:g}, found {self.value}")

    def evaluate(self, batch: Batch) -> tuple[None, Floats]:
        return None, np.full((len(batch), batch.states[0].game.players), self.value)


MOST = 1_000_000  # rollouts of a leaf, and steps of one: neither can be interrupted


@dataclass(frozen=True)
class Rollout:
    """Play on at random and return the mean of what was collected; a uniform prior.

    Choices are drawn uniformly, or by the game's own `rollout_action`. In the first plies a player who can end the game
    at once and be paid for it does so.
    """

    priors: ClassVar[bool] = False

    count: Annotated[int, "rollouts per state"] = 1
    max_depth: Annotated[int, "steps after which a rollout is cut off; nothing is added for what would follow"] = 10_000
    greedy: Annotated[
        bool | int | None, "plies in which a win in one is taken; true: in all of them; None: as many as the game says"
    ] = None
    policy: Annotated[Literal["game", "uniform"], "who chooses: the game's own policy, where it has one, or dice"] = (
        "game"
    )

    def __post_init__(self) -> None:
        for number in (self.count, self.max_depth):
            if not isinstance(number, (int, np.integer)) or not 1 <= number <= MOST:
                raise UsageError(f"a rollout needs count and max_depth from 1 to {MOST:,}, found {shown(self)}")
        if not (self.greedy is None or (isinstance(self.greedy, (int, np.integer)) and 0 <= self.greedy <= MOST)):
            raise UsageError(f"Rollout.greedy is true, false, None or a number of plies, found {shown(self.greedy)}")
        if self.policy not in ("game", "uniform"):
            raise UnknownNameError("Rollout.policy", str(self.policy), ("game", "uniform"))

    def greedy_plies(self, game: Game) -> int:
        """Return in how many plies of a rollout a win in one is taken."""
        if self.greedy is None:
            return int(game.greedy)
        return self.max_depth if self.greedy is True else int(self.greedy)

    def evaluate(self, batch: Batch) -> tuple[None, Floats]:
        rows = []
        for state, key, seed in zip(batch.states, batch.keys, batch.seeds or [0] * len(batch), strict=True):
            total = np.zeros(state.game.players)
            for index in range(self.count):
                total += rollout(state, Random(fold(fold(seed, key), index)), self)
            rows.append(total / self.count)
        return None, np.array(rows)


def rollout(state: State, random: Random, how: Rollout) -> Floats:
    """Return the discounted rewards of one random game from here; chance steps are not discounted."""
    rules, game = state.game.rules, state.game
    whole = game.playout(state.data, random, how.max_depth)
    if whole is not None:
        return np.array(whole, np.float64)
    data, total, weight = state.data, np.zeros(game.players), 1.0
    greedy, own = how.greedy_plies(game), how.policy == "game" and game.has("rollout_action")
    for depth in range(how.max_depth):
        turn = rules.turn(data)
        if turn == OVER:
            break
        actions = [IDLE] * game.players
        if turn == CHANCE:
            actions[0] = rules.draw(data, random)
        seats = acting(turn)
        for seat in seats:
            here = State(game, data)
            winning = winning_choice(here, seat) if depth < greedy and len(seats) == 1 else None
            if winning is not None:
                actions[seat] = winning
            elif own:
                actions[seat] = checked_rollout_action(here, seat, random)
            else:
                choices = choices_of(here, seat)
                actions[seat] = choices[below(random, len(choices))]
        data, rewards = rules.step(data, actions)
        total += weight * np.array(rewards, np.float32).astype(np.float64)
        if turn != CHANCE:
            weight *= game.discount
    return total


def choices_of(state: State, seat: int) -> list[int]:
    """Return the ids that stand for a player's choices."""
    rules, game, data = state.game.rules, state.game, state.data
    choices = rules.legal(data, seat)
    if game.has("same"):
        choices = [action for action in choices if rules.same(data, seat, action) == action]
    if not choices:
        raise GameError(f"{game.name}: player {seat} has no legal action that stands for itself in\n{state}")
    return choices


def winning_choice(state: State, seat: int) -> int | None:
    """Return the first choice with which a player who acts alone ends the game and is paid, None if there is none."""
    for action in choices_of(state, seat):
        following, rewards = state.game.rules.step(state.data, as_row(state.game.players, (seat,), (action,)))
        if np.float32(rewards[seat]) > 0.0 and state.game.rules.turn(following) == OVER:
            return action
    return None


def checked_rollout_action(state: State, seat: int, random: Random) -> int:
    """Return what the game's own policy does in a rollout; refuse what is no choice."""
    action, choices = state.game.rules.rollout_action(state.data, seat, random), choices_of(state, seat)
    if action not in choices:
        said = f"rollout_action returned {action} for player {seat}, who may choose {choices}"
        raise GameError(f"{state.game.name}: {said}, in\n{state}")
    return action


@dataclass(frozen=True)
class Heuristic:
    """What the game itself says a state is worth, by its verb `heuristic`; a uniform prior."""

    priors: ClassVar[bool] = False

    def check(self, game: Game) -> None:
        """Refuse a game without the verb."""
        if not game.has("heuristic"):
            raise UsageError(
                f"{game.name} has no verb heuristic, which ab.Heuristic() asks; write heuristic(self, state, values) "
                f'into its class (docs/rules.md, "Heuristics"), or take another evaluator, such as ab.Rollout()'
            )

    def evaluate(self, batch: Batch) -> tuple[None, Floats]:
        self.check(batch.states[0].game)
        return None, np.array([state.game.rules.heuristic(state.data) for state in batch.states])


@dataclass(frozen=True)
class Hashing:
    """Pseudo-random logits and values made from the node's key: a network-shaped evaluator that costs nothing.

    Logits lie in [−2, 2), values within the game's returns; equal states get equal evaluations in every process.
    """

    seed: Annotated[int, "another seed, other evaluations"] = 0

    def evaluate(self, batch: Batch) -> tuple[Floats, Floats]:
        game = batch.states[0].game
        low, high = game.returns
        logits = np.empty((len(batch), game.players, game.actions))
        values = np.empty((len(batch), game.players))
        for row, key in enumerate(batch.keys):
            for player in range(game.players):
                word = fold(fold(self.seed, key), player)
                values[row, player] = low + (high - low) * unit(word)
                for action in range(game.actions):
                    logits[row, player, action] = 4.0 * unit(fold(word, action)) - 2.0
        return logits, values


# By the names people give them.
BUILT_IN: dict[str, type] = {"hashing": Hashing, "heuristic": Heuristic, "rollout": Rollout, "uniform": Uniform}
