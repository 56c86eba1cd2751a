"""The driver of the engine: roots that keep their graphs, searched alone or many abreast."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from anabranch import _native
from anabranch.errors import CycleError, GameError, MismatchError, UsageError
from anabranch.evaluate.batch import Batch, as_evaluator, opinions
from anabranch.evaluate.native import Rollout
from anabranch.game.game import Game
from anabranch.game.random import Random
from anabranch.game.state import State
from anabranch.search.config import SearchConfig
from anabranch.search.graph import Graph
from anabranch.search.native import native_config, native_evaluator, native_rules, supported
from anabranch.search.reference import Reference
from anabranch.search.result import Result

FOREVER = 2**63 - 1


class Root:
    """One state being searched, with all that was found below it."""

    def __init__(self, searcher: Searcher, state: State, stream: int, hash_bits: int = 64) -> None:
        self.searcher = searcher
        self.state = state
        rules, config, evaluator, owner = searcher.translated(state.game, hash_bits)
        try:
            self.native = _native.Search(rules, config, evaluator, stream, state.data, owner)
        except _native.SearchFailed as failure:
            raise_failure(failure.args[0], state)
        self.simulations = 0
        self.seconds = 0.0

    @property
    def graph(self) -> Graph:
        """The nodes and edges found so far."""
        return Graph(self.native, self.state)

    @property
    def result(self) -> Result:
        """What the searches so far found."""
        return self.graph.result(self.simulations, self.seconds)


class Searcher:
    """A game's search: make roots, then run them, together or one by one; graphs stay for the next run."""

    def __init__(
        self, game: Game, evaluator: Any = None, config: SearchConfig | None = None, *, threads: int | None = None
    ) -> None:
        self.game = game
        self.evaluator = as_evaluator(Rollout() if evaluator is None else evaluator)
        self.config = config or SearchConfig()
        if not supported(self.config):
            raise UsageError(
                f"the engine has no {type(self.config.simultaneous).__name__} yet; ab.Reference searches with it"
            )
        if threads is not None and threads < 1:
            raise UsageError(f"threads must be at least 1, found {threads}")
        self.threads = threads or min(os.cpu_count() or 1, 64)
        self._translations: dict[tuple[int, int], tuple[Game, tuple[Any, Any, Any]]] = {}
        self.native = self.translated(game)[2].native
        self._streams = 0

    def translated(self, game: Game, hash_bits: int = 64) -> tuple[Any, Any, Any, Any]:
        """Return rules, settings, evaluator and its owner as the engine takes them; settings are made once per instance."""
        place = (id(game), hash_bits)
        if place not in self._translations:  # the game is kept too, so that its id stays its own
            made = (native_config(self.config, game, hash_bits), *native_evaluator(self.evaluator, game))
            self._translations[place] = (game, made)
        return (native_rules(game), *self._translations[place][1])

    def root(self, state: State) -> Root:
        """Return a new root; each has random numbers of its own."""
        if state.game is not self.game and type(state.game) is not type(self.game):
            raise UsageError(f"this searcher plays {self.game.name}, the state is of {state.game.name}")
        self._streams += 1
        return Root(self, state, self._streams - 1)

    def run(
        self,
        roots: Sequence[Root] | Root,
        *,
        simulations: int | None = None,
        visits: int | None = None,
        seconds: float | None = None,
    ) -> list[Result]:
        """Search every root: so many simulations more, or until it has so many visits, or for so many seconds.

        An exception in the game or the evaluator comes out as it was raised; every graph is then as it was before the
        playout in which it happened, and the next run goes on from there.
        """
        roots = [roots] if isinstance(roots, Root) else list(roots)
        given = [budget for budget in (simulations, visits, seconds) if budget is not None]
        if len(given) != 1 or not given[0] >= 0:
            raise UsageError("give one budget, not negative: simulations=, visits= or seconds=")
        if len({id(root) for root in roots}) < len(roots):
            raise UsageError("a root was given twice")
        goals = [
            root.native.root_visits + simulations if simulations is not None else FOREVER if visits is None else visits
            for root in roots
        ]
        before = [root.native.root_visits for root in roots]
        started = time.perf_counter()
        try:
            if self.native:
                self._run_native(roots, goals, seconds)
            else:
                self._run_asking(roots, goals, None if seconds is None else started + seconds)
        finally:
            elapsed = time.perf_counter() - started
            for root, visits_before in zip(roots, before, strict=True):
                root.simulations = root.native.root_visits - visits_before
                root.seconds = elapsed
        return [root.result for root in roots]

    def _run_native(self, roots: list[Root], goals: list[int], seconds: float | None) -> None:
        _, failure = _native.run([root.native for root in roots], goals, seconds, self.threads)
        if failure is not None:
            raise_failure(failure, roots[failure["root"]].state)

    def _run_asking(self, roots: list[Root], goals: list[int], deadline: float | None) -> None:
        """Let all roots walk to a leaf, ask the evaluator about all leaves at once, and so on."""
        begin = [True] * len(roots)
        try:
            while True:
                asked: list[tuple[int, list[tuple[Any, int]]]] = []
                for number, root in enumerate(roots):
                    rows = self._walk(root, goals[number], begin[number], deadline)
                    begin[number] = not rows
                    if rows:
                        asked.append((number, rows))
                if not asked:
                    return
                self._answer(roots, asked)
        except BaseException:
            for root in roots:
                root.native.undo()
            raise

    def _walk(self, root: Root, goal: int, begin: bool, deadline: float | None) -> list[tuple[Any, int]]:
        """Go on with a root until it asks or is done; finished playouts are followed by new ones."""
        while True:
            if begin and root.native.ready:
                late = deadline is not None and time.perf_counter() >= deadline
                if root.native.over or root.native.root_visits >= goal or late:
                    return []
            rows = root.native.proceed(begin)
            if isinstance(rows, dict):
                raise_failure(rows, root.state)
            if rows:
                return list(rows)
            begin = True

    def _answer(self, roots: list[Root], asked: list[tuple[int, list[tuple[Any, int]]]]) -> None:
        states = [State(roots[number].state.game, data) for number, rows in asked for data, _ in rows]
        keys = [key for _, rows in asked for _, key in rows]
        seeds = [roots[number].native.evaluation_seed for number, rows in asked for _ in rows]
        said = opinions(self.evaluator, Batch(states, keys, seeds))
        at = 0
        for number, rows in asked:
            mine = said[at : at + len(rows)]
            seats = [state.turn for state in states[at : at + len(rows)]]
            at += len(rows)
            game = roots[number].state.game
            logits: list[Any] = []
            for opinion, acting in zip(mine, seats, strict=True):
                table = None
                if opinion.logits is not None:
                    assert isinstance(acting, tuple)
                    table = np.zeros((game.players, game.actions))
                    table[list(acting)] = opinion.logits
                logits.append(table)
            roots[number].native.answer(logits, np.array([opinion.values for opinion in mine]))


def search(
    state: State,
    *,
    simulations: int | None = None,
    visits: int | None = None,
    seconds: float | None = None,
    evaluator: Any = None,
    config: SearchConfig | None = None,
) -> Result:
    """Search a state and return what was found; without an evaluator, leaves are judged by random rollouts."""
    config = config or SearchConfig()
    budget = {"simulations": simulations, "visits": visits, "seconds": seconds}
    if not supported(config):  # averaging selectors are not in the engine yet
        return Reference(state, Rollout() if evaluator is None else evaluator, config).run(**budget)  # type: ignore[arg-type]
    searcher = Searcher(state.game, evaluator, config, threads=1)
    (result,) = searcher.run(searcher.root(state), **budget)  # type: ignore[arg-type]
    return result


def raise_failure(failure: dict[str, Any], root: State) -> NoReturn:
    """Raise what went wrong in a game: the user's own exception where a verb raised, with the line that led there."""
    game, state = root.game, failure["state"]
    line = " ".join(str(row[0]) if len(row) == 1 else str(tuple(row)) for row in failure["line"]) or "none, at the root"
    note = f"while searching {game.name}; actions from the root: {line}"
    if failure["cause"] == "cycle":
        raise CycleError(
            f"{game.name} came back to a state of the same line of play, but declares no cycles. Set self.cycles = "
            f"'bootstrap' or a number in __init__, or put what differs into the state. Actions from the root: {line}"
        )
    if failure["cause"] == "too_many_choices":
        raise GameError(f"{game.name}: the joint choices of the acting players do not fit into 32 bits; {note}")
    try:
        if failure["exception"] is not None:
            raise failure["exception"]
        _repeat(game, failure, state)
    except BaseException as error:
        error.add_note(note)
        raise
    raise MismatchError(
        f"{game.name}: {failure['verb']} failed inside the search, but not when it was called again on the same state; "
        f"rules must be functions of their state alone. {note}"
    )


def _repeat(game: Game, failure: dict[str, Any], state: Any) -> None:
    """Call the verb that failed once more, interpreted if it was compiled, so that it raises here."""
    rules, verb = game.rules, failure["verb"]
    if verb == "step":
        rules.step(state, failure["actions"])
    elif verb == "legal":
        if not rules.legal(state, failure["player"]):
            raise GameError(f"{game.name}: acting player {failure['player']} has no legal action in\n{State(game, state)}")
    elif verb == "same":
        stands = rules.same(state, failure["player"], failure["action"])
        if not 0 <= stands < game.actions:
            raise GameError(f"{game.name}: same returned {stands}, but ids are below {game.actions}")
    elif verb == "draw":
        rules.draw(state, Random(failure["random"]))
    elif verb == "bounds":
        low, high = rules.bounds(state)
        if not np.isfinite([low, high]).all():
            raise GameError(f"{game.name}: bounds must be finite, found {low}, {high}")
    else:
        getattr(rules, verb)(state)
