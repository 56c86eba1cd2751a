"""Plan in a learned model: many roots abreast, each a search of the engine whose children are the model's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.errors import ModelError, UsageError
from anabranch.evaluate.asked import Asked
from anabranch.game.state import State
from anabranch.models.arrays import Latents
from anabranch.models.compiled import CompiledModel, CompiledSteps
from anabranch.models.game import ModelGame, as_tree
from anabranch.models.model import Shape, shape_of
from anabranch.models.said import as_array, by_seat, checked_column, checked_tuple
from anabranch.models.steps import Steps
from anabranch.search.engine.native import native_config
from anabranch.search.engine.root import Root
from anabranch.search.engine.searcher import Searcher, rules_of
from anabranch.search.results.result import Result
from anabranch.search.settings.arguments import BEING_SEARCHED, Budgets, check_budget, check_time, checked_config
from anabranch.search.settings.config import SearchConfig

Floats = npt.NDArray[np.float64]


class PlannedRoot(Root):
    """One observation being planned for. It cannot move on: the next observation is planned for anew."""

    def __init__(self, searcher: Planner, native: Any, state: State, stream: int) -> None:
        self.searcher, self.native, self.state, self.stream = searcher, native, state, stream
        self.simulations, self.seconds, self.explores = 0, 0.0, True
        self.running = threading.Lock()

    def advance(self, action: int | Sequence[int], *, keep: Any = "graph") -> NoReturn:
        """Refuse: a model's latents are not the world's states."""
        del action, keep
        raise UsageError("a plan is made for one observation; when the world has moved on, plan from the next one")

    def save(self, path: Any) -> NoReturn:
        """Refuse: latents live with the model's library."""
        del path
        raise UsageError("plans in a learned model are not saved: their latents live outside of the engine")


class Planner(Searcher):
    """A model's search: what is made once for many plans. `plan` makes one for a batch of observations."""

    def __init__(self, model: Any, config: SearchConfig | None = None, *, threads: int | None = 1) -> None:
        self.model, self.shape = model, shape_of(model)
        self.compiled = isinstance(model, CompiledModel)
        self._kinds: dict[bool, tuple[ModelGame, Any, Any]] = {}  # by whether the model says what is legal
        settings = checked_config(config)
        if self.shape.stochastic and (settings.max_nodes is not None or settings.max_bytes is not None):
            raise UsageError(
                "a stochastic model's plan takes no max_nodes and no max_bytes: afterstates are not evaluated"
            )
        if self.shape.stochastic and settings.depth > 1:
            raise UsageError(
                "a stochastic model's plan takes depth=1: where a path goes on is known only when its afterstate is, "
                "so no wave can be selected behind it; use width"
            )
        tree = as_tree(settings)
        super().__init__(ModelGame(self.shape, False, model), Asked(), tree, threads=threads)
        self.native = self.compiled

    @property
    def explores(self) -> bool:
        """Whether roots are searched otherwise than other nodes."""
        return self.config.noise is not None or self.config.forced is not None or self._plans

    def let_explore(self, roots: Any, goals: list[int]) -> None:
        """Put on the roots of a plan what only roots have: noise, forced visits, a Gumbel search towards a goal."""
        noise, forced = self.config.noise, self.config.forced
        rules_of(roots.explore, goals, noise, forced.k if forced else 0.0)

    def kind(self, masks: bool) -> tuple[ModelGame, Any, Any]:
        """Return the game that results show, the engine's model and settings, with or without what is legal."""
        if masks not in self._kinds:
            shape = self.shape
            native = _native.Model(
                players=shape.players,
                actions=shape.actions,
                outcomes=shape.outcomes,
                masks=masks,
                discounts=shape.discount is None,
            )
            if self.compiled:
                self.model.give_to(native)
            game = ModelGame(shape, masks, self.model)
            config = native_config(self.config, game)
            config.edge_discounts = shape.discount is None
            self._kinds[masks] = game, native, config
        return self._kinds[masks]

    def plan(
        self,
        observations: Any,
        *,
        simulations: Budgets | None = None,
        visits: int | None = None,
        seconds: float | None = None,
        legal: Any = None,
        mover: Any = None,
        streams: Sequence[int] | None = None,
    ) -> Plan:
        """Make a plan for every observation: so many simulations, or until a root has so many visits, or for a time.

        `legal`, `[B, actions]`, says what is legal at the roots, `mover`, `[B]`, who moves there; else `initial` does.
        `streams` number the random draws of every root; without them roots are counted over all plans.
        """
        told = self.model.initial(observations)
        plan = Plan(self, *self._planted(told, legal, mover, streams))
        asked = _rows_of(observations)
        if asked is not None and len(plan) != asked:
            raise ModelError(f"{self.shape.name}: initial gave {len(plan)} rows for {asked} observations")
        plan.run(simulations=simulations, visits=visits, seconds=seconds)
        return plan

    def _planted(
        self, told: Any, legal: Any, mover: Any, given: Sequence[int] | None
    ) -> tuple[Any, Any, Any, Sequence[int]]:
        """Make the roots of what `initial` said: (the engine's plan, the game, what steps through it, streams)."""
        shape, name = self.shape, self.shape.name
        latent, logits, value, *more = checked_tuple(name, "initial", told, 3, 5)
        said_legal, said_mover = (*more, None, None)[:2]
        legal, mover = said_legal if legal is None else legal, said_mover if mover is None else mover
        values = as_array(f"{name}: initial", "value", value)
        if not values.ndim:
            raise ModelError(f"{name}: initial: value has shape (), expected a row for every observation")
        rows = len(values)
        movers = np.zeros(rows, np.int64)
        if mover is not None:
            where = "initial" if mover is said_mover else "plan(mover=…)"
            movers = checked_column(f"{name}: {where}", "mover", mover, (rows,))
            strangers = (movers < 0) | (movers >= shape.players)
            if strangers.any():
                at = _first(strangers)
                raise ModelError(
                    f"{name}: {where}: mover must be one of the players 0 to {shape.players - 1}, and is {movers[at]} "
                    f"in row {at}"
                )
        values = by_seat(shape, "initial", "value", values, movers)
        if not np.isfinite(values).all():
            raise ModelError(f"{name}: initial gave a value that is not finite: root {_first(~np.isfinite(values))}")
        mask = None
        if legal is not None:
            where = "initial" if legal is said_legal else "plan(legal=…)"
            mask = checked_column(f"{name}: {where}", "legal", legal, (rows, shape.actions))
            if not mask.any(axis=1).all():
                at = int(mask.any(axis=1).argmin())
                raise ModelError(
                    f"{name}: {where}: legal has no action in row {at}; every root needs one, so plan only where "
                    f"somebody can act"
                )
        preferred = None
        if logits is not None:
            preferred = checked_column(f"{name}: initial", "logits", logits, (rows, shape.actions))
        if preferred is not None and not np.isfinite(preferred).all():
            bad = ~np.isfinite(preferred)
            if mask is not None:
                bad &= mask | (preferred != -np.inf)
            if bad.any():
                raise ModelError(f"{name}: initial gave logits that are not finite: root {_first(bad)}")
        game, model, config = self.kind(mask is not None)
        streams: Sequence[int] = range(self._streams, self._streams + rows) if given is None else given
        if len(streams) != rows:
            raise UsageError(f"{len(streams)} streams were given for {rows} observations")
        self._streams += rows if given is None else 0
        held = self.model.packed(latent, rows) if self.compiled else None
        native = _native.Plan(model, config, list(streams), preferred, values, movers, mask, held, self.threads)
        if self.compiled:
            steps: Any = CompiledSteps(native, self.model, self.shape, self.threads)
        else:
            steps = Steps(native, self.model, shape, Latents(latent, rows), mask is not None)
        return native, game, steps, streams

    def run(self, roots: Any, **budget: Any) -> list[Result]:
        """Refuse: a plan runs its own roots."""
        raise UsageError(
            "a planner makes plans: planner.plan(observations, simulations=50); plan.run(…) goes on with one"
        )


class Plan:
    """What was planned for a batch of observations. Arrays have a row per root; `plan[i]` is a root's `Result`."""

    def __init__(self, planner: Planner, native: Any, game: ModelGame, steps: Any, streams: Sequence[int]) -> None:
        self.planner, self.steps = planner, steps
        self._native, self._game, self._streams = native, game, streams
        self._tables: tuple[Any, Any, Any, Any] | None = None
        self._running = threading.Lock()
        self.simulations: npt.NDArray[np.int64] = np.zeros(len(native), np.int64)  # of the last run
        self.seconds = 0.0  # that it took

    @property
    def _searches(self) -> list[Any]:
        """The engine's searches as objects, made when somebody wants to see one."""
        return self._native.searches  # type: ignore[no-any-return]

    @cached_property
    def roots(self) -> list[PlannedRoot]:
        """The roots, each with its graph."""
        return [
            PlannedRoot(self.planner, search, State(self._game, search.state(0)), self._streams[at])
            for at, search in enumerate(self._searches)
        ]

    def run(
        self, *, simulations: Budgets | None = None, visits: int | None = None, seconds: float | None = None
    ) -> None:
        """Plan on: so many simulations more, or until every root has so many visits, or for so many seconds.

        An exception of the model comes out as it was raised; every root is then as it was before the waves in flight.
        """
        check_budget(simulations, visits, seconds, len(self))
        check_time(self.planner.config, seconds)
        if not self._running.acquire(blocking=False):
            raise UsageError(BEING_SEARCHED)
        try:
            self._run(simulations, visits, seconds)
        finally:
            self._running.release()

    def _run(self, simulations: Budgets | None, visits: int | None, seconds: float | None) -> None:
        planner, native, started = self.planner, self._native, time.perf_counter()
        before = native.visits
        if simulations is not None:
            goals = (before + np.asarray(simulations, np.int64)).tolist()
        else:
            goals = [2**63 - 1 if visits is None else int(visits)] * len(before)
        try:
            if planner.explores:
                planner.let_explore(native, goals)
            self.steps.run(goals, planner.config.depth, None if seconds is None else started + seconds)
        finally:
            self._tables = None
            self.seconds = time.perf_counter() - started
            self.simulations = native.visits - before

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, at: int) -> Result:
        root = self.roots[at]
        return root.result_of(int(self.simulations[at]), self.seconds)

    def __iter__(self) -> Iterator[Result]:
        return (self[at] for at in range(len(self)))

    def _table(self) -> tuple[Any, Any, Any, Any]:
        if self._tables is None:
            self._tables = self._native.tables()
        return self._tables

    @property
    def policy(self) -> Floats:
        """What is reported and played, `[B, actions]`, of each root's mover."""
        return self._table()[0][0]  # type: ignore[no-any-return]

    @property
    def prior(self) -> Floats:
        """The prior at the roots, `[B, actions]`."""
        return self._table()[0][1]  # type: ignore[no-any-return]

    @property
    def own_prior(self) -> Floats:
        """The prior at the roots as the model said it, without noise, `[B, actions]`."""
        return self._table()[0][3]  # type: ignore[no-any-return]

    @property
    def q(self) -> Floats:
        """What actions are worth to their mover, `[B, actions]`; NaN where never visited."""
        return self._table()[0][2]  # type: ignore[no-any-return]

    @property
    def visits(self) -> npt.NDArray[np.int64]:
        """Visits of the roots' actions, `[B, actions]`."""
        return self._table()[1]  # type: ignore[no-any-return]

    @property
    def value(self) -> Floats:
        """What the roots are worth to every player, `[B, players]`."""
        return self._table()[2]  # type: ignore[no-any-return]

    @property
    def action(self) -> npt.NDArray[np.int64]:
        """What to play at every root, `[B]`: what a Gumbel search ended with, else the most likely action."""
        ended: npt.NDArray[np.int64] = self._table()[3]
        return np.where(ended >= 0, ended, self.policy.argmax(axis=1))

    @property
    def bytes(self) -> int:
        """Memory of all graphs and latents."""
        return int(self._native.bytes) + int(self.steps.bytes)

    def __repr__(self) -> str:
        return f"<Plan of {len(self)} {'root' if len(self) == 1 else 'roots'} in {self.planner.shape.name}>"


def plan(
    model: Any,
    observations: Any,
    config: SearchConfig | None = None,
    *,
    simulations: Budgets | None = None,
    visits: int | None = None,
    seconds: float | None = None,
    legal: Any = None,
    mover: Any = None,
    threads: int | None = 1,
) -> Plan:
    """Plan in a learned model for a batch of observations; `ab.Planner` is for doing that often."""
    planner = Planner(model, config, threads=threads)
    return planner.plan(observations, simulations=simulations, visits=visits, seconds=seconds, legal=legal, mover=mover)


def _rows_of(observations: Any) -> int | None:
    """Return how many observations there are; None of things that only the model knows."""
    if isinstance(observations, list):
        return len(observations)
    shape = getattr(observations, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and shape else None


def _first(bad: npt.NDArray[np.bool_]) -> int:
    return int(np.argwhere(bad)[0][0])


__all__ = ["Plan", "PlannedRoot", "Planner", "Shape", "plan"]
