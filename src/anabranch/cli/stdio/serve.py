"""The server of this process: stdin, stdout, Ctrl-C and how it ends."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial

from anabranch.cli import BAD_DATA, GOOD, INTERRUPTED
from anabranch.cli.output import say, unwritable, write_all
from anabranch.cli.stdio.lines import lines
from anabranch.cli.stdio.server import Server
from anabranch.errors import UsageError

CHUNK = 65_536
GRACE = 0.5  # seconds that what is running gets to notice the end


def serve(workers: int) -> int:
    """Answer until the input ends, the reader of the answers leaves, or Ctrl-C; return the exit code."""
    if not 1 <= workers <= 256:
        raise UsageError(f"--workers must be from 1 to 256, found {workers}")
    answers = _own_stdout()
    server = Server(partial(write_all, answers), workers=workers)
    threading.Thread(target=_read, args=(server,), daemon=True, name="reader").start()
    code = GOOD
    try:
        say("answering JSON lines on stdin; docs/stdio.md describes them")
        server.over.wait()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if server.failure is not None:
        say(f"error: {unwritable(server.failure)}")
        code = BAD_DATA
    # In a thread of its own: it answers what was waiting, and would wait for ever for a reader that does not read.
    closing = threading.Thread(target=server.stop, daemon=True, name="closing")
    closing.start()
    closing.join(GRACE)
    if not server.join(0.0 if closing.is_alive() else GRACE):
        # A worker is inside code that cannot be told to stop, a compiler or an evaluator, or nobody reads what it has
        # to say. Ending the interpreter under a thread that runs native code is not safe; ending the process is.
        os._exit(code)
    return code


def _read(server: Server) -> None:
    """Hand every line to the server; read from the descriptor, for a buffered stdin has a lock that hinders exits."""
    for number, line in enumerate(lines(_input), start=1):
        if not server.take(line, number):
            return
    server.end()


def _input() -> bytes:
    """Return the next bytes of stdin; one that is closed or cannot be read has none, and 0 may be another file then."""
    if sys.stdin is None:
        return b""
    try:
        return os.read(0, CHUNK)
    except OSError:
        return b""


def _own_stdout() -> int:
    """Return a descriptor for answers alone: whatever rules and evaluators print goes to stderr from now on."""
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers
