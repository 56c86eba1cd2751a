"""Does it pay to refresh nodes beside the path? `SearchConfig.refresh` in four games whose lines meet.

    .venv/bin/python benchmarks/staleness.py [--games 100] [--seconds 0.015] [--only othello] [--write]

Four questions, each of every setting of `refresh`, with a random rollout per leaf (`--evaluator uniform`: none):

    stale    after so many playouts from an opening, the share of nodes whose Q would change by more than 1e-9, were it
             computed again from the children as they are now, and by how much; of nodes with children, as no other
             can be stale. Half of the sample are the most visited nodes, the other half is drawn
    error    |Q(root) − exact| for whoever moves first, in late positions that `ab.solve` can solve, at equal playouts
    speed    playouts a second over those of "path", in short searches and in long ones: medians of rounds side by side,
             by the processor's clock
    points   a match against "path" at equal time a move, in pairs with swapped seats that share a random opening

Searches for the first two end half-way between two sweeps. The match goes by the wall clock: run it on a machine that
does nothing else. `--games 0` leaves it out.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import measure  # first: it limits threads
import numpy as np
import pages

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.play.interval import interval

Refresh = Literal["path", "parents", "ancestors", "sweep"]
REFRESH: tuple[Refresh, ...] = ("path", "parents", "ancestors", "sweep")
SWEEP_EVERY = 100
OPTIONS = Path(__file__).resolve().parents[1] / "docs" / "options.md"
EVALUATORS = {"rollout": ab.Rollout, "uniform": ab.Uniform}
STALE = 1e-9
DECISION = 2  # in the graph's column of kinds
BOARDS = 10  # of a game that comes in many


@dataclass(frozen=True)
class Subject:
    """A game: how it is loaded, and where to find positions that can be solved."""

    title: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    late: Mapping[str, Any] = field(default_factory=dict)  # options in which late positions differ
    plies: int = 0  # random ones, before a late position
    seeded: bool = False  # it is another game for every seed
    opening: int = 4  # random plies before a search or a game

    def game(self, seed: int = 0, **other: Any) -> ab.Game:
        """Load it."""
        seeds = {"seed": seed} if self.seeded else {}
        return ab.games.load(self.name, **{**self.options, **other, **seeds})

    def openings(self, count: int) -> list[ab.State]:
        """Return positions a few plies after the start."""
        return [walked(self.game(seed), self.opening, np.random.default_rng(seed)) for seed in range(count)]

    def solved(self, count: int, most: int = 30_000) -> Iterator[tuple[ab.State, float]]:
        """Yield positions that are not trivial and not too large, and what they are worth to whoever moves first."""
        for seed in itertools.count():
            state = walked(self.game(seed, **self.late), self.plies, np.random.default_rng(seed))
            try:
                solution = ab.solve(state, max_states=most)
            except UsageError:
                continue
            if solution.states < 200:
                continue
            yield state, float(solution.value[movers(state)[0]])
            count -= 1
            if not count:
                return


SUBJECTS = (
    Subject("connect four", "connect_four", plies=27),
    Subject("Othello 6×6", "othello", {"size": 6}, plies=23),
    Subject(
        "PyRat open7",
        "pyrat",
        {"preset": "open7", "rewards": "difference"},
        {"preset": "open5", "max_turns": 11},
        plies=7,
        seeded=True,
    ),
    Subject(
        "random graphs",
        "random_game",
        {"layers": 30, "width": 200, "choices": 8, "chance": 0.0, "zero_sum": True, "rewards_along": False},
        {"layers": 12, "width": 30},
        seeded=True,
        opening=1,
    ),
)


@dataclass(frozen=True)
class Terms:
    """How much is done."""

    playouts: int = 2050  # of searches for stale nodes, and of short ones for speed
    long: int = 10_000  # for speed
    searches: int = 8  # for stale nodes, each from another opening
    sample: int = 400  # nodes of each
    late_playouts: int = 550
    positions: int = 20  # solved
    seeds: int = 5  # of searches in each
    rounds: int = 15
    seconds: float = 0.015  # a move of the match
    games: int = 100
    evaluator: str = "rollout"


@dataclass
class Cell:
    """What a setting does in a game."""

    refresh: Refresh
    stale: float = 0.0  # a share
    behind: float = 0.0  # the mean change of those that are stale
    error: float = 0.0
    spread: float = 0.0  # the standard error of the difference to "path" in error, over positions
    rate: float = 0.0  # playouts a second
    ratio: float = 1.0
    long_ratio: float = 1.0
    pairs: list[float] = field(default_factory=list)

    @property
    def points(self) -> str:
        """The score against "path", with its interval."""
        if not self.pairs:
            return "–"
        low, high = interval(self.pairs)
        return f"{100 * fmean(self.pairs):.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def movers(state: ab.State) -> tuple[int, ...]:
    """Return the players who are to choose."""
    turn = state.turn
    return turn if isinstance(turn, tuple) else ()


def walked(game: ab.Game, plies: int, rng: np.random.Generator) -> ab.State:
    """Return a position after so many random plies; a game that ends before is begun again."""
    while True:
        state = game.start()
        for _ in range(plies):
            if state.over:
                break
            state, _ = state.step([int(rng.choice(state.legal(player))) for player in movers(state)])
        if not state.over:
            return state


def config(refresh: Refresh, seed: int) -> ab.SearchConfig:
    """Return the settings of a search."""
    return ab.SearchConfig(refresh=refresh, sweep_every=SWEEP_EVERY, seed=seed)


def searched(state: ab.State, refresh: Refresh, playouts: int, seed: int, evaluator: str) -> ab.Result:
    """Search."""
    return ab.search(state, simulations=playouts, evaluator=EVALUATORS[evaluator](), config=config(refresh, seed))


def changes(graph: Any, sample: int, rng: np.random.Generator) -> list[float]:
    """Return by how much Q of nodes with children would change, were it refreshed now: most visited, and drawn."""
    column = graph.columns
    inner = np.flatnonzero((column["kind"] == DECISION) & (column["visits"] > 1))
    inner = inner[np.argsort(-column["visits"][inner].astype(np.int64), kind="stable")]
    head, tail = inner[: sample // 2], inner[sample // 2 :]
    drawn = rng.choice(tail, min(sample - len(head), len(tail)), replace=False)
    found = []
    for number in (*head, *drawn):
        node = graph.node(int(number))
        total = column["evaluation"][number] + sum(edge.visits * edge.value for edge in node.edges)
        fresh = total / (1 + sum(edge.visits for edge in node.edges))
        found.append(float(np.abs(fresh - node.value).max()))
    return found


def staleness(subject: Subject, cells: Sequence[Cell], terms: Terms) -> None:
    """Fill in how many nodes are stale, and how far behind they are."""
    states = subject.openings(terms.searches)
    for cell in cells:
        found: list[float] = []
        for seed, state in enumerate(states):
            result = searched(state, cell.refresh, terms.playouts, seed, terms.evaluator)
            found += changes(result.graph, terms.sample, np.random.default_rng(seed))
        behind = [change for change in found if change > STALE]
        cell.stale, cell.behind = len(behind) / len(found), fmean(behind) if behind else 0.0


def errors(subject: Subject, cells: Sequence[Cell], terms: Terms) -> None:
    """Fill in how far from the truth the root's value is."""
    solved = list(subject.solved(terms.positions))
    found: dict[Refresh, list[float]] = {}
    for cell in cells:
        found[cell.refresh] = [
            fmean(
                abs(searched(state, cell.refresh, terms.late_playouts, seed, terms.evaluator).value[mover] - exact)
                for seed in range(terms.seeds)
            )
            for state, exact in solved
            for mover in movers(state)[:1]
        ]
        cell.error = fmean(found[cell.refresh])
        less = np.subtract(found[cell.refresh], found["path"])
        cell.spread = float(less.std(ddof=1) / len(less) ** 0.5) if len(less) > 1 else 0.0


def speeds(subject: Subject, cells: Sequence[Cell], terms: Terms) -> None:
    """Fill in playouts a second."""
    [state] = subject.openings(1)

    def contender(refresh: Refresh, playouts: int) -> measure.Contender:
        evaluator = EVALUATORS[terms.evaluator]()
        searcher = ab.Searcher(state.game, evaluator, config(refresh, seed=1), threads=1)
        call = lambda: searcher.run(searcher.root(state), simulations=playouts)  # noqa: E731
        return measure.Contender(refresh, call, playouts)

    short, long = (
        measure.compare([contender(cell.refresh, playouts) for cell in cells], rounds=terms.rounds)
        for playouts in (terms.playouts, terms.long)
    )
    for cell in cells:
        cell.rate = short.rate(cell.refresh)
        cell.ratio, cell.long_ratio = short.ratio(cell.refresh, "path"), long.ratio(cell.refresh, "path")


def matches(subject: Subject, cells: Sequence[Cell], terms: Terms) -> None:
    """Fill in the pairs of games that each setting played against "path"."""
    boards = min(BOARDS, terms.games // 2) if subject.seeded else 1
    for seed in range(boards):
        game, games = subject.game(seed), 2 * len(range(seed, terms.games // 2, boards))
        for cell in cells[1:]:
            sides = [
                ab.SearchAgent(
                    seconds=terms.seconds,
                    evaluator=EVALUATORS[terms.evaluator](),
                    config=config(refresh, own),
                    threads=1,
                )
                for refresh, own in ((cell.refresh, 1), ("path", 2))
            ]
            match = ab.match(game, *sides, games=games, openings=subject.opening, seed=seed, abreast=1)
            cell.pairs += match.pair_scores()
            measure.log(f"{subject.title}, {cell.refresh}: {cell.points} of {2 * len(cell.pairs)} games")


def study(subject: Subject, terms: Terms) -> list[Cell]:
    """Ask all questions about a game."""
    cells = [Cell(refresh) for refresh in REFRESH]
    for question in (staleness, errors, speeds, *([matches] if terms.games else [])):
        began = time.perf_counter()
        question(subject, cells, terms)
        measure.log(f"{subject.title}: {question.__name__} took {time.perf_counter() - began:.0f} s")
    return cells


def markdown(table: Mapping[str, Sequence[Cell]]) -> str:
    """Return the table."""
    head = ["game", "`refresh`", "stale", "behind by", "error", "speed", "long", "points against `path`"]
    body = [head, ["---", "---", "---:", "---:", "---:", "---:", "---:", "---"]]
    for title, cells in table.items():
        for cell in cells:
            behind = f"{cell.behind:.3f}" if cell.stale else "–"
            words = [title, f"`{cell.refresh}`", f"{100 * cell.stale:.0f} %", behind, f"{cell.error:.3f}"]
            body.append([*words, f"{cell.ratio:.2f}", f"{cell.long_ratio:.2f}", cell.points])
    return "\n".join("| " + " | ".join(line) + " |" for line in body)


def rows(table: Mapping[str, Sequence[Cell]], terms: Terms) -> list[measure.Row]:
    """Return a line for each cell."""
    return [
        measure.Row(
            f"{title}, {cell.refresh}",
            cell.rate,
            cells[0].rate,
            cell.ratio,
            note=f"stale {100 * cell.stale:.1f} % by {cell.behind:.4f}, error {cell.error:.4f} "
            f"(difference ± {cell.spread:.4f}), long {cell.long_ratio:.2f}, points {cell.points}",
            details=asdict(cell) | {"terms": asdict(terms)},
        )
        for title, cells in table.items()
        for cell in cells
    ]


def main(words: Sequence[str] | None = None) -> dict[str, list[Cell]]:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    for name, kind in (("playouts", int), ("long", int), ("searches", int), ("sample", int), ("late-playouts", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Terms, name.replace("-", "_")))
    parser.add_argument("--positions", type=int, default=Terms.positions, help="solved ones, for errors")
    parser.add_argument("--seeds", type=int, default=Terms.seeds, help="searches of each solved position")
    parser.add_argument("--rounds", type=int, default=Terms.rounds, help="for speed")
    parser.add_argument("--seconds", type=float, default=Terms.seconds, help="a move of the matches")
    parser.add_argument("--games", type=int, default=Terms.games, help="a match; 0 for none")
    parser.add_argument("--evaluator", choices=list(EVALUATORS), default=Terms.evaluator)
    parser.add_argument("--only", default="", help="games, by their names with commas between")
    parser.add_argument("--write", action="store_true", help="the table into docs/options.md")
    asked = vars(parser.parse_args(words))
    only, write = asked.pop("only"), asked.pop("write")
    terms, began = Terms(**asked), time.perf_counter()
    wanted = [subject for subject in SUBJECTS if not only or subject.name in only.split(",")]
    table = {subject.title: study(subject, terms) for subject in wanted}
    if write:
        pages.fill("staleness", markdown(table), OPTIONS)
    measure.finish(__file__, rows(table, terms))
    measure.log(f"{time.perf_counter() - began:.0f} s in all")
    return table


if __name__ == "__main__":
    measure.use_cores(1)
    main(sys.argv[1:])
