"""Roots searched abreast, each to a goal of its own: who arrives makes room, so that batches stay full.

`Searcher.run` lets all roots go until the last has arrived, and its batches shrink on the way. Here every root has a
lane; one that has arrived is looked at, moved on or replaced, and the others have not waited for it. An evaluator
inside the engine has no batches: all roots arrive at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from anabranch import _native
from anabranch.errors import UsageError
from anabranch.search.engine.drive import Drive
from anabranch.search.engine.failure import reported
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
            self.put_all(range(len(roots)), roots, goals)
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
        self.put_all([lane], [root], [goal])

    def put_all(self, lanes: Sequence[int], roots: Sequence[Root], goals: Sequence[int]) -> None:
        """Let roots search in lanes of their own: all that was done to one is done to many at once."""
        for lane in lanes:
            if lane in self._busy:
                raise UsageError(f"lane {lane} is taken: its root has not arrived yet")
        chosen = self.searcher.checked_roots(roots)
        goals = [min(goal, FOREVER) for goal in goals]
        if not self.searcher.native:
            self.searcher.take(chosen)
        self._busy.update(lanes)
        for lane, root in zip(lanes, chosen, strict=True):
            self.roots[lane] = root
        if self.searcher.native:
            self._later.update(zip(lanes, goals, strict=True))
            return
        first = {id(root) for root in self.searcher.ruled(chosen) if not root.native.ready}
        self.searcher.let_explore(
            *_parted([(root, goal) for root, goal in zip(chosen, goals, strict=True) if id(root) not in first])
        )
        for lane, root, goal in zip(lanes, chosen, goals, strict=True):
            if id(root) in first:
                self._later[lane] = goal
            root.native.hold()
            self._drive.put(lane, root, 0 if id(root) in first else goal)

    def go_on(self) -> list[int]:
        """Evaluate one batch, and return the lanes whose roots have arrived, in order; they are free again."""
        if self.searcher.native:
            return self._inside()
        while True:
            asked = self._drive.step(self.searcher.evaluator)
            self.rows += asked
            self.batches += asked > 0
            resting = self._drive.resting()
            evaluated = [(lane, self.roots[lane], self._later.pop(lane)) for lane in resting if lane in self._later]
            if evaluated:
                self.searcher.let_explore(*_parted([(root, goal) for _, root, goal in evaluated]))
                for lane, root, goal in evaluated:
                    self._drive.put(lane, root, goal)
            begun = {lane for lane, _, _ in evaluated}
            arrived = [lane for lane in resting if lane in self._busy and lane not in begun]
            for lane in arrived:
                self._leave(lane)
            if asked or arrived or not self._busy:
                return arrived

    def _inside(self) -> list[int]:
        """Let the engine search all roots to their goals, at least one simulation each."""
        lanes = sorted(self._busy)
        more = [max(1, self._later[lane] - int(self.roots[lane].native.root_visits)) for lane in lanes]
        if lanes:
            self.searcher.search_on([self.roots[lane] for lane in lanes], more)
        self._busy.clear()
        self.rows += sum(more)
        self.batches += -(-sum(more) // max(1, len(lanes)))  # as if each were full
        return lanes

    def policies(self, lanes: Sequence[int]) -> tuple[Any, Any, Any, Any, Any]:
        """Return of the roots of lanes what they found, at once and without what else a result tells.

        Policies `[N, P, A]`, policies to learn from `[N, P, A]`, values `[N, P]`, visits `[N]`, priors without
        noise `[N, P, A]`. Nothing of it knows of proofs.
        """
        roots = [self.roots[lane] for lane in lanes]
        try:
            return _native.root_policies([root.native for root in roots])
        except _native.SearchFailed:
            pass  # one by one, then: who fails is asked with the line of play that led there
        each = [reported(root.state, _native.root_policies, [root.native]) for root in roots]
        policies, targets, values, visits, priors = (np.concatenate(parts) for parts in zip(*each, strict=True))
        return policies, targets, values, visits, priors

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


def _parted(pairs: Sequence[tuple[Root, int]]) -> tuple[list[Root], list[int]]:
    """Return roots and goals, of pairs of one and the other."""
    return [root for root, _ in pairs], [goal for _, goal in pairs]
