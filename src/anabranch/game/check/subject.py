"""The game under test: its verbs with every failure caught, and positions that remember how they were reached."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from anabranch.errors import CompileError, GameError, MismatchError, blame
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game, Rules
from anabranch.game.interpreted import InterpretedRules, draw_from
from anabranch.game.random import MASK, Random, below, fold, key_of
from anabranch.game.record import RecordView
from anabranch.game.symmetry import Symmetry
from anabranch.game.words import CHANCE, IDLE, OVER, acting, as_row

Row = tuple[int, ...]  # one entry per player as `step` takes it: actions, IDLE, or an outcome in place 0
Answer = TypeVar("Answer")

WIDTH = 64  # how many joint actions of one state are tried; more are sampled
LONGEST = 100_000  # moves a random game may take
DRAWS = 8  # how many outcomes are drawn where chance cannot be listed

# The law that speaks of a verb's answer, where the library itself refused the answer.
_LAW_OF_ANSWER = {"turn": "turn", "legal": "legal", "step": "rewards", "chance": "chance", "draw": "draw",
                  "observe": "observation", "rollout_action": "rollout", "heuristic": "heuristic",
                  "setup": "equality", "key": "key"}  # fmt: skip


class Broken(Exception):  # noqa: N818  (a finding on its way up, not an error of the program)
    """A verb raised or answered nonsense: the law that breaks, what was seen, where, and the move that did it."""

    def __init__(self, law: str, seen: str) -> None:
        super().__init__(seen)
        self.law, self.seen = law, seen
        self.position: Position | None = None
        self.row: Row | None = None


class Unplayable(Exception):  # noqa: N818
    """A line of play that is not legal, met while shortening one."""


class Position:
    """A state and, through `parent`, the line of play that led to it."""

    __slots__ = ("data", "depth", "parent", "path", "rewards", "row", "seed", "total", "turn", "weight")

    def __init__(self, seed: int, data: Any, players: int) -> None:
        self.seed, self.data = seed, data
        self.parent: Position | None = None
        self.row: Row = ()
        self.depth = 0
        self.rewards: list[float] = [0.0] * players
        self.total: list[float] = [0.0] * players  # the discounted return so far
        self.weight = 1.0  # the discount of what comes next
        self.path = key_of((seed,))  # a number for the line, so that whatever is drawn here is drawn again on replay
        self.turn: int | None = None  # asked once

    def ancestors(self) -> list[Position]:
        """Return the positions of the line from the start to this one."""
        line: list[Position] = []
        position: Position | None = self
        while position is not None:
            line.append(position)
            position = position.parent
        return line[::-1]

    def line(self) -> list[Row]:
        """Return the moves from the start to this position."""
        return [position.row for position in self.ancestors()[1:]]


class WatchedRules(InterpretedRules):
    """Interpreted verbs that keep the record they were shown, to see whether they wrote into it."""

    shown: RecordView

    def _view(self, data: bytes | None = None) -> RecordView:
        self.shown = super()._view(data)
        return self.shown


class Subject:
    """A game, its verbs, and what was learnt about it so far."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.rules: Rules = game.rules
        self.made_with = contents(game)  # before any verb was asked
        self.deadline = math.inf  # when the test under way should come to an end
        self.plies = 0
        self.by_key: dict[Any, Position] = {}  # the first position seen with each key
        self.names: dict[int, str] = {}  # action → its name, once it was read back
        self.patience = LONGEST  # a game that goes on for longer is held to be endless
        self.draws = 0  # chance states whose `draw` was compared with `chance`

    def fresh(self) -> Subject:
        """Return the same game with nothing learnt yet."""
        other = Subject(self.game)
        other.made_with = self.made_with
        return other

    @cached_property
    def plain(self) -> WatchedRules | None:
        """A compiled game's verbs interpreted and watched; None for games of objects."""
        if not isinstance(self.game, CompiledGame):
            return None
        return WatchedRules(self.game.interpreted() if self.game.compiled else self.game)

    @cached_property
    def symmetries(self) -> list[Symmetry]:
        """The symmetries the game claims."""
        claimed = list(self.guard("symmetries", self.game.symmetries))
        if not all(isinstance(symmetry, Symmetry) for symmetry in claimed):
            raise Broken("permutation", f"symmetries gives {claimed!r}; it must give ab.Symmetry objects")
        return claimed

    @cached_property
    def start_is_fixed(self) -> bool:
        """Whether every seed starts the same."""
        first = self.start(0).data
        return all(self.guard("==", lambda seed: bool(self.start(seed).data == first), seed) for seed in range(1, 8))

    def late(self) -> bool:
        """Whether a test should stop here and leave the rest of its cases untested."""
        return time.perf_counter() > self.deadline

    # Verbs, with failures caught.

    def guard(self, verb: str, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call anything of the user's; whatever goes wrong comes out as `Broken`."""
        try:
            return function(*arguments)
        except Broken:
            raise
        except (CompileError, MismatchError) as error:
            raise Broken("compiled", str(error)) from error
        except GameError as error:
            law = _LAW_OF_ANSWER.get(verb, "answers")
            raise Broken(law, str(error).removeprefix(f"{self.game.name}: ")) from error
        except (Exception, SystemExit) as error:
            raise Broken("answers", f"{verb} raised {type(error).__name__}: {error} ({blame(error)})") from error

    def ask(self, verb: str, position: Position, *arguments: Any, rules: Rules | None = None) -> Any:
        """Ask a verb about a position."""
        try:
            return self.guard(verb, getattr(rules or self.rules, verb), position.data, *arguments)
        except Broken as broken:
            broken.position, broken.row = position, arguments[0] if verb == "step" else None
            raise

    def turn(self, position: Position) -> int:
        """Return whose turn it is, asked once per position."""
        if position.turn is None:
            position.turn = int(self.ask("turn", position))
        return position.turn

    def legal(self, position: Position) -> list[list[int]]:
        """Return the legal ids of each acting player."""
        return [self.ask("legal", position, seat) for seat in acting(self.turn(position))]

    def random(self, position: Position, purpose: int) -> Random:
        """Return random numbers that depend on nothing but the line played and their purpose."""
        return Random(fold(position.path, purpose))

    # Walking.

    def start(self, seed: int) -> Position:
        return Position(seed, self.guard("setup", self.rules.setup, Random(key_of((seed,)))), self.game.players)

    def step(self, position: Position, row: Row) -> Position:
        """Play one move."""
        data, rewards = self.ask("step", position, row)
        self.plies += 1
        following = Position(position.seed, data, self.game.players)
        following.parent, following.row, following.depth = position, row, position.depth + 1
        following.rewards = rewards
        following.total = [
            total + position.weight * reward for total, reward in zip(position.total, rewards, strict=True)
        ]
        following.weight = position.weight * (1.0 if self.turn(position) == CHANCE else self.game.discount)
        following.path = fold(position.path, key_of(word & MASK for word in row))
        return following

    def rows(self, position: Position, limit: int = WIDTH) -> list[Row]:
        """Return the moves of a state: all of them, or a sample of `limit`."""
        turn = self.turn(position)
        if turn == OVER:
            return []
        if turn == CHANCE:
            return [self.spread(turn, [outcome]) for outcome in self.outcomes(position)[:limit]]
        lists = self.legal(position)
        if math.prod(map(len, lists)) <= limit:
            return [self.spread(turn, choice) for choice in itertools.product(*lists)]
        random = self.random(position, 1)
        sample = {tuple(ids[below(random, len(ids))] for ids in lists) for _ in range(limit)}
        return [self.spread(turn, choice) for choice in sorted(sample)]

    def outcomes(self, position: Position) -> list[int]:
        """Return outcomes of a chance state: the listed ones, or a few drawn ones."""
        if self.game.has("chance") or not self.game.has("draw"):
            return [outcome for outcome, _ in self.ask("chance", position)]
        random = self.random(position, 2)
        return sorted({self.ask("draw", position, random) for _ in range(DRAWS)})

    def spread(self, turn: int, choice: Sequence[int]) -> Row:
        """Return a move as `step` takes it from one entry per acting player (or the outcome)."""
        return tuple(as_row(self.game.players, acting(turn) or (0,), choice))

    def random_row(self, position: Position, random: Random) -> Row:
        """Return a uniformly random move, or a random outcome."""
        if self.turn(position) == CHANCE:
            if self.game.has("chance") or not self.game.has("draw"):
                return self.spread(CHANCE, [draw_from(self.ask("chance", position), random)])
            return self.spread(CHANCE, [self.ask("draw", position, random)])
        lists = self.legal(position)
        if not all(lists):
            raise Broken("legal", "an acting player has no legal action")
        return self.spread(self.turn(position), [ids[below(random, len(ids))] for ids in lists])

    def play(
        self, position: Position, random: Random, plies: int, go_on: Callable[[int], bool] = lambda depth: True
    ) -> tuple[Position, Broken | None]:
        """Play at random until the end, the first failure (which is returned), `plies` moves, or a no of `go_on`."""
        try:
            while position.depth < plies and self.turn(position) != OVER and go_on(position.depth):
                position = self.step(position, self.random_row(position, random))
        except Broken as broken:
            return position, broken
        return position, None

    def replay(self, position: Position, line: Sequence[Row]) -> Position:
        """Play a given line; moves that do not fit the player whose turn it is are handed to that player."""
        for row in line:
            turn = self.turn(position)
            choice = [action for action in row if action != IDLE]
            if turn == OVER or len(choice) != max(1, len(acting(turn))):
                raise Unplayable
            legal = [self.outcomes(position)] if turn == CHANCE else self.legal(position)
            if any(action not in ids for action, ids in zip(choice, legal, strict=True)):
                raise Unplayable
            position = self.step(position, self.spread(turn, choice))
        return position

    def breadth_first(self, start: Position, merge: Callable[[Position], Any]) -> Iterator[tuple[Position, bool]]:
        """Yield positions by depth, each with whether it is new; only new ones are followed."""
        seen: set[Any] = set()
        queue = [start]
        yield start, _remember(seen, merge(start))
        while queue:
            level, queue = queue, []
            for position in level:
                for following in self.successors(position):
                    new = _remember(seen, merge(following))
                    if new:
                        queue.append(following)
                    yield following, new

    def successors(self, position: Position) -> Iterator[Position]:
        """Yield what follows, as far as the verbs answer (laws at `position` report the others)."""
        try:
            rows = self.rows(position)
        except Broken:
            return
        for row in rows:
            try:
                yield self.step(position, row)
            except Broken:
                continue


def contents(game: Game) -> dict[str, Any]:
    """Return what `__init__` stored, in a form that later changes do not reach."""
    stored = {
        name: value
        for name, value in vars(game).items()
        if not name.startswith("_") and name not in ("rules", "instance") and not isinstance(value, np.dtype)
    }
    return {name: value.tobytes() if isinstance(value, np.ndarray) else repr(value) for name, value in stored.items()}


def compact(row: Row) -> int | Row:
    """Return a move as `State.step` takes it: an action or outcome, or one action per acting player."""
    played = tuple(action for action in row if action != IDLE)
    return played[0] if len(played) == 1 else played


def _remember(seen: set[Any], identity: Any) -> bool:
    """Add to a set and say whether it was new; what cannot be hashed or compared always is."""
    known = len(seen)
    try:
        seen.add(identity)
    except Exception:
        return True
    return len(seen) > known
