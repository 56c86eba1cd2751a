"""One search in slices: it can be looked at and stopped between them, and finds what it would find in one run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from anabranch.errors import UsageError
from anabranch.game.compiled import CompiledGame
from anabranch.game.state import State
from anabranch.search.engine.searcher import Searcher
from anabranch.search.results.result import Result
from anabranch.search.settings.arguments import FOREVER, check_budget, check_time, checked_config, checked_state
from anabranch.search.settings.config import SearchConfig

WAVES = 32  # of a slice, where several are in flight at a time
GROWTH = 4  # a slice has at most so many times the simulations of the one before: the first ones are slow, or cached


class Analysis:
    """A search with a budget that runs a moment at a time.

        analysis = ab.Analysis(state, simulations=100_000)
        while analysis.advance(0.1):
            print(analysis.share, analysis.result.action)

    The visits after the last slice are those of `ab.search` with the same arguments: a slice has whole waves and goes
    on where the one before ended, and random numbers do not depend on when they are drawn. With a `depth` above 1 waves
    of one slice are not in flight with those of the next; slices are then all of one size, so that a search finds the
    same whenever it is repeated, and not quite what `ab.search` finds.
    """

    def __init__(
        self,
        state: State,
        *,
        simulations: int | None = None,
        visits: int | None = None,
        seconds: float | None = None,
        evaluator: Any = None,
        config: SearchConfig | None = None,
        threads: int | None = 1,
        load: str | os.PathLike[str] | None = None,
        same_evaluator: bool = False,
    ) -> None:
        check_budget(simulations, visits, seconds)
        state, config = checked_state(state), checked_config(config)
        check_time(config, seconds)
        self.seconds = 0.0  # spent so far
        self._limit = seconds
        searcher = Searcher(state.game, evaluator, config, threads=threads)
        self._root = searcher.root(state) if load is None else searcher.load(load, same_evaluator=same_evaluator)
        if load is not None and self._root.state != state:
            raise UsageError(f"{load} is a search of another position:\n{self._root.state}")
        self._before = self.visits
        more = FOREVER if simulations is None else simulations
        self._goal = visits if visits is not None else min(FOREVER, self._before + more)
        self._width, self._overlaps = config.width, config.depth > 1
        # In simulations; nothing is known yet of how long they take.
        self._slice = self._width * (WAVES if self._overlaps else 1)
        self._finished = self._begun = False

    @property
    def visits(self) -> int:
        """How often the root was visited, earlier searches that were loaded included."""
        return int(self._root.native.root_visits)

    @property
    def simulations(self) -> int:
        """How many simulations were done."""
        return self.visits - self._before

    @property
    def share(self) -> float:
        """How much of the budget is spent, from 0 to 1."""
        if self._finished:
            return 1.0
        if self._limit is not None:
            return min(1.0, self.seconds / self._limit) if self._limit > 0 else 1.0
        wanted = self._goal - self._before
        return min(1.0, self.simulations / wanted) if wanted > 0 else 1.0

    @property
    def result(self) -> Result:
        """What was found so far."""
        return self._root.result_of(self.simulations, self.seconds)

    def advance(self, seconds: float = 0.1) -> bool:
        """Search on for about so long; return whether there is more to do.

        An exception, KeyboardInterrupt too, leaves what was found by the playouts before.
        """
        if self._finished:
            return False
        started, before = time.perf_counter(), self.visits
        try:
            if self._limit is not None:
                self._run(seconds=min(seconds, max(0.0, self._limit - self.seconds)))
            else:
                self._run(visits=max(0, min(self._goal, before + self._slice)))
        finally:
            elapsed = time.perf_counter() - started
            self.seconds += elapsed
        done = self.visits - before
        if not self._overlaps:
            fitting = int(done * seconds / elapsed) if elapsed > 0 else FOREVER
            waves = max(1, min(GROWTH * self._slice, fitting) // self._width)
            self._slice = waves * self._width
        if self._limit is not None:  # a slice may pass with the evaluation of the root, which is no simulation
            stuck = self._root.state.over or self._root.native.solved
            late = self.seconds >= self._limit
        else:  # nothing is done where the game is over, and where a root cannot count further
            stuck, late = done == 0, False
        self._finished = late or stuck or self.visits >= self._goal
        return not self._finished

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write what was found to a file, as `Root.save`."""
        self.check_savable()
        return self._root.save(path)

    def check_savable(self) -> None:
        """Refuse a search that could not be saved; better asked before it than after."""
        if not isinstance(self._root.state.game, CompiledGame):
            raise UsageError(f"{self._root.state.game.name} is an object game, whose searches cannot be saved")

    def _run(self, *, visits: int | None = None, seconds: float | None = None) -> None:
        first, self._begun = not self._begun, True
        self._root.searcher.run_slice(self._root, visits=visits, seconds=seconds, goal=self._goal, first=first)
