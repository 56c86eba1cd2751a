"""Say on stderr how far something has come: one live line on a terminal, a plain line every two seconds elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from anabranch.cli import output

EVERY = 2.0  # seconds between plain lines


@contextlib.contextmanager
def progress(words: str, *, at_once: bool = True) -> Iterator[Callable[[str], None]]:
    """Show what is going on while it lasts; call what is given with new words whenever there are some.

    Plain lines come by themselves, with the newest words, so that work which cannot speak for a while is not silent;
    words that stay the same are repeated with the time, after 2, 4, 8 … seconds.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.markup import escape

        with Console(stderr=True, highlight=False).status(escape(words)) as line:
            yield lambda text: line.update(escape(text))
        return
    newest, done = [words], threading.Event()

    def tick() -> None:
        said, since, repeats = words if at_once else "", time.monotonic(), 0
        while not done.wait(EVERY):
            if newest[0] != said:
                said, since, repeats = newest[0], time.monotonic(), 0
                output.say(said)
                continue
            repeats += 1
            if repeats & (repeats - 1) == 0:
                output.say(f"{said} … {time.monotonic() - since:.0f} s")

    def say(text: str) -> None:
        newest[0] = text

    if at_once:
        output.say(words)
    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        yield say
    finally:
        done.set()
        ticking.join()


def loading(game: str) -> str:
    """Return the words for making a game, which compiles its rules if they are new to this machine."""
    return f"loading {game}; new rules are compiled first"
