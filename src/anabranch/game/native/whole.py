"""Work that is done whole, whatever signals arrive: on a thread of its own, where no handler of a signal ever runs.

Python runs handlers on the main thread, between any two of its operations. Ctrl-C, or an alarm whose handler raises,
would tear Numba and LLVM apart: locks stay taken, tables are half filled, and nothing compiles until the process ends.
So the main thread only waits for such work. Interrupted, it leaves at once; the work goes on to its end, and whoever
asks next gets what came of it.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

_STACK = 16 * 2**20  # bytes; LLVM recurses deeply, and some systems give threads little
_PATIENCE = 0.1  # seconds after which a waiting thread looks again; Windows delivers signals only between waits

Result = TypeVar("Result")
_running: set[Work[Any]] = set()


class Work(Generic[Result]):
    """A function that runs once, from beginning to end, and its result."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self.finished = False
        self._function = function
        self._failure: BaseException | None = None
        # Not an Event or a Thread: these are Python too, and an interrupt inside them would leave their locks taken.
        self._latch = _thread.allocate_lock()
        self._latch.acquire()
        if threading.current_thread() is not threading.main_thread() or not self._on_its_own_thread():
            self._run()

    def result(self) -> Result:
        """Wait for the end and return what the function returned, or raise what it raised."""
        while not self.finished:
            self._latch.acquire(timeout=_PATIENCE)
        if self._failure is not None:
            raise self._failure
        return self._result

    def _run(self) -> None:
        _running.add(self)
        try:
            self._result = self._function()
        except BaseException as error:
            self._failure = error
        self.finished = True
        _running.discard(self)
        self._latch.release()

    def _on_its_own_thread(self) -> bool:
        """Start a thread; False where there can be none, as when Python is about to end."""
        before = None
        with contextlib.suppress(ValueError, RuntimeError):  # a system that gives all threads the same
            before = _thread.stack_size(_STACK)
        try:
            _thread.start_new_thread(self._run, ())
        except RuntimeError:
            return False
        finally:
            if before is not None:
                _thread.stack_size(before)
        return True


def whole(function: Callable[[], Result]) -> Result:
    """Return what a function returns; nothing interrupts it, though waiting for it may be interrupted."""
    return Work(function).result()


@atexit.register
def _finish() -> None:
    """Let work end before Python does: LLVM must not be taken down under a thread that runs it."""
    for work in list(_running):
        while not work.finished:
            work._latch.acquire(timeout=_PATIENCE)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # the threads stay with the parent
