"""What is in flight: each request gets one last answer, whatever happens to it, and answers come as they are ready."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any

import anabranch
from anabranch.cli.stdio import protocol
from anabranch.cli.stdio.protocol import BusyError, DuplicateIdError, Id, MalformedError, Request
from anabranch.cli.stdio.work import Worker

WAITING = 1024  # requests kept until a worker is free
HEARTBEAT = 5.0  # seconds between reports once the input has ended: nobody can cancel any more, but a reader may leave


class Job:
    """One request in flight."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.cancelled = False
        self.answered = False  # its last answer was given, whether or not anybody read it


class Server:
    """Takes lines, answers lines. `take` and `end` are called by one thread; answers come from all of them."""

    def __init__(self, write: Callable[[bytes], None], *, workers: int = 2, waiting: int = WAITING) -> None:
        self._write = write
        self._waiting = waiting
        self._worker = Worker()
        self._output = threading.Lock()
        self._lock = threading.Condition()  # over all that follows
        self._queue: deque[Job] = deque()
        self._flight: dict[Id, Job] = {}
        self._unanswered = 0  # requests whose last answer is not written yet, be it under way
        self._ending = False  # no more requests come
        self._gone = False  # nobody reads the answers any more
        self.failure: OSError | None = None  # why answers cannot be written, other than that
        self.over = threading.Event()  # everything was answered, or nobody listens
        self._threads = [threading.Thread(target=self._work, daemon=True, name=f"worker {n}") for n in range(workers)]
        for thread in self._threads:
            thread.start()

    # Called from outside

    def take(self, line: bytes | None, number: int) -> bool:
        """Answer a line at once or put it in the queue; return whether more are wanted."""
        known: Id | None = None
        try:
            if line is None:
                raise MalformedError("the line is too long")
            if not line.strip():
                return not self._ending
            given = protocol.read_line(line)
            with self._lock:
                if given["id"] in self._flight:
                    raise DuplicateIdError(f"the request with id {given['id']!r} is still in flight; take another id")
            known = given["id"]
            return self._accept(protocol.read_request(given))
        except Exception as error:
            self._fail(known, error, number)
            return not self._ending

    def end(self) -> None:
        """Say that nothing more comes; what is in flight is finished."""
        with self._lock:
            self._ending = True
            self._finish_if_idle()
            self._lock.notify_all()

    def stop(self) -> None:
        """Cancel everything; nothing more is taken."""
        with self._lock:
            self._ending = True
            waiting = list(self._queue)
            self._queue.clear()
            for job in self._flight.values():
                job.cancelled = True
        for job in waiting:
            self._last(job, {"cancelled": True, "result": None})
        self.end()

    def join(self, seconds: float) -> bool:
        """Wait for the workers; return whether all of them have ended."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    # Requests that are answered at once, and those that wait for a worker

    def _accept(self, request: Request) -> bool:
        if isinstance(request, protocol.Ping):
            facts = {"anabranch": anabranch.__version__, "protocol": protocol.PROTOCOL}
            self._answer({"id": request.id, "done": True, "result": facts})
        elif isinstance(request, protocol.Cancel):
            self._cancel(request)
        elif isinstance(request, protocol.Quit):
            self._answer({"id": request.id, "done": True, "result": {}})
            self.stop()
        else:
            with self._lock:
                if self._ending:  # by Ctrl-C, while this line was read
                    return False
                if len(self._queue) >= self._waiting:
                    raise BusyError(f"{self._waiting} requests are waiting; send it again when some were answered")
                job = Job(request)
                self._flight[request.id] = job
                self._unanswered += 1
                self._queue.append(job)
                self._lock.notify()
        return not self._ending

    def _cancel(self, request: protocol.Cancel) -> None:
        with self._lock:
            job = self._flight.get(request.request)
            waiting = job is not None and job in self._queue
            if job is not None:
                job.cancelled = True
                if waiting:
                    self._queue.remove(job)
        self._answer({"id": request.id, "done": True, "result": {"found": job is not None}})
        if job is not None and waiting:
            self._last(job, {"cancelled": True, "result": None})

    # Workers

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._queue:
                    if self._ending:
                        return
                    self._lock.wait()
                job = self._queue.popleft()
            try:
                self._last(job, {"cancelled": False, **self._done(job)})
            except BaseException as error:  # a worker that dies would leave requests unanswered
                self._fail(job.request.id, error, None, job)

    def _done(self, job: Job) -> dict[str, Any]:
        request = job.request
        if isinstance(request, protocol.Search):
            found = self._worker.search(
                request,
                stopped=lambda: job.cancelled or self._gone,
                tell=lambda facts: self._answer({"id": request.id, "done": False, "result": facts}),
                least_often=lambda: HEARTBEAT if self._ending else None,
            )
            return {"cancelled": job.cancelled, "result": found}
        if isinstance(request, protocol.State):
            return {"result": self._worker.look(request)}
        assert isinstance(request, protocol.Games)
        return {"result": self._worker.games()}

    # Answers

    def _fail(self, known: Id | None, error: BaseException, number: int | None, job: Job | None = None) -> None:
        try:
            facts = protocol.described(error)
        except BaseException as fault:  # of the library itself: the others go on
            traceback.print_exception(fault, file=sys.stderr)
            said = protocol.writable(f"{type(fault).__name__}: {fault}; a report is on stderr")
            facts = {"type": "InternalError", "message": said}
        answer: dict[str, Any] = {"error": facts}
        if job is not None:
            self._last(job, answer)
        else:
            line = {} if known is not None else {"line": number}
            self._answer({"id": known, "done": True, **line, **answer})

    def _last(self, job: Job, answer: dict[str, Any]) -> None:
        """Write a request's last answer; its id may be used again by whoever reads it.

        What cannot be written as a line raises before anything has changed, so that another answer can take its place.
        """
        line = protocol.write_line({"id": job.request.id, "done": True, **answer})
        with self._lock:
            if self._flight.get(job.request.id) is job:
                del self._flight[job.request.id]
        try:
            self._send(line)
        finally:
            with self._lock:
                if not job.answered:
                    job.answered = True
                    self._unanswered -= 1
                self._finish_if_idle()

    def _answer(self, answer: dict[str, Any]) -> None:
        self._send(protocol.write_line(answer))

    def _send(self, line: bytes) -> None:
        try:
            with self._output:
                if not self._gone:
                    self._write(line)
        except OSError as error:
            if not isinstance(error, BrokenPipeError) and not self._gone:  # who reads it may leave; a full disk may not
                self.failure = error
            self._gone = True
            self.over.set()

    def _finish_if_idle(self) -> None:
        if self._ending and not self._unanswered:
            self.over.set()
