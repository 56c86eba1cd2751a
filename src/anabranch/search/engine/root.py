"""One state being searched: its graph, its random numbers, moving on, saving."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.errors import UsageError
from anabranch.game.random import MASK
from anabranch.game.state import State
from anabranch.search.engine.failure import reported
from anabranch.search.engine.graph import Graph
from anabranch.search.engine.native import native_rules
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.policies import capped
from anabranch.search.results.result import Result, used
from anabranch.search.settings.arguments import BEING_SEARCHED, Keep, checked_keep
from anabranch.search.settings.config import PlayoutCap

if TYPE_CHECKING:
    from anabranch.search.engine.searcher import Searcher


class Root:
    """One state being searched, with all that was found below it."""

    def __init__(self, searcher: Searcher, state: State, stream: int, hash_bits: int = 64) -> None:
        self.searcher = searcher
        self.state = state
        self.stream = stream
        config, evaluator, owner = searcher.translated(state.game, hash_bits)
        rules = native_rules(state.game)
        self.native = reported(state, _native.Search, rules, config, evaluator, stream, state.data, owner)
        self.simulations = 0
        self.seconds = 0.0
        self.explores = True  # whether noise and forced playouts are used, where the settings have them
        self.running = threading.Lock()

    @property
    def graph(self) -> Graph:
        """The nodes and edges found so far."""
        return Graph(self.native, self.state)

    @property
    def result(self) -> Result:
        """What the searches so far found."""
        return self.result_of(self.simulations, self.seconds)

    def result_of(self, simulations: int, seconds: float) -> Result:
        """Return what was found, by so many simulations in such a time."""
        config = used(self.searcher.config, self.explores)
        return self.graph.result(simulations, seconds, config, full=self.explores)

    @property
    def root_number(self) -> int:
        """How often the root moved on."""
        return int(self.native.root_number)

    @property
    def draws(self) -> Draws:
        """The random numbers of this root, of which moving on makes others."""
        return Draws(self.searcher.config.seed, self.stream, self.root_number)

    def advance(self, action: int | Sequence[int], *, keep: Keep = "graph") -> npt.NDArray[np.float64]:
        """Make the state after an action, a joint action or an outcome the root; return the step's rewards per player.

        `keep` says what stays of what was found below it: the `graph` with all visits; the `evaluations`, so that no
        state is asked about again while visits are counted anew; `nothing`. What cannot be reached any more is freed.
        """
        checked_keep(keep)
        self._take()
        try:
            following, rewards = self.state.step(action)
            self._follow(self.state.row_of(action), following, keep)
            return rewards
        finally:
            self.running.release()

    def follow(self, steps: Sequence[tuple[list[int], State]], *, keep: Keep = "graph") -> None:
        """Move on as `advance` does, for who has made the steps: rows of actions, and the states they led to."""
        checked_keep(keep)
        self._take()
        try:
            for row, following in steps:
                self._follow(row, following, keep)
        finally:
            self.running.release()

    def _follow(self, row: list[int], following: State, keep: Keep) -> None:
        reported(self.state, self.native.advance, row, following.data, keep)
        self.state = following
        self.simulations, self.seconds = 0, 0.0
        self.explores = True  # a cap decides root by root

    def _take(self) -> None:
        if not self.running.acquire(blocking=False):
            raise UsageError(BEING_SEARCHED)

    def use_cap(self, cap: PlayoutCap) -> int:
        """Decide by seed and root number whether this is a full search; how many simulations it gets."""
        # What `self.draws.key(Purpose.CAP, 0, 0, 0)` is, in one call of the engine.
        words = (self.searcher.config.seed & MASK, self.stream & MASK, self.root_number, Purpose.CAP.value, 0, 0, 0)
        simulations, self.explores = capped(cap, _native.key_of(words))
        return simulations

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all that was found to a file, checksummed; `Searcher.load` brings it back, to be searched on.

        Evaluations kept by an advance and not used since are not written: they would be asked for again.
        """
        from anabranch.search.engine.saved import save

        return save(self, path)

    def __repr__(self) -> str:
        from anabranch.game.pictures import situation
        from anabranch.search.results.show.numbers import plural

        try:
            found = f"{plural(int(self.native.root_visits), 'visit')}, {plural(int(self.native.nodes), 'node')}"
        except UsageError:  # a thread is at work on it
            found = "being searched"
        return f"<Root of {self.state.game.name}, {situation(self.state)}: {found}>"
