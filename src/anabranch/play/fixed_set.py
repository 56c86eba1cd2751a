"""Fixed sets: positions of a game drawn by a seed, on which agents are measured again and again.

Each comes from a game of its own, played at random or by an agent, and is one decision of it, drawn evenly among those
that were asked for. A file holds the moves that lead to each, so whatever it says is a position that play can reach.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from anabranch.errors import DataError, UsageError, reason, shown
from anabranch.evaluate.identity import Identity
from anabranch.files import read_file, replace_file
from anabranch.game.game import Game
from anabranch.game.random import Random, below
from anabranch.game.state import State
from anabranch.play.agent import Move, Turn, ask, check_agents
from anabranch.play.identity import agent_identity
from anabranch.play.names import as_agent
from anabranch.play.opening import opened
from anabranch.play.seeds import Purpose, seed_for
from anabranch.search.settings.arguments import check_whole

KIND, FORMAT = "anabranch set", 1
LARGEST = 2**28  # bytes of a file
ABREAST = 64  # games an agent is asked about at once
PATIENCE = 50  # games per position after which nothing more is expected
LONGEST = 10_000  # moves of a game


@dataclass(frozen=True)
class Position:
    """One position of a set: the seed of the start, and the moves that lead there, rolls included."""

    start: int
    moves: tuple[Move, ...]


class Contents(msgspec.Struct, forbid_unknown_fields=True):
    """What a file says."""

    kind: str
    format: int
    game: str
    seed: int
    made_by: str
    decisions: tuple[int, int | None]
    choices: int
    positions: list[Position]


@dataclass(frozen=True)
class FixedSet:
    """Positions of a game in which one player is to move; the same call makes the same ones."""

    game: Game
    seed: int
    made_by: str  # who played the games they are from
    decisions: tuple[int, int | None]  # how many decisions came before each: at least, at most
    choices: int  # how many each has at least
    positions: tuple[Position, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def states(self) -> list[State]:
        """The positions themselves."""
        return [_played(self.game, position) for position in self.positions]

    def turns(self, seed: int = 0) -> list[Turn]:
        """Return the positions as turns, with random numbers of their own for agents to choose with."""
        made = []
        for number, (position, state) in enumerate(zip(self.positions, self.states, strict=True)):
            assert isinstance(state.turn, tuple)
            made.append(
                Turn(
                    state=state,
                    seat=state.turn[0],
                    seed=seed_for(seed, Purpose.CHOICE, number),
                    moves=position.moves,
                    start=self.game.start(position.start),
                    opening=len(position.moves),
                    game_seed=seed_for(seed, Purpose.GAME, number),
                )
            )
        return made

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the set to a file of JSON, which is replaced whole or not at all."""
        contents = Contents(
            KIND,
            FORMAT,
            self.game.written_out,
            self.seed,
            self.made_by,
            self.decisions,
            self.choices,
            [*self.positions],
        )
        text = json.dumps(msgspec.to_builtins(contents), ensure_ascii=False, separators=(",", ":"))
        replace_file(Path(path), text.replace('{"start"', '\n{"start"').encode() + b"\n")
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], game: Game) -> FixedSet:
        """Return the set in a file; every position is played again, move by move."""
        path = Path(path)
        try:
            found = msgspec.json.decode(read_file(path, LARGEST), type=Contents)
        except (msgspec.DecodeError, RecursionError) as error:
            raise DataError(f"{path} is no set of positions: {reason(error)}") from None
        if (found.kind, found.format) != (KIND, FORMAT):
            raise DataError(f"{path} is no set of positions that this version reads: {shown(found.kind)}")
        if found.game not in (repr(game), game.written_out):
            raise DataError(f"{path} is a set of {shown(found.game)}, the game here is {game!r}; name that one")
        if not found.positions:
            raise DataError(f"{path} has no positions")
        for number, position in enumerate(found.positions):
            try:
                state = _played(game, position)
                alone = isinstance(state.turn, tuple) and len(state.turn) == 1
            except (UsageError, OverflowError) as error:
                raise DataError(f"{path}: position {number} cannot be played: {error}") from None
            if not alone:
                raise DataError(f"{path}: nobody moves alone in position {number}")
        return cls(game, found.seed, found.made_by, found.decisions, found.choices, tuple(found.positions))


def fixed_set(
    game: Game,
    count: int = 500,
    *,
    seed: int = 0,
    agent: Any = "random",
    decisions: int | tuple[int, int | None] = (0, None),
    choices: int = 2,
    where: Callable[[State], bool] | None = None,
) -> FixedSet:
    """Draw positions of a game in which one player is to move, each from another game; no two are the same.

    agent       who plays the games, in all seats: random, or any agent
    decisions   how many moves of players came before a position, or (at least, at most) so many
    choices     how many choices there are at least
    where       a function of a state that says whether it is wanted, for all else
    """
    if not isinstance(game, Game):
        raise UsageError(f"a set is of a game, e.g. ab.games.load('pig'), found {game!r}")
    check_whole("count", count, 1)
    check_whole("seed", seed, None)
    check_whole("choices", choices, 1)
    least, most = (decisions, decisions) if isinstance(decisions, int) else decisions
    check_whole("decisions", least, 0)
    if most is not None:
        check_whole("decisions", most, least)
    player = as_agent(agent, game)
    check_agents([player], game)
    wanted = _Wanted(least, most, choices, where)
    found: dict[Any, Position] = {}
    for first in range(0, PATIENCE * count, ABREAST):
        numbers = range(first, min(first + ABREAST, PATIENCE * count))
        for key, position in _drawn(game, player, seed, numbers, wanted):
            if len(found) < count:
                found.setdefault(key, position)
        if len(found) == count:
            break
    if len(found) < count:
        raise UsageError(
            f"{PATIENCE * count:,} games of {game.name} had {len(found)} different positions of that kind, not {count}"
            f"; ask for fewer of them, or for more kinds: decisions={(least, most)}, choices={choices}"
        )
    made_by: Identity = agent_identity(player)
    return FixedSet(game, seed, str(made_by), (least, most), choices, tuple(found.values()))


@dataclass(frozen=True)
class _Wanted:
    """Which decisions of a game may be drawn."""

    least: int
    most: int | None
    choices: int
    where: Callable[[State], bool] | None

    def __call__(self, state: State, decisions: int) -> bool:
        turn = state.turn
        return (
            isinstance(turn, tuple)
            and len(turn) == 1
            and self.least <= decisions
            and (self.most is None or decisions <= self.most)
            and len(state.choices(turn[0])) >= self.choices
            and (self.where is None or self.where(state))
        )


def _drawn(
    game: Game, agent: Any, seed: int, numbers: Sequence[int], wanted: _Wanted
) -> Iterator[tuple[Any, Position]]:
    """Play games to their ends, or as far as is wanted, and yield one position of each that has any."""
    games = {number: opened(game, seed, number, 0) for number in numbers}
    decided = dict.fromkeys(numbers, 0)
    candidates: dict[int, list[tuple[Any, int]]] = {number: [] for number in numbers}  # keys of states, moves before
    live = list(numbers)
    while live:
        turns, seats = [], []
        for number in live:
            played = games[number]
            if wanted(played.state, decided[number]):
                candidates[number].append((played.state.key, len(played.moves)))
            acting = played.state.turn
            assert isinstance(acting, tuple)
            turns += [_turn(seed, number, played, seat) for seat in acting]
            seats.append(len(acting))
        answers = iter(ask(agent, turns))
        for number, together in zip(live, seats, strict=True):
            chosen = [next(answers) for _ in range(together)]
            games[number].play(chosen[0] if together == 1 else tuple(chosen))
            decided[number] += 1
        live = [
            number
            for number in live
            if not games[number].state.over
            and (wanted.most is None or decided[number] <= wanted.most)
            and len(games[number].moves) < LONGEST
        ]
    for number in numbers:
        if candidates[number]:
            draw = Random(seed_for(seed, Purpose.OPENING, number))
            key, length = candidates[number][below(draw, len(candidates[number]))]
            yield key, Position(seed_for(seed, Purpose.START, number), tuple(games[number].moves[:length]))


def _turn(seed: int, number: int, played: Any, seat: int) -> Turn:
    return Turn(
        state=played.state,
        seat=seat,
        seed=seed_for(seed, Purpose.CHOICE, number, len(played.moves), seat),
        moves=tuple(played.moves),
        start=played.start,
        game_seed=seed_for(seed, Purpose.GAME, number, seat),
    )


def _played(game: Game, position: Position) -> State:
    state = game.start(position.start)
    for move in position.moves:
        state = state.step(move)[0]
    return state
