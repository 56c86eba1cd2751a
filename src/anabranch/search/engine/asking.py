"""A search that the caller drives by ask and tell: what its roots need first, then the search itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anabranch.evaluate.batch import Batch
from anabranch.search.engine.drive import Drive

if TYPE_CHECKING:
    from anabranch.search.engine.root import Root


class Asking:
    """One drive after the other, each until its roots are done."""

    def __init__(self, roots: list[Root], drives: Iterator[Drive]) -> None:
        self.roots = roots
        self.before = [root.native.root_visits for root in roots]
        self._drives = drives
        self.drive = next(drives)

    def ask(self) -> Batch | None:
        """Return what is asked next; None where something must be told first, or all is done."""
        while True:
            batch = self.drive.ask()
            if batch is not None or self.drive.asked:
                return batch
            following = next(self._drives, None)
            if following is None:
                return None
            self.drive = following
