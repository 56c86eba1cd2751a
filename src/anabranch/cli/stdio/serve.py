"""The server of this process: stdin, stdout, Ctrl-C and how it ends."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial

from anabranch.cli import GOOD, INTERRUPTED
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
    server = Server(partial(_write_all, answers), workers=workers)
    threading.Thread(target=_read, args=(server,), daemon=True, name="reader").start()
    code = GOOD
    try:
        print("answering JSON lines on stdin; docs/stdio.md describes them", file=sys.stderr, flush=True)
        server.over.wait()
    except KeyboardInterrupt:
        code = INTERRUPTED
    server.stop()
    if not server.join(GRACE):
        # A worker is inside code that cannot be told to stop, a compiler or an evaluator. Ending the interpreter under
        # a thread that runs native code is not safe; ending the process is.
        os._exit(code)
    return code


def _read(server: Server) -> None:
    """Hand every line to the server; read from the descriptor, for a buffered stdin has a lock that hinders exits."""
    for number, line in enumerate(lines(partial(os.read, 0, CHUNK)), start=1):
        if not server.take(line, number):
            return
    server.end()


def _own_stdout() -> int:
    """Return a descriptor for answers alone: whatever rules and evaluators print goes to stderr from now on."""
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
