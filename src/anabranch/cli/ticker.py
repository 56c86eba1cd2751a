"""Show how far long work has come: one line that changes on a terminal, a plain line every two seconds elsewhere."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

EVERY = 2.0  # seconds


class Ticker:
    """Shows the words it was given last, on stderr, for as long as it is entered."""

    def __init__(self, words: str) -> None:
        self.words = words
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._status: Any = None

    def tell(self, words: str) -> None:
        """Show other words from now on."""
        self.words = words
        if self._status is not None:
            self._status.update(words)

    def __enter__(self) -> Ticker:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True, highlight=False, markup=False).status(self.words)
            self._status.__enter__()
        else:
            self._thread = threading.Thread(target=self._tick, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._status is not None:
            self._status.__exit__(kind, error, trace)
        if self._thread is not None:
            self._thread.join()

    def _tick(self) -> None:
        while not self._done.wait(EVERY):
            print(self.words, file=sys.stderr, flush=True)
