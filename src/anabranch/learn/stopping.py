"""Ctrl-C in a run: the first one ends it at the next good moment, the second at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Stopping:
    """In a `with` statement: `asked` is true once Ctrl-C came. Work that may be thrown away runs `interruptibly`."""

    def __init__(self) -> None:
        self.asked = False
        self._waiting = 0
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if again or self._waiting:
            raise KeyboardInterrupt

    def interruptibly(self) -> _Interruptible:
        """Let Ctrl-C raise inside a `with` statement, where nothing has to be finished."""
        return _Interruptible(self)


class _Interruptible:
    def __init__(self, stopping: Stopping) -> None:
        self._stopping = stopping

    def __enter__(self) -> None:
        self._stopping._waiting += 1

    def __exit__(self, *reason: object) -> None:
        self._stopping._waiting -= 1
