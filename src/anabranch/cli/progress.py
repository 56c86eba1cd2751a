"""Say on stderr how far something has come: one live line on a terminal, a plain line every two seconds elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

EVERY = 2.0  # seconds between plain lines


@contextlib.contextmanager
def progress(words: str) -> Iterator[Callable[[str], None]]:
    """Show what is going on while it lasts; call what is given with new words whenever there are some."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.markup import escape

        with Console(stderr=True).status(escape(words)) as line:
            yield lambda text: line.update(escape(text))
        return
    print(words, file=sys.stderr, flush=True)
    said = time.monotonic()

    def say(text: str) -> None:
        nonlocal said
        if time.monotonic() - said >= EVERY:
            print(text, file=sys.stderr, flush=True)
            said = time.monotonic()

    yield say
