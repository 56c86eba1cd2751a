"""The driver of the engine: roots that keep their graphs, searched alone or many abreast."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import _native
from anabranch.errors import UsageError
from anabranch.evaluate.batch import Batch, as_evaluator, opinions
from anabranch.evaluate.native import Rollout
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.arguments import FOREVER, check_budget, checked_config, checked_game, checked_state
from anabranch.search.config import SearchConfig
from anabranch.search.failure import raise_failure, reported, spelled
from anabranch.search.graph import Graph
from anabranch.search.native import native_config, native_evaluator, native_rules, supported
from anabranch.search.reference import Reference
from anabranch.search.result import Result


class Root:
    """One state being searched, with all that was found below it."""

    def __init__(self, searcher: Searcher, state: State, stream: int, hash_bits: int = 64) -> None:
        self.searcher = searcher
        self.state = state
        self.stream = stream
        rules, config, evaluator, owner = searcher.translated(state.game, hash_bits)
        self.native = reported(state, _native.Search, rules, config, evaluator, stream, state.data, owner)
        self.simulations = 0
        self.seconds = 0.0
        self.running = threading.Lock()

    @property
    def graph(self) -> Graph:
        """The nodes and edges found so far."""
        return Graph(self.native, self.state)

    @property
    def result(self) -> Result:
        """What the searches so far found."""
        return self.graph.result(self.simulations, self.seconds)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all that was found to a file, checksummed; `Searcher.load` brings it back, to be searched on."""
        from anabranch.search.saved import save

        return save(self, path)


class Searcher:
    """A game's search: make roots, then run them, together or one by one; graphs stay for the next run."""

    def __init__(
        self, game: Game, evaluator: Any = None, config: SearchConfig | None = None, *, threads: int | None = None
    ) -> None:
        self.game = checked_game(game)
        self.evaluator = as_evaluator(Rollout() if evaluator is None else evaluator)
        self.config = checked_config(config)
        if not supported(self.config):
            raise UsageError(
                f"the engine has no {type(self.config.simultaneous).__name__} yet; ab.Reference searches with it"
            )
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise UsageError(f"threads must be a whole number, at least 1, found {threads!r}")
        self.threads = threads or min(os.cpu_count() or 1, 64)
        self._translations: dict[tuple[int, int], tuple[Game, tuple[Any, Any, Any]]] = {}
        self.native = self.translated(game)[2].native
        self._streams = 0

    def translated(self, game: Game, hash_bits: int = 64) -> tuple[Any, Any, Any, Any]:
        """Return rules, settings, evaluator and its owner as the engine takes them; settings are made once a game."""
        place = (id(game), hash_bits)
        if place not in self._translations:  # the game is kept too, so that its id stays its own
            made = (native_config(self.config, game, hash_bits), *native_evaluator(self.evaluator, game))
            self._translations[place] = (game, made)
        return (native_rules(game), *self._translations[place][1])

    def root(self, state: State, *, stream: int | None = None) -> Root:
        """Return a new root with random numbers of its own: numbered by its order, or from the stream it is given.

        A stream makes a root independent of how many were made before it; equal streams give equal searches.
        """
        state = checked_state(state)
        if state.game is not self.game and type(state.game) is not type(self.game):
            raise UsageError(f"this searcher plays {self.game.name}, the state is of {state.game.name}")
        if (state.game.players, state.game.actions) != (self.game.players, self.game.actions):
            raise UsageError(f"this searcher plays {self.game!r}, the state is of {state.game!r}, with other sizes")
        if self.translated(state.game)[2].native != self.native:
            raise UsageError(f"{self.game.name}: the searcher's game and the state's must both be compiled, or neither")
        if stream is None:
            self._streams += 1
            return Root(self, state, self._streams - 1)
        if not isinstance(stream, (int, np.integer)) or isinstance(stream, bool) or not 0 <= stream < 2**63:
            raise UsageError(f"stream must be a whole number from 0 to 2^63 - 1, found {stream!r}")
        return Root(self, state, int(stream))

    def load(self, path: str | os.PathLike[str], *, game: Game | None = None) -> Root:
        """Return a root that was saved; searched on, it finds what it would have found had it never been saved.

        The searcher must have the game, evaluator and settings the root was searched with; `game` is for a root on
        another instance than the searcher's. A file that is damaged or of something else is a DataError.
        """
        from anabranch.search.saved import load

        root = load(self, path, game)
        self._streams = max(self._streams, root.stream + 1)
        return root

    def run(
        self,
        roots: Sequence[Root] | Root,
        *,
        simulations: int | None = None,
        visits: int | None = None,
        seconds: float | None = None,
    ) -> list[Result]:
        """Search every root: so many simulations more, or until it has so many visits, or for so many seconds.

        An exception in the game or the evaluator comes out as it was raised; every graph is then as it was before the
        playout in which it happened, and the next run goes on from there.
        """
        roots = [roots] if isinstance(roots, (Root, State)) else list(roots)
        check_budget(simulations, visits, seconds)
        if len({id(root) for root in roots}) < len(roots):
            raise UsageError("a root was given twice")
        taken: list[Root] = []
        try:
            for root in roots:
                if not isinstance(root, Root):
                    raise UsageError(
                        "run takes roots, which keep what was found: searcher.run(searcher.root(state), …)"
                    )
                if root.searcher is not self:
                    raise UsageError("a root belongs to the searcher that made it; this one was made by another")
                if not root.running.acquire(blocking=False):
                    raise UsageError("this root is being searched; wait for the run to end")
                taken.append(root)
            self._run(roots, simulations, visits, seconds)
            return [root.result for root in roots]
        finally:
            for root in taken:
                root.running.release()

    def _run(self, roots: list[Root], simulations: int | None, visits: int | None, seconds: float | None) -> None:
        before = [root.native.root_visits for root in roots]
        goals = [
            min(FOREVER, done + simulations) if simulations is not None else FOREVER if visits is None else visits
            for done in before
        ]
        started = time.perf_counter()
        try:
            if self.native:
                self._run_native(roots, goals, seconds)
            else:
                self._run_asking(roots, goals, None if seconds is None else started + seconds)
        finally:
            elapsed = time.perf_counter() - started
            for root, visits_before in zip(roots, before, strict=True):
                root.simulations = root.native.root_visits - visits_before
                root.seconds = elapsed

    def _run_native(self, roots: list[Root], goals: list[int], seconds: float | None) -> None:
        _, failure = _native.run([root.native for root in roots], goals, seconds, self.threads)
        if failure is not None:
            report: dict[str, Any] = failure
            raise_failure(report, roots[report["root"]].state)

    def _run_asking(self, roots: list[Root], goals: list[int], deadline: float | None) -> None:
        """Let all roots walk to a leaf, ask the evaluator about all leaves at once, and so on."""
        begin = [True] * len(roots)
        try:
            while True:
                asked: list[tuple[int, list[tuple[Any, int]]]] = []
                for number, root in enumerate(roots):
                    rows = self._walk(root, goals[number], begin[number], deadline)
                    begin[number] = not rows
                    if rows:
                        asked.append((number, rows))
                if not asked:
                    return
                self._answer(roots, asked)
        except BaseException:
            for root in roots:
                root.native.undo()
            raise

    def _walk(self, root: Root, goal: int, begin: bool, deadline: float | None) -> list[tuple[Any, int]]:
        """Go on with a root until it asks or is done; finished playouts are followed by new ones."""
        while True:
            if begin and root.native.ready:
                late = deadline is not None and time.perf_counter() >= deadline
                if root.native.over or root.native.root_visits >= goal or late:
                    return []
            rows = root.native.proceed(begin)
            if isinstance(rows, dict):
                raise_failure(rows, root.state)
            if rows:
                return list(rows)
            begin = True

    def _answer(self, roots: list[Root], asked: list[tuple[int, list[tuple[Any, int]]]]) -> None:
        states = [State(roots[number].state.game, data) for number, rows in asked for data, _ in rows]
        keys = [key for _, rows in asked for _, key in rows]
        seeds = [roots[number].native.evaluation_seed for number, rows in asked for _ in rows]
        try:
            said = opinions(self.evaluator, Batch(states, keys, seeds))
        except BaseException as error:
            lines = "; ".join(spelled(roots[number].native.line()) for number, _ in asked[:3])
            more = f"; and {len(asked) - 3} more" if len(asked) > 3 else ""
            error.add_note(f"while evaluating {len(states)} states; actions from the root: {lines}{more}")
            raise
        at = 0
        for number, rows in asked:
            mine, here = said[at : at + len(rows)], states[at : at + len(rows)]
            at += len(rows)
            game = roots[number].state.game
            logits: list[Any] = []
            for opinion, state in zip(mine, here, strict=True):
                table = None
                if opinion.logits is not None:
                    assert isinstance(state.turn, tuple)
                    table = np.zeros((game.players, game.actions))
                    table[list(state.turn)] = opinion.logits
                logits.append(table)
            values = np.array([opinion.values for opinion in mine])
            reported(roots[number].state, roots[number].native.answer, logits, values)


def search(
    state: State,
    *,
    simulations: int | None = None,
    visits: int | None = None,
    seconds: float | None = None,
    evaluator: Any = None,
    config: SearchConfig | None = None,
) -> Result:
    """Search a state and return what was found; without an evaluator, leaves are judged by random rollouts."""
    state, config = checked_state(state), checked_config(config)
    budget = {"simulations": simulations, "visits": visits, "seconds": seconds}
    if not supported(config):  # averaging selectors are not in the engine yet
        return Reference(state, Rollout() if evaluator is None else evaluator, config).run(**budget)  # type: ignore[arg-type]
    searcher = Searcher(state.game, evaluator, config, threads=1)
    (result,) = searcher.run(searcher.root(state), **budget)  # type: ignore[arg-type]
    return result
