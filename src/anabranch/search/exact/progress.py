"""How far a solution has come, told now and then to whoever asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

EVERY = 0.1  # seconds


@dataclass(frozen=True)
class Progress:
    """States found so far, those of them whose moves were tried, those that have their value; sweeps over a loop."""

    found: int
    expanded: int
    solved: int
    sweeps: int  # over the loop of states whose values are being iterated; 0 elsewhere
    seconds: float

    def __str__(self) -> str:
        words = f"{self.found:,} states found, {self.expanded:,} expanded, {self.solved:,} solved"
        return f"{words}{f', sweep {self.sweeps:,} over a loop' if self.sweeps else ''}; {self.seconds:.1f} s"


class Teller:
    """Calls a function with a Progress, if there is one to call."""

    def __init__(self, progress: Callable[[Progress], None] | None) -> None:
        self._progress = progress
        self._began = time.perf_counter()
        self._next = self._began + EVERY

    def tell(self, found: int, expanded: int, solved: int, sweeps: int = 0) -> None:
        """Say how far it is."""
        if self._progress is not None:
            self._progress(Progress(found, expanded, solved, sweeps, time.perf_counter() - self._began))

    def beat(self, found: int, expanded: int, solved: int, sweeps: int = 0) -> None:
        """Say so, if that is long ago."""
        if self._progress is not None and time.perf_counter() >= self._next:
            self._next = time.perf_counter() + EVERY
            self.tell(found, expanded, solved, sweeps)
