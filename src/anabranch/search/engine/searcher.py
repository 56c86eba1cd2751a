"""The driver of the engine: searches roots, alone or many abreast."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from anabranch import _native
from anabranch.errors import UsageError
from anabranch.evaluate.batch import Batch, as_evaluator, has_priors
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.range import watched
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.engine.asking import Asking
from anabranch.search.engine.drive import Drive
from anabranch.search.engine.failure import raise_failure
from anabranch.search.engine.native import native_config, native_evaluator
from anabranch.search.engine.root import Root
from anabranch.search.results.result import Result
from anabranch.search.settings.arguments import (
    BEING_SEARCHED,
    FOREVER,
    Budgets,
    check_budget,
    check_time,
    checked_config,
    checked_game,
    checked_state,
)
from anabranch.search.settings.config import Gumbel, RootNoise, SearchConfig
from anabranch.search.settings.resolved import resolved

MOST_THREADS = 4096


class Searcher:
    """A game's search: make roots, then run them, together or one by one; graphs stay for the next run."""

    def __init__(
        self, game: Game, evaluator: Any = None, config: SearchConfig | None = None, *, threads: int | None = None
    ) -> None:
        self.game = checked_game(game)
        self.evaluator = as_evaluator(Rollout() if evaluator is None else evaluator)
        self.config = resolved(checked_config(config), self.game, self.evaluator)
        if threads is not None and (not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS):
            raise UsageError(f"threads must be a whole number from 1 to {MOST_THREADS}, found {threads!r}")
        self.threads = threads or min(os.cpu_count() or 1, 64)
        self._translations: dict[tuple[int, int], tuple[Game, tuple[Any, Any, Any]]] = {}
        self.native = self.translated(game)[1].native
        self.warned = not watched(self.evaluator)  # of values outside of what the game declares
        self._streams = 0
        self._asking: Asking | None = None

    def translated(self, game: Game, hash_bits: int = 64) -> tuple[Any, Any, Any]:
        """Return settings, evaluator and its owner as the engine takes them, made once a game."""
        place = (id(game), hash_bits)
        if place not in self._translations:  # the game is kept too, so that its id stays its own
            made = (native_config(self.config, game, hash_bits), *native_evaluator(self.evaluator, game))
            self._translations[place] = (game, made)
        return self._translations[place][1]

    def root(self, state: State, *, stream: int | None = None) -> Root:
        """Return a new root with random numbers of its own: numbered by its order, or from the stream it is given.

        A stream makes a root independent of how many were made before it; equal streams give equal searches.
        """
        state = checked_state(state)
        if state.game is not self.game:
            self.check_instance(state.game)
        if stream is None:
            self._streams += 1
            return Root(self, state, self._streams - 1)
        if not isinstance(stream, (int, np.integer)) or isinstance(stream, bool) or not 0 <= stream < 2**63:
            raise UsageError(f"stream must be a whole number from 0 to 2^63 - 1, found {stream!r}")
        return Root(self, state, int(stream))

    def check_instance(self, game: Game) -> None:
        """Refuse another instance than the searcher's that could not share a batch with it."""
        if type(game) is not type(self.game):
            raise UsageError(f"this searcher plays {self.game.name}, the state is of {game.name}")
        if self.translated(game)[1].native != self.native:
            raise UsageError(f"{self.game.name}: the searcher's game and the state's must both be compiled, or neither")
        ours, others = _sizes(self.game), _sizes(game)
        if self.native:  # roots share no batch, only results are compared
            ours, others = ({name: sizes[name] for name in ("players", "actions")} for sizes in (ours, others))
        differing = [name for name in ours if ours[name] != others[name]]
        if differing:
            raise UsageError(
                f"this searcher plays {self.game!r}, the state is of {game!r}, with other sizes "
                f"({', '.join(differing)}); "
                f"the states of all roots make one batch, so make a searcher for each size"
            )

    def use(self, evaluator: Any) -> None:
        """Let another evaluator answer from now on, e.g. newer weights; graphs and what they hold stay.

        Both must be asked outside of the engine, and give priors, or not, as the first did: what settings leave open
        was settled by it.
        """
        other = as_evaluator(evaluator)
        if self.native or native_evaluator(other, self.game)[0].native:
            raise UsageError(f"{self.evaluator} cannot be replaced by {other}: one of them runs inside the engine")
        if has_priors(other) != has_priors(self.evaluator):
            raise UsageError(f"{self.evaluator} cannot be replaced by {other}: only one of them gives priors")
        self.evaluator = other

    def load(self, path: str | os.PathLike[str], *, game: Game | None = None, same_evaluator: bool = False) -> Root:
        """Return a root that was saved; searched on, it finds what it would have found had it never been saved.

        The searcher must have the game, evaluator and settings the root was searched with; `game` is for a root on
        another instance than the searcher's. A file that is damaged or of something else is a DataError.
        `same_evaluator` promises that an evaluator of the same name is that of the file, where nobody can tell.
        """
        from anabranch.search.engine.saved import load

        root = load(self, path, game, same_evaluator)
        self._streams = max(self._streams, root.stream + 1)
        return root

    def run(
        self,
        roots: Sequence[Root] | Root,
        *,
        simulations: Budgets | None = None,
        visits: int | None = None,
        seconds: float | None = None,
    ) -> list[Result]:
        """Search every root: so many simulations more, or until it has so many visits, or for so many seconds.

        `simulations` may be one number per root. Without a budget `SearchConfig.cap` decides root by root. An exception
        in the game or the evaluator comes out as it was raised; every graph is then as it was before the waves in
        flight, and the next run goes on from there.
        """
        chosen = self.checked_roots(roots)
        if simulations is visits is seconds is None and self.config.cap is not None:
            simulations = [root.use_cap(self.config.cap) for root in chosen]
        check_budget(simulations, visits, seconds, len(chosen))
        check_time(self.config, seconds)
        with self._held(chosen):
            self._run(chosen, self._goals(chosen, simulations, visits), None, seconds)
            return [root.result for root in chosen]

    def search_on(self, roots: Sequence[Root], simulations: Sequence[int]) -> None:
        """Search every root so many simulations more, for who reads what was found by other ways than results."""
        chosen = self.checked_roots(roots)
        with self._held(chosen):
            self._run(chosen, self._goals(chosen, simulations, None), None, None)

    def run_slice(self, root: Root, *, visits: int | None, seconds: float | None, goal: int, first: bool) -> None:
        """Search a part of a longer run, which ends at `goal` visits: what is planned at its beginning stays."""
        with self._held([root]):
            self._run([root], [FOREVER if visits is None else visits], [goal if first else 0], seconds)

    @contextmanager
    def _held(self, roots: list[Root]) -> Iterator[None]:
        """Keep others away from roots."""
        self.take(roots)
        try:
            for root in roots:
                root.native.hold()
            yield
        finally:
            for root in roots:
                root.native.let_go()
            self.give_back(roots)

    def checked_roots(self, given: Sequence[Root] | Root) -> list[Root]:
        """Return roots that are this searcher's own, and different ones."""
        roots = [given] if isinstance(given, (Root, State)) else list(given)
        if len({id(root) for root in roots}) < len(roots):
            raise UsageError("a root was given twice")
        for root in roots:
            if not isinstance(root, Root):
                raise UsageError("run takes roots, which keep what was found: searcher.run(searcher.root(state), …)")
            if root.searcher is not self:
                raise UsageError("a root belongs to the searcher that made it; this one was made by another")
        return roots

    @staticmethod
    def take(roots: Sequence[Root]) -> None:
        """Keep others away from roots until `give_back`."""
        taken: list[Root] = []
        for root in roots:
            if not root.running.acquire(blocking=False):
                for other in taken:
                    other.running.release()
                raise UsageError(BEING_SEARCHED)
            taken.append(root)

    @staticmethod
    def give_back(roots: Sequence[Root]) -> None:
        """Let others have roots again."""
        for root in roots:
            root.running.release()

    def _run(self, roots: list[Root], goals: list[int], planned: list[int] | None, seconds: float | None) -> None:
        before = [root.native.root_visits for root in roots]
        started = time.perf_counter()
        deadline = None if seconds is None else started + seconds
        try:
            self._prepare(roots, goals if planned is None else planned)
            if self.native:
                self._run_native(roots, goals, seconds)
            else:
                self._drive(roots, goals, deadline).run(self.evaluator, self.config.depth)
        finally:
            elapsed = time.perf_counter() - started
            for root, visits_before in zip(roots, before, strict=True):
                root.simulations = root.native.root_visits - visits_before
                root.seconds = elapsed

    def _goals(self, roots: list[Root], simulations: Budgets | None, visits: int | None) -> list[int]:
        """Return how many visits every root is to have."""
        if simulations is None:
            return [FOREVER if visits is None else visits] * len(roots)
        each = [simulations] * len(roots) if isinstance(simulations, (int, np.integer)) else list(simulations)
        return [min(FOREVER, root.native.root_visits + int(more)) for root, more in zip(roots, each, strict=True)]

    def _prepare(self, roots: list[Root], goals: list[int]) -> None:
        """Ask about roots whose rules need priors, and make the rules for a run towards such goals."""
        asked = self.ruled(roots)
        if asked and self.native:
            self._run_native(asked, [0] * len(asked), None)
        elif asked:
            self._drive(asked, [0] * len(asked), None).run(self.evaluator, 1)
        self.let_explore(roots, goals)

    @property
    def _plans(self) -> bool:
        """Whether roots may need a plan of their run."""
        return isinstance(self.config.selector, Gumbel) or isinstance(self.config.simultaneous, Gumbel)

    def ruled(self, roots: list[Root]) -> list[Root]:
        """Return the roots whose priors are needed before their search begins."""
        if self._plans:
            return roots
        used_at_all = self.config.noise is not None or self.config.forced is not None
        return [root for root in roots if root.explores] if used_at_all else []

    def let_explore(self, roots: list[Root], goals: list[int]) -> None:
        """Put noise and forced visits on roots that explore, and take them from the others; plan runs."""
        noise, forced = self.config.noise, self.config.forced
        if noise is None and forced is None and not self._plans:
            return
        for explores in (True, False):
            chosen = [(root.native, goal) for root, goal in zip(roots, goals, strict=True) if root.explores is explores]
            if not chosen:
                continue
            natives, towards = [native for native, _ in chosen], [goal for _, goal in chosen]
            set_rules(natives, towards, noise if explores else None, forced.k if forced and explores else 0.0)

    def _drive(self, roots: list[Root], goals: list[int], deadline: float | None) -> Drive:
        return Drive(roots, goals, threads=self.threads, deadline=deadline)

    def _run_native(self, roots: list[Root], goals: list[int], seconds: float | None) -> None:
        _, failure = _native.run([root.native for root in roots], goals, seconds, self.threads)
        if failure is not None:
            report: dict[str, Any] = failure
            raise_failure(report, roots[report["root"]].state)

    # The same, driven by the caller

    def ask(
        self,
        roots: Sequence[Root] | Root | None = None,
        *,
        simulations: Budgets | None = None,
        visits: int | None = None,
    ) -> Batch | None:
        """Search on until evaluations are needed, and return the states to evaluate; None when all is done.

        The first call names roots and a budget, as `run` does; later calls go on with them. With a `depth` above 1 as
        many batches may be asked for before the oldest is told; None then means that something must be told first.
        """
        if roots is not None or simulations is not None or visits is not None:
            if self._asking is not None:
                raise UsageError("a search is under way: ask() without arguments goes on with it, drop() ends it")
            self._begin_asking(roots, simulations, visits)
        elif self._asking is None:
            raise UsageError("say what to search first: searcher.ask(roots, simulations=400)")
        assert self._asking is not None
        if len(self._asking.drive.asked) >= self.config.depth:
            raise UsageError(
                f"{len(self._asking.drive.asked)} asked and not told, as many as SearchConfig.depth allows: call "
                f"tell() first"
            )
        try:
            batch = self._asking.ask()
        except BaseException:
            self._end_asking()
            raise
        if batch is None and not self._asking.drive.asked:
            self._end_asking()
        return batch

    def tell(self, logits: Any, values: Any) -> None:
        """Give the evaluations of the oldest batch asked for and not told yet; checked as an evaluator's are.

        An answer that is refused changes nothing: the batch stays asked, for `tell` to be called again or `drop`.
        """
        if self._asking is None:
            raise UsageError("nothing was asked: call ask() first")
        answer = self._asking.drive.checked(logits, values)
        try:
            self._asking.drive.answer(*answer)
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """End a search begun by `ask`; waves that were not told are forgotten."""
        if self._asking is not None:
            self._asking.drive.drop()
            self._end_asking()

    def _begin_asking(
        self, roots: Sequence[Root] | Root | None, simulations: Budgets | None, visits: int | None
    ) -> None:
        if roots is None:
            raise UsageError("say which roots to search: searcher.ask(roots, simulations=400)")
        if self.native:
            raise UsageError(
                f"{self.evaluator} runs inside the engine and is not asked from outside; to answer yourself, make the "
                f"searcher with ab.Asked() in its place: ab.Searcher(game, ab.Asked())"
            )
        chosen = self.checked_roots(roots)
        check_budget(simulations, visits, None, len(chosen))
        self.take(chosen)
        try:
            self._asking = Asking(chosen, self._drives(chosen, self._goals(chosen, simulations, visits)))
        except BaseException:
            self.give_back(chosen)
            raise

    def _drives(self, roots: list[Root], goals: list[int]) -> Iterator[Drive]:
        """Yield what is driven by the caller: what `_prepare` needs, if anything, then the search itself."""
        asked = self.ruled(roots)
        if asked:
            yield self._drive(asked, [0] * len(asked), None)
        self.let_explore(roots, goals)
        yield self._drive(roots, goals, None)

    def _end_asking(self) -> None:
        assert self._asking is not None
        asking, self._asking = self._asking, None
        for root, before in zip(asking.roots, asking.before, strict=True):
            root.simulations, root.seconds = root.native.root_visits - before, 0.0
        self.give_back(asking.roots)


PLAIN_NOISE = RootNoise()  # made once: settings check themselves when they are made


def set_rules(natives: list[Any], goals: list[int], noise: RootNoise | None, forced: float) -> None:
    """Let noise on the priors, drawn once, and forced visits hold at roots until they move on; plan runs."""
    rules_of(partial(_native.set_root_rules, natives), goals, noise, forced)


def rules_of(take: Callable[..., None], goals: list[int], noise: RootNoise | None, forced: float) -> None:
    """The same, of roots that `take` them."""
    drawn = noise or PLAIN_NOISE
    numbers = (drawn.weight, drawn.alpha or 0.0, drawn.total, forced)
    try:
        take(goals, noise is not None, *numbers)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _sizes(game: Game) -> dict[str, Any]:
    """Return what all states of a batch have in common."""
    record = game.state if isinstance(game, CompiledGame) else None
    return {
        "players": game.players,
        "actions": game.actions,
        "observation": None if game.observation is None else tuple(game.observation),
        "record": None if record is None else (record.itemsize, record.descr),
    }


def search(
    state: State,
    *,
    simulations: int | None = None,
    visits: int | None = None,
    seconds: float | None = None,
    evaluator: Any = None,
    config: SearchConfig | None = None,
) -> Result:
    """Search a state and return what was found; without an evaluator, leaves are evaluated by random rollouts."""
    state, config = checked_state(state), checked_config(config)
    budget = {"simulations": simulations, "visits": visits, "seconds": seconds}
    searcher = Searcher(state.game, evaluator, config, threads=1)
    (result,) = searcher.run(searcher.root(state), **budget)  # type: ignore[arg-type]
    return result
