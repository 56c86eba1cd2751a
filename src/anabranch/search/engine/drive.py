"""Waves of many roots whose evaluator is asked outside of the engine: ask, tell, and the loop that does both."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from anabranch import _native
from anabranch.errors import EvaluatorError, UsageError
from anabranch.evaluate.batch import Evaluator, answers, checked
from anabranch.evaluate.range import limits, warn_of
from anabranch.search.engine.failure import raise_failure, spelled
from anabranch.search.engine.requests import Requests, Twins

if TYPE_CHECKING:
    from anabranch.search.engine.root import Root


class Drive:
    """Roots on their way to their goals. Whatever fails drops all waves in flight: graphs are as before them."""

    def __init__(
        self, roots: Sequence[Root], goals: Sequence[int], *, threads: int, deadline: float | None = None
    ) -> None:
        self.roots = list(roots)
        self._games = [root.state.game for root in roots]
        self._kinds = list({id(game): game for game in self._games}.values())
        self._within = limits(self._kinds) if self._kinds else (0.0, 0.0)
        self._deadline = deadline
        self._twins: Twins = {}
        self._native: Any = _native.Drive([root.native for root in roots], list(goals), threads)
        self.asked: deque[Requests] = deque()  # handed out and not answered, the oldest first

    def ask(self) -> Requests | None:
        """Return what roots need evaluations of; None where they must be told something first, or are done."""
        try:
            while True:
                late = self._deadline is not None and time.perf_counter() >= self._deadline
                requests, more, failure = self._native.gather(late)
                if failure is not None:
                    raise_failure(failure, self.roots[failure["root"]].state)
                if requests is not None:
                    self.asked.append(Requests(requests, self._games, self._kinds, self._within, self._twins))
                    return self.asked[-1]
                if not more:
                    return None
        except BaseException:
            self.drop()
            raise

    def put(self, place: int, root: Root, goal: int) -> None:
        """Give a place to another root, or to the same one with another goal; nothing of it may be in flight."""
        game = root.state.game
        if all(known is not game for known in self._kinds):
            self._kinds.append(game)
            self._within = limits(self._kinds)
        self._native.put(place, root.native, goal)
        self.roots[place], self._games[place] = root, game

    def resting(self) -> list[int]:
        """Return the places whose roots are over or at their goals."""
        places: list[int] = self._native.resting()
        return places

    def step(self, evaluator: Evaluator) -> int:
        """Ask an evaluator once, and return about how many states; 0 where nobody needs an answer any more."""
        try:
            requests = self.ask()
            if requests is None:
                return 0
            self.answer(*self._noting(partial(answers, evaluator, requests)))
            return len(requests)
        except BaseException:
            self.drop()
            raise

    def checked(self, logits: Any, values: Any) -> tuple[Any, Any]:
        """Return answers to the oldest requests, checked; what is refused changes nothing."""
        if not self.asked:
            raise UsageError("nothing was asked: call ask() first")
        try:
            return self._warned(checked(self.asked[0], (logits, values)))
        except EvaluatorError as error:
            error.add_note("the batch is still asked: tell() it again, or drop() the search")
            raise

    def answer(self, logits: Any, values: Any) -> None:
        """Hand on answers that were checked; roots use them when they go on."""
        requests = self.asked.popleft()
        self._native.answer(requests.native, logits, values)

    def _warned(self, answer: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return answers to the oldest requests; where values lie outside of what the game declares, say so once."""
        requests, searcher = self.asked[0], self.roots[0].searcher
        if requests.outside and not searcher.warned:
            searcher.warned = True
            warn_of(requests.game, answer[1], self._within)
        return answer

    def drop(self) -> None:
        """Forget all waves in flight."""
        self.asked.clear()
        for root in self.roots:
            root.native.undo()

    def run(self, evaluator: Evaluator, depth: int) -> None:
        """Ask an evaluator until all roots are done; with a depth above 1 on a thread of its own, while roots go on."""
        try:
            if depth == 1:
                while self.step(evaluator):
                    pass
                return
            with ThreadPoolExecutor(1, "evaluator") as thread:
                self._overlap(evaluator, depth, thread)
        except BaseException:
            self.drop()
            raise

    def _overlap(self, evaluator: Evaluator, depth: int, thread: ThreadPoolExecutor) -> None:
        pending: deque[Callable[[], Any]] = deque()
        starts = True  # until the system refuses a thread
        try:
            while True:
                requests = self.ask() if len(pending) < depth else None
                if requests is not None:
                    if starts:
                        try:
                            pending.append(thread.submit(_copied_answers, evaluator, requests).result)
                            continue
                        except RuntimeError:  # "can't start new thread"
                            starts = False
                    pending.append(partial(answers, evaluator, requests))
                elif pending:
                    self.answer(*self._noting(pending.popleft()))
                else:
                    return
        except BaseException:
            thread.shutdown(wait=False, cancel_futures=True)
            raise

    def _noting(self, evaluate: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
        """Get the answers to the oldest requests; what goes wrong is told with the lines of play.

        On the thread that drives: roots cannot be asked for a line while they go on.
        """
        try:
            return self._warned(evaluate())
        except BaseException as error:
            asking = self.asked[0].native.roots
            lines = "; ".join(spelled(self.roots[number].native.line()) for number in asking[:3])
            more = f"; and {len(asking) - 3} more" if len(asking) > 3 else ""
            states = "1 state" if len(self.asked[0]) == 1 else f"{len(self.asked[0])} states"
            error.add_note(f"while evaluating {states}; actions from the root: {lines}{more}")
            raise


def _copied_answers(evaluator: Evaluator, requests: Requests) -> tuple[Any, Any]:
    """Ask an evaluator that goes on before its answer is used: it may write the next one into the same arrays."""
    logits, values = answers(evaluator, requests)
    return None if logits is None else logits.copy(), values.copy()
