"""Roots searched abreast, each to a goal of its own: who arrives makes room, so that batches stay full.

`Searcher.run` lets all roots go until the last has arrived, and its batches shrink on the way. Here every root has a
lane; one that has arrived is looked at, moved on or replaced, and the others have not waited for it. An evaluator
inside the engine has no batches: all roots arrive at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from anabranch.errors import UsageError
from anabranch.search.engine.drive import Drive
from anabranch.search.engine.root import Root
from anabranch.search.engine.searcher import Searcher
from anabranch.search.settings.arguments import FOREVER


class Lanes:
    """Lanes of one searcher, to be used in a `with` statement. Whatever fails, graphs are as before the last batch."""

    def __init__(self, searcher: Searcher, roots: Sequence[Root], goals: Sequence[int]) -> None:
        self.searcher = searcher
        self.roots = list(roots)
        self.rows = 0  # states evaluated so far
        self.batches = 0
        self._later: dict[int, int] = {}  # goals of roots that are evaluated first, for noise on their priors
        self._busy: set[int] = set()
        self._drive = Drive(self.roots, [0] * len(roots), threads=searcher.threads)
        try:
            for lane, (root, goal) in enumerate(zip(roots, goals, strict=True)):
                self.put(lane, root, goal)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def put(self, lane: int, root: Root, goal: int) -> None:
        """Let a root search in a lane until it has so many visits; a root that explores gets noise for its move."""
        if lane in self._busy:
            raise UsageError(f"lane {lane} is taken: its root has not arrived yet")
        (root,) = self.searcher.checked_roots(root)
        goal = min(goal, FOREVER)
        if self.searcher.native:
            self._busy.add(lane)
            self.roots[lane], self._later[lane] = root, goal
            return
        self.searcher.take([root])
        self._busy.add(lane)
        self.roots[lane] = root
        if self.searcher.ruled([root]) and not root.native.ready:
            self._later[lane] = goal
            goal = 0
        else:
            self.searcher.let_explore([root], [goal])
        root.native.hold()
        self._drive.put(lane, root, goal)

    def go_on(self) -> list[int]:
        """Evaluate one batch, and return the lanes whose roots have arrived, in order; they are free again."""
        if self.searcher.native:
            return self._inside()
        while True:
            asked = self._drive.step(self.searcher.evaluator)
            self.rows += asked
            self.batches += asked > 0
            arrived = []
            for lane in self._drive.resting():
                if lane in self._later:
                    root, goal = self.roots[lane], self._later.pop(lane)
                    self.searcher.let_explore([root], [goal])
                    self._drive.put(lane, root, goal)
                elif lane in self._busy:
                    arrived.append(lane)
            for lane in arrived:
                self._leave(lane)
            if asked or arrived or not self._busy:
                return arrived

    def _inside(self) -> list[int]:
        """Let the engine search all roots to their goals, at least one simulation each."""
        lanes = sorted(self._busy)
        more = [max(1, self._later[lane] - int(self.roots[lane].native.root_visits)) for lane in lanes]
        if lanes:
            self.searcher.run([self.roots[lane] for lane in lanes], simulations=more)
        self._busy.clear()
        self.rows += sum(more)
        self.batches += -(-sum(more) // max(1, len(lanes)))  # as if each were full
        return lanes

    @property
    def fill(self) -> float:
        """How many states a batch has had on average."""
        return self.rows / max(1, self.batches)

    def _leave(self, lane: int) -> None:
        self._busy.remove(lane)
        self.roots[lane].native.let_go()
        self.searcher.give_back([self.roots[lane]])

    def close(self) -> None:
        """Let go of all roots; waves in flight are forgotten."""
        self._drive.drop()
        if self.searcher.native:
            self._busy.clear()
        for lane in sorted(self._busy):
            self._leave(lane)
