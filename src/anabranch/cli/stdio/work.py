"""What requests ask for, done: games are loaded once, searches run in slices and stop when they are told to."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from anabranch import games
from anabranch.cli.report import report
from anabranch.cli.stdio import protocol
from anabranch.errors import UsageError
from anabranch.evaluate import load as evaluators
from anabranch.game.describe import describe
from anabranch.game.game import Game
from anabranch.game.moves import play_moves
from anabranch.game.state import State
from anabranch.game.words import CHANCE, acting
from anabranch.play.search_agent import check_evaluator
from anabranch.search.engine.analysis import Analysis
from anabranch.search.settings.mapping import from_mapping

SLICE = 0.05  # seconds between looks at whether a search was cancelled
MOST_KEPT = 64  # games, and evaluators


class Kept:
    """Things that are dear to make, kept by name; those used longest ago go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Any, Any] = {}

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what is kept under a key, or make it. Two that ask at once may both make it; one of them is kept."""
        with self._lock:
            if key in self._made:
                self._made[key] = self._made.pop(key)
                return self._made[key]
        made = make()
        with self._lock:
            made = self._made.setdefault(key, made)
            while len(self._made) > MOST_KEPT:
                del self._made[next(iter(self._made))]
            return made


class Worker:
    """Does requests, from any number of threads."""

    def __init__(self) -> None:
        self._games, self._evaluators = Kept(), Kept()

    def game(self, asked: protocol.Position) -> Game:
        """Return the game a request names."""
        if "compiled" in asked.options:
            raise UsageError('compiled is no option of a game; "interpreted": true runs it without compiling')
        key = (asked.game, asked.interpreted, json.dumps(asked.options, sort_keys=True))
        made: Game = self._games.get(
            key, lambda: games.load(asked.game, compiled=not asked.interpreted, **asked.options)
        )
        return made

    def state(self, asked: protocol.Position, seed: int) -> State:
        """Return the position a request names."""
        game = self.game(asked)
        return play_moves(game.start(seed) if asked.position is None else game.position(asked.position), asked.moves)

    def evaluator(self, asked: protocol.Search) -> Any:
        """Return the evaluator a request names; a network's file is read again when it was written again."""
        game, mark = self.game(asked), None
        if network := evaluators.NETWORK.fullmatch(asked.evaluator):
            with contextlib.suppress(OSError):  # which reading it will tell
                status = os.stat(network["path"])
                mark = (status.st_mtime_ns, status.st_size)
        made = self._evaluators.get((asked.evaluator, mark), lambda: evaluators.load(asked.evaluator, game))
        check_evaluator(made, game)
        return made

    def games(self) -> list[dict[str, Any]]:
        """Return all built-in games."""
        return [dataclasses.asdict(describe(games.load(name, compiled=False))) for name in games.names()]

    def look(self, asked: protocol.State) -> dict[str, Any]:
        """Return what there is to know about a position."""
        state = self.state(asked, asked.seed or 0)
        game, turn = state.game, state.turn_bits
        legal = {
            str(seat): [{"action": action, "name": game.move_name(state, seat, action)} for action in state.legal(seat)]
            for seat in acting(turn)
        }
        outcomes = state.outcomes() if turn == CHANCE and game.has("chance") else []
        return {
            "game": game.name,
            "text": str(state),
            "over": state.over,
            "chance": turn == CHANCE,
            "acting": list(acting(turn)),
            "legal": legal,
            "outcomes": [{"outcome": o, "name": game.outcome_name(o), "probability": p} for o, p in outcomes],
        }

    def search(
        self,
        asked: protocol.Search,
        stopped: Callable[[], bool],
        tell: Callable[[dict[str, Any]], None],
        least_often: Callable[[], float | None],
    ) -> dict[str, Any]:
        """Search, telling what was found every so often; return what was found in the end, or when it was stopped.

        `least_often` may ask for reports on its own: so many seconds after the last, one is due.
        """
        if asked.every is not None and not asked.every > 0:
            raise UsageError(f"every must be more than 0 seconds, found {asked.every}")
        config = from_mapping(asked.config)
        if asked.seed is not None:
            config = dataclasses.replace(config, seed=asked.seed)
        evaluator = self.evaluator(asked)
        analysis = Analysis(
            self.state(asked, config.seed),
            simulations=asked.simulations,
            visits=asked.visits,
            seconds=asked.seconds,
            evaluator=evaluator,
            config=config,
        )
        told = time.monotonic()
        pause = SLICE if asked.every is None else min(SLICE, asked.every)
        while not stopped() and analysis.advance(pause):
            due = min((s for s in (asked.every, least_often()) if s is not None), default=None)
            if due is not None and time.monotonic() - told >= due and not stopped():
                tell(report(analysis.result))
                told = time.monotonic()
        return report(analysis.result)
