"""Whole games as they were played to learn from: what happened, and what the search thought at every decision.

A record needs nothing beside its game: the start and all dice are in it, so positions and what players saw are played
again when they are wanted. One step is one decision; rewards of the chance edges that follow belong to it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import DataError, GameError, IllegalActionError, UsageError, reason
from anabranch.game.game import Game
from anabranch.game.random import Random, below
from anabranch.game.state import State
from anabranch.game.words import CHANCE, acting

FORMAT = 1
MOST_BYTES = 2**30  # of a shard
TOLERANCE = 1e-4  # of a sum of rewards that were rounded
ROLLS = 100  # a decision of a random game, on average, before it is given up


@dataclass(frozen=True)
class Decision:
    """One decision: what was played, what dice followed, what came of it, and what the search had found."""

    actions: tuple[int, ...]  # of the acting players, in seat order
    dice: tuple[int, ...]  # the outcomes that followed
    rewards: tuple[float, ...]  # of both, per player
    value: tuple[float, ...]  # of the root, per player; nothing where a move was not searched
    policy: tuple[dict[int, float], ...] = ()  # to learn from: of each acting player, action id → share
    visits: int = 0  # of the root
    full: bool = False  # whether the search was one to learn from
    proven: bool = False  # whether the value is exact
    model: int = 0  # the version of the weights that answered last
    surprise: float = 0.0  # KL(policy ‖ prior), where samples are drawn by it


@dataclass(frozen=True)
class GameRecord:
    """One game. `seed` draws the start; `dice` are outcomes before the first decision; `opened` moves were random."""

    id: int
    seed: int
    dice: tuple[int, ...]
    decisions: tuple[Decision, ...]
    opened: int = 0
    finished: bool = True  # or cut off, or given up

    @property
    def recorded(self) -> int:
        """How many rows there are to learn from: one for each player who decided after a full search."""
        return sum(len(decision.policy) for decision in self.decisions if decision.full)

    @property
    def returns(self) -> tuple[float, ...]:
        """What every player got, not discounted."""
        rows = np.array([decision.rewards for decision in self.decisions])
        return tuple(rows.sum(axis=0).tolist()) if len(rows) else ()

    def states(self, game: Game) -> Iterator[State]:
        """Yield the position of every decision, played again; rules that pay something else now are a DataError."""
        return (state for state, _ in pairwise(self.line(game)))

    def line(self, game: Game) -> Iterator[State]:
        """Yield the position of every decision, and the one after the last: the end, where the game was finished."""
        state, _ = rolled(game.start(self.seed), self.dice)
        yield state
        for t, decision in enumerate(self.decisions):
            try:
                state, rewards = state.step(list(decision.actions))
                state, more = rolled(state, decision.dice)
            except (UsageError, IllegalActionError) as error:
                raise DataError(f"{self._otherwise(game, t)}: {error}") from error
            if tuple((rewards + more).tolist()) != decision.rewards:
                paid = (rewards + more).tolist()
                raise DataError(f"{self._otherwise(game, t)}: it pays {paid}, and paid {list(decision.rewards)}")
            yield state

    def _otherwise(self, game: Game, t: int) -> str:
        return (
            f"{game.name}: decision {t} of game {self.id} is not what it was when it was recorded. Rules that were "
            f"changed need a run of their own, and an environment must be decided by its seed"
        )


def rolled(state: State, dice: Sequence[int]) -> tuple[State, Any]:
    """Return the position after so many outcomes, and what they paid."""
    total = np.zeros(state.game.players)
    for outcome in dice:
        state, rewards = state.step(outcome)
        total += rewards
    return state, total


@dataclass
class Columns:
    """Games as columns, the layout of a shard: `…_at` says where the rows of each begin, and where the last ends."""

    ids: list[int] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    finished: list[bool] = field(default_factory=list)
    game_dice: list[int] = field(default_factory=list)
    game_dice_at: list[int] = field(default_factory=lambda: [0])
    decisions_at: list[int] = field(default_factory=lambda: [0])
    actions: list[int] = field(default_factory=list)
    actions_at: list[int] = field(default_factory=lambda: [0])  # one entry per acting player, and of its policy too
    dice: list[int] = field(default_factory=list)
    dice_at: list[int] = field(default_factory=lambda: [0])
    rewards: list[tuple[float, ...]] = field(default_factory=list)
    values: list[tuple[float, ...]] = field(default_factory=list)
    visits: list[int] = field(default_factory=list)
    full: list[bool] = field(default_factory=list)
    proven: list[bool] = field(default_factory=list)
    models: list[int] = field(default_factory=list)
    surprise: list[float] = field(default_factory=list)
    policy_action: list[int] = field(default_factory=list)
    policy_share: list[float] = field(default_factory=list)
    policy_at: list[int] = field(default_factory=lambda: [0])


KINDS: dict[str, Any] = {
    "seeds": np.int64, "ids": np.int64, "opened": np.int32, "finished": np.bool_, "full": np.bool_, "proven": np.bool_,
    "rewards": np.float64, "values": np.float32, "policy_share": np.float32, "surprise": np.float32,
    "visits": np.int32, "models": np.int32, "actions": np.int32, "dice": np.int32, "game_dice": np.int32,
    "policy_action": np.int32,
}  # fmt: skip
OPTIONAL = {"surprise"}  # not written where all is 0, nor by older versions


def write_shard(games: Sequence[GameRecord], players: int) -> bytes:
    """Return games as the bytes of an npz file."""
    columns = Columns()
    for game in games:
        columns.ids.append(game.id)
        columns.seeds.append(game.seed)
        columns.opened.append(game.opened)
        columns.finished.append(game.finished)
        columns.game_dice += game.dice
        columns.game_dice_at.append(len(columns.game_dice))
        for decision in game.decisions:
            _add(columns, decision)
        columns.decisions_at.append(len(columns.visits))
    arrays = {name: np.asarray(column, KINDS.get(name, np.int64)) for name, column in vars(columns).items()}
    for name in ("rewards", "values"):
        arrays[name] = arrays[name].reshape(-1, players)
    for name in OPTIONAL:
        if not arrays[name].any():
            del arrays[name]
    file = io.BytesIO()
    arrays["format"] = np.array(FORMAT, np.int64)
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _add(columns: Columns, decision: Decision) -> None:
    columns.actions += decision.actions
    columns.actions_at.append(len(columns.actions))
    columns.dice += decision.dice
    columns.dice_at.append(len(columns.dice))
    columns.rewards.append(decision.rewards)
    columns.values.append(decision.value)
    columns.visits.append(decision.visits)
    columns.full.append(decision.full)
    columns.proven.append(decision.proven)
    columns.models.append(decision.model)
    columns.surprise.append(decision.surprise)
    policies = decision.policy or ({},) * len(decision.actions)
    for policy in policies:
        columns.policy_action += policy
        columns.policy_share += policy.values()
        columns.policy_at.append(len(columns.policy_action))


def read_shard(data: bytes, name: str = "a shard") -> list[GameRecord]:
    """Return the games in the bytes of an npz file; whatever is not as it must be is a DataError."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            found: dict[str, npt.NDArray[Any]] = {key: file[key] for key in file.files}
        if int(found.pop("format")) != FORMAT:
            raise DataError(f"{name} was written by another version")
        for column in OPTIONAL - set(found):
            found[column] = np.zeros(len(found["visits"]), KINDS[column])
        _check(found)
        return _games(found)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    except (ValueError, KeyError, IndexError, EOFError, OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise DataError(f"{name} is no shard of games, or damaged: {reason(error)}") from None


def _check(found: dict[str, npt.NDArray[Any]]) -> None:
    """Refuse columns whose lengths contradict each other, or that are not there."""
    names = set(vars(Columns()))
    if set(found) != names:
        raise DataError(f"columns are missing or unknown: {', '.join(sorted(names ^ set(found)))}")
    games, decisions, seats = len(found["ids"]), len(found["visits"]), len(found["actions"])
    rows = {
        "game_dice_at": (games, len(found["game_dice"])),
        "decisions_at": (games, decisions),
        "actions_at": (decisions, seats),
        "dice_at": (decisions, len(found["dice"])),
        "policy_at": (seats, len(found["policy_action"])),
    }
    for name, (count, end) in rows.items():
        at = found[name]
        if len(at) != count + 1 or at[0] != 0 or at[-1] != end or (np.diff(at) < 0).any():
            raise DataError(f"{name} does not fit the other columns")
    lengths = dict.fromkeys(("seeds", "opened", "finished"), games)
    lengths |= dict.fromkeys(("rewards", "values", "full", "proven", "models", "surprise"), decisions)
    lengths["policy_share"] = len(found["policy_action"])
    for name, length in lengths.items():
        if len(found[name]) != length:
            raise DataError(f"{name} has {len(found[name])} rows, expected {length}")
    if not (np.isfinite(found["surprise"]).all() and (found["surprise"] >= 0.0).all()):
        raise DataError("surprise must be finite, and at least 0")


def _games(found: dict[str, npt.NDArray[Any]]) -> list[GameRecord]:
    column = {name: array.tolist() for name, array in found.items()}
    games = []
    for number, identity in enumerate(column["ids"]):
        first, last = column["decisions_at"][number : number + 2]
        low, high = column["game_dice_at"][number : number + 2]
        games.append(
            GameRecord(
                id=identity,
                seed=column["seeds"][number],
                dice=tuple(column["game_dice"][low:high]),
                decisions=tuple(_decision(column, row) for row in range(first, last)),
                opened=column["opened"][number],
                finished=column["finished"][number],
            )
        )
    return games


def _decision(column: dict[str, list[Any]], row: int) -> Decision:
    low, high = column["actions_at"][row : row + 2]
    start, stop = column["dice_at"][row : row + 2]
    policy = []
    for seat in range(low, high):
        begin, end = column["policy_at"][seat : seat + 2]
        policy.append(dict(zip(column["policy_action"][begin:end], column["policy_share"][begin:end], strict=True)))
    return Decision(
        actions=tuple(column["actions"][low:high]),
        dice=tuple(column["dice"][start:stop]),
        rewards=tuple(column["rewards"][row]),
        policy=tuple(policy) if any(policy) else (),
        value=tuple(column["values"][row]),
        visits=column["visits"][row],
        full=column["full"][row],
        proven=column["proven"][row],
        model=column["models"][row],
        surprise=column["surprise"][row],
    )


def seats_of(state: State) -> tuple[int, ...]:
    """Return who decides."""
    return () if state.turn_bits == CHANCE else acting(state.turn_bits)


def choices_of(state: State) -> list[list[int]]:
    """Return the choices of everybody who decides; rules that leave somebody none are an error."""
    found = [list(state.choices(seat)) for seat in seats_of(state)]
    for seat, choices in zip(seats_of(state), found, strict=True):
        if not choices:
            raise GameError(f"{state.game.name}: acting player {seat} has no legal action in\n{state}")
    return found


def random_line(game: Game, number: int, random: Random, most: int) -> Iterator[State]:
    """Yield the positions of a random game in which somebody decides, at most so many."""
    state = game.start(number)
    for _ in range(ROLLS * most):
        if state.over or most == 0:
            return
        if state.turn_bits == CHANCE:
            state, _ = state.step(state.sample(random))
            continue
        yield state
        most -= 1
        state, _ = state.step([own[below(random, len(own))] for own in choices_of(state)])


def beyond_returns(record: GameRecord, game: Game) -> str | None:
    """Return what to say of a finished game that pays somebody more, or less, than `returns` declares; None if none."""
    rewards = np.array([decision.rewards for decision in record.decisions], np.float64)
    if not record.finished or not len(rewards):
        return None
    totals = game.discount ** np.arange(len(rewards)) @ rewards
    if record.dice:
        totals = totals + rolled(game.start(record.seed), record.dice)[1]
    low, high = game.returns
    for seat, total in enumerate(totals.tolist()):
        slack = TOLERANCE * max(1.0, abs(total))
        if not low - slack <= total <= high + slack:
            return (
                f"{game.name}: player {seat} got {total:g} in game {record.id}, but self.returns is ({low:g}, "
                f"{high:g}), which values are scaled by; set it to what can be got, and begin another run"
            )
    return None
