"""Untouched defaults against OpenSpiel's MCTS in C++: a table for docs/open_spiel.md, and a JSON file.

    .venv/bin/python benchmarks/open_spiel_matches.py [--simulations 1000 | --seconds 0.01] [--games 400]
                                                      [--only pig,goofspiel] [--constants 1,2,3] [--trial 400] [--write]
                                                      [--exact]

Ours is `ab.SearchAgent(simulations=n)` on one thread with nothing else said. OpenSpiel gets as many simulations, with
one random rollout per leaf and proven results backed up; where it has proven the result it stops early. Its
exploration constant is the best for it: a match of `--trial` games is played for each of `--constants`, and the one in
which we got fewest points is played to the full number of games and stands in the table. With fewer games in the trial
than in the match the match has other seeds.

`--seconds` is processor time, which stops while others have the core, so that a busy machine favours nobody. Its own
limit is wall-clock time, so both sides are given simulations instead: as many as took that time at the same ply of
the games before (`Pace`), everything around the search included. Ten games are played beforehand and not counted, from
which the paces start. The table shows the processor time that each side really took per move. Nobody thinks on the
other's time.

Games come in pairs with swapped seats that share opening, dice and prizes. Where nothing else varies, pairs begin with
random plies: one in tic-tac-toe, which gives nothing away, two elsewhere. `--exact` lets exact play sit in our seat
(`ab.oracle`; tic-tac-toe and Pig can be solved): what nobody can exceed against that opponent. Rows that were written
before stay, unless they are played again: a whole table takes hours, most of them OpenSpiel's Othello.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pages

import anabranch as ab
from anabranch.play.agent import ask, name_of
from anabranch.play.open_spiel import mcts_agent

DOCS = Path(__file__).resolve().parents[1] / "docs"
FILE = DOCS / "open_spiel_matches.json"
EQUAL = 0.5  # the bar at equal simulations, which the interval must reach
FASTER = 0.7  # and at equal time, for games with native rules


@dataclass(frozen=True)
class Pairing:
    """A game as both sides play it, with OpenSpiel's usual sizes: its name and arguments here, and how pairs begin."""

    title: str
    name: str
    options: dict[str, object]
    openings: int

    @property
    def native(self) -> bool:
        return not self.name.startswith("open_spiel:")


PAIRINGS = [
    Pairing("tic-tac-toe", "tic_tac_toe", {}, 1),
    Pairing("connect four", "connect_four", {}, 2),
    Pairing("Othello 8×8", "othello", {}, 2),
    Pairing("Pig, 100 points", "pig", {"target": 100}, 0),
    Pairing("Goofspiel, 13 cards", "goofspiel", {"cards": 13, "prizes": "random"}, 0),
    Pairing("Breakthrough 8×8", "open_spiel:breakthrough", {}, 2),
    Pairing("Hex 7×7", "open_spiel:hex", {"board_size": 7}, 2),
]


class Pace:
    """How many simulations take so much processor time: by the median of the last searches at the same ply."""

    FIRST = 20  # simulations of the first search
    LAST = 9  # searches that count

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.costs: dict[int, deque[float]] = {}  # by ply: processor time per simulation

    def simulations(self, ply: int) -> int:
        if not self.costs:
            return self.FIRST
        nearest = min(self.costs, key=lambda known: (abs(known - ply), known))
        return max(2, round(self.seconds / median(self.costs[nearest])))  # their root has children from the second on

    def learn(self, ply: int, spent: float, made: int) -> None:
        self.costs.setdefault(ply, deque(maxlen=self.LAST)).append(spent / made)


class Ours(ab.SearchAgent):
    """The untouched search at a pace."""

    def __init__(self, pace: Pace) -> None:
        super().__init__(simulations=Pace.FIRST, threads=1)
        self.pace = pace

    def choose(self, turns: Sequence[ab.Turn]) -> list[int]:
        [turn] = turns
        self.budget["simulations"] = simulations = self.pace.simulations(len(turn.moves))
        begun = time.process_time()
        chosen = super().choose(turns)
        self.pace.learn(len(turn.moves), time.process_time() - begun, simulations)
        return chosen


class PacedBot:
    """OpenSpiel's MCTS at a pace. It may stop early, so simulations are counted at its root."""

    def __init__(self, pace: Pace, make: Callable[[int], Any]) -> None:
        self.pace, self.make = pace, make

    def step(self, state: Any) -> int:
        ply = state.move_number()
        begun = time.process_time()
        root = self.make(self.pace.simulations(ply)).mcts_search(state)
        self.pace.learn(ply, time.process_time() - begun, root.explore_count)
        return int(root.best_child().action)


def paced_mcts(pace: Pace, constant: float) -> ab.OpenSpielAgent:
    """Return `mcts_agent(c=constant)` with as many simulations as a pace says."""

    def make(game: Any, seat: int, seed: int) -> PacedBot:
        return PacedBot(
            pace, lambda simulations: mcts_agent(simulations=simulations, c=constant).make(game, seat, seed)
        )

    return ab.OpenSpielAgent(make)


class Timed(ab.Agent):
    """Passes turns on one by one and remembers how much processor time each took."""

    def __init__(self, agent: ab.Agent) -> None:
        self.agent = agent
        self.seconds: list[float] = []

    @property
    def name(self) -> str:
        return name_of(self.agent)

    def choose(self, turns: Sequence[ab.Turn]) -> list[int]:
        chosen = []
        for turn in turns:
            begun = time.process_time()
            chosen += ask(self.agent, [turn])
            self.seconds.append(time.process_time() - begun)
        return chosen


@dataclass(frozen=True)
class Row:
    """One match."""

    game: str
    native: bool
    budget: str
    constant: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float
    high: float
    our_seconds: float
    their_seconds: float
    exact: bool = False  # exact play in our seat

    @property
    def kind(self) -> tuple[str, str, bool]:
        """What there is one row of."""
        return self.game, self.budget, self.exact

    @property
    def met(self) -> bool | None:
        """Whether the bar is; None where there is none. In tic-tac-toe nobody can do better than draw."""
        if self.exact:
            return None
        if "simulations" in self.budget:
            return self.high >= EQUAL
        if not self.native:
            return None
        return self.losses == 0 if self.game == "tic-tac-toe" else self.score >= FASTER

    def cells(self) -> list[str]:
        return [
            self.game + (", exact play" if self.exact else ""),
            self.budget,
            f"{self.constant:g}",
            f"{self.games:,}",
            f"{self.wins} / {self.draws} / {self.losses}",
            f"{100 * self.score:.1f} %",
            f"{100 * self.low:.1f} to {100 * self.high:.1f} %",
            f"{1000 * self.our_seconds:.1f}",
            f"{1000 * self.their_seconds:.1f}",
            {True: "met", False: "missed", None: "–"}[self.met],
        ]


COLUMNS = [
    "game",
    "per move",
    "their c",
    "games",
    "won / drawn / lost",
    "points",
    "95 % interval",
    "our ms",
    "their ms",
    "bar",
]


def play(
    pairing: Pairing,
    games: int,
    constant: float,
    seed: int,
    *,
    simulations: int,
    seconds: float | None,
    exact: bool = False,
) -> Row:
    game = ab.games.load(pairing.name, **pairing.options)
    sides: tuple[ab.Agent, ab.Agent]
    if seconds is None:
        sides = ab.SearchAgent(simulations=simulations, threads=1), mcts_agent(simulations=simulations, c=constant)
    else:
        sides = Ours(Pace(seconds)), paced_mcts(Pace(seconds), constant)
    if exact:
        sides = ab.OracleAgent(ab.oracle(game, max_states=10_000_000)), sides[1]
    beforehand = 2 if seconds is None else 10
    ab.match(game, ab.SearchAgent(simulations=20, threads=1), "random", games=2)  # compiles
    ab.match(game, *map(Timed, sides), games=beforehand, openings=pairing.openings, seed=seed + 1000)  # finds the pace
    timed = Timed(sides[0]), Timed(sides[1])
    last = time.perf_counter()

    def tell(progress: object) -> None:
        nonlocal last
        if time.perf_counter() - last > 60.0:
            last = time.perf_counter()
            print(f"  {pairing.title}: {progress.done} of {progress.games} games", flush=True)  # type: ignore[attr-defined]

    one = ab.match(game, *timed, games=games, openings=pairing.openings, seed=seed, progress=tell).standings[0]
    budget = f"{simulations:,} simulations" if seconds is None else f"{1000 * seconds:g} ms"
    counts = (one.games, one.wins, one.draws, one.losses, one.score, one.low, one.high)
    took = [fmean(side.seconds) for side in timed]
    return Row(pairing.title, pairing.native, budget, constant, *counts, *took, exact)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--simulations", type=int, default=1000, help="per move, for both sides")
    parser.add_argument("--seconds", type=float, help="of processor time per move, in place of simulations")
    parser.add_argument("--only", default="", help="names of games, with commas between")
    parser.add_argument("--constants", default="1,2,3", help="exploration constants of theirs, with commas between")
    parser.add_argument("--trial", type=int, help="games for each constant; all of them unless said")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exact", action="store_true", help="exact play in our seat, where a game can be solved")
    parser.add_argument("--write", action="store_true", help="into docs/open_spiel.md and docs/open_spiel_matches.json")
    flags = parser.parse_args()
    for pairing in PAIRINGS:
        if flags.only and pairing.name.removeprefix("open_spiel:") not in flags.only.split(","):
            continue
        rows = []
        budget = {"simulations": flags.simulations, "seconds": flags.seconds, "exact": flags.exact}
        trial = min(flags.trial or flags.games, flags.games)
        for constant in map(float, flags.constants.split(",")):
            rows.append(play(pairing, trial, constant, flags.seed, **budget))
            print(" | ".join(rows[-1].cells()), flush=True)
        row = min(rows, key=lambda row: row.score)
        if trial < flags.games:
            row = play(pairing, flags.games, row.constant, flags.seed + 1, **budget)
            print(" | ".join(row.cells()), flush=True)
        if flags.write:
            write(row)


def write(row: Row) -> None:
    """Put a row in the file and the whole table on the page; rows of the same game and budget are replaced."""
    known = [Row(**each) for each in json.loads(FILE.read_text())["rows"]] if FILE.exists() else []
    rows = [each for each in known if each.kind != row.kind] + [row]
    titles = [pairing.title for pairing in PAIRINGS]
    rows.sort(
        key=lambda each: (titles.index(each.game), "ms" in each.budget, len(each.budget), each.budget, each.exact)
    )
    facts = {
        "anabranch": ab.__version__,
        "open_spiel": version("open_spiel"),
        "python": platform.python_version(),
        "ours": "untouched defaults, one thread",
        "theirs": "pyspiel.MCTSBot, 1 rollout, solve, one thread; the constant with which we got fewest points",
        "rows": [asdict(each) for each in rows],
    }
    FILE.write_text(json.dumps(facts, indent=1) + "\n")
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(each.cells() for each in rows)]
    pages.fill("matches", "\n".join("| " + " | ".join(line) + " |" for line in lines), DOCS / "open_spiel.md")


if __name__ == "__main__":
    main()
