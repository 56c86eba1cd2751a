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
    if sys.stdout is None:  # closed before we began: nobody reads the answers
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (for whoever flushes it on the way out)
        return GOOD
    answers = _own_stdout()
    server = Server(partial(_write_all, answers), workers=workers)
    threading.Thread(target=_read, args=(server,), daemon=True, name="reader").start()
    code = GOOD
    try:
        if sys.stderr is not None:
            print("answering JSON lines on stdin; docs/stdio.md describes them", file=sys.stderr, flush=True)
        server.over.wait()
    except KeyboardInterrupt:
        code = INTERRUPTED
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
    if sys.stderr is None:  # closed: what they print goes nowhere
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
    else:
        os.dup2(2, 1)
    return answers


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
