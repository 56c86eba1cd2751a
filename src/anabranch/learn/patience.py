"""A disk that is full pauses a run: it says so, tries again, and goes on when there is room."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import TypeVar

from anabranch.errors import FileError
from anabranch.learn.stopping import Stopping

Result = TypeVar("Result")

PAUSE = 5.0  # seconds until a full disk is tried again
LOOK = 0.1  # seconds between looks whether to stop
FULL = (errno.ENOSPC, errno.EDQUOT)


def with_room(act: Callable[[], Result], stop: Stopping, say: Callable[[str], None]) -> tuple[Result, float]:
    """Write something, however long it takes until there is room; return what it returns, and the seconds waited.

    Whatever else is wrong with the disk is not waited for, nor is anything once the run is asked to stop.
    """
    waited = 0.0
    while True:
        try:
            return act(), waited
        except FileError as error:
            if error.errno not in FULL or stop.asked:
                raise
            say(f"{error}; paused: trying again every {PAUSE:g} s, Ctrl-C stops")
        begun = time.perf_counter()
        while not stop.asked and time.perf_counter() - begun < PAUSE:
            time.sleep(LOOK)
        waited += time.perf_counter() - begun
