"""Untouched defaults against OpenSpiel's MCTS in C++: a table for docs/open_spiel.md, and a JSON file.

    .venv/bin/python benchmarks/open_spiel_matches.py [--simulations 1000 | --seconds 0.01] [--games 400]
                                                      [--only pig,goofspiel] [--constants 1,2,3] [--trial 400] [--write]

Ours is `ab.SearchAgent(simulations=n)` or `(seconds=s)` on one thread with nothing else said. OpenSpiel gets the same
number of simulations, or `seconds` as the wall-clock limit of its search, with one random rollout per leaf and proven
results backed up; where it has proven the result it stops early. Its exploration constant is the best for it: a match
of `--trial` games is played for each of `--constants`, and the one in which we got fewest points is played to the full
number of games and stands in the table. With fewer games in the trial than in the match the match has other seeds.

Both sides play in one process, one after the other, and nobody thinks on the other's time. Our search looks at the
clock less often and has to build its answer in Python, so what it takes on top of its limit is measured on the first
position and taken off the limit beforehand. The table shows what each side really took per move, everything included.

Games come in pairs with swapped seats that share opening, dice and prizes. Where nothing else varies, pairs begin with
random plies: one in tic-tac-toe, which gives nothing away, two elsewhere. Rows that were written before stay, unless
they are played again: a whole table takes hours, most of them OpenSpiel's Othello.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import fmean

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


class Timed(ab.Agent):
    """Passes turns on one by one and remembers how long each took."""

    def __init__(self, agent: ab.Agent) -> None:
        self.agent = agent
        self.seconds: list[float] = []

    @property
    def name(self) -> str:
        return name_of(self.agent)

    def choose(self, turns: Sequence[ab.Turn]) -> list[int]:
        chosen = []
        for turn in turns:
            begun = time.perf_counter()
            chosen += ask(self.agent, [turn])
            self.seconds.append(time.perf_counter() - begun)
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

    @property
    def met(self) -> bool | None:
        """Whether the bar is; None where there is none. In tic-tac-toe nobody can do better than draw."""
        if "simulations" in self.budget:
            return self.high >= EQUAL
        if not self.native:
            return None
        return self.losses == 0 if self.game == "tic-tac-toe" else self.score >= FASTER

    def cells(self) -> list[str]:
        return [
            self.game,
            self.budget,
            f"{self.constant:g}",
            f"{self.wins} / {self.draws} / {self.losses}",
            f"{100 * self.score:.1f} %",
            f"{100 * self.low:.1f} to {100 * self.high:.1f} %",
            f"{1000 * self.our_seconds:.1f}",
            f"{1000 * self.their_seconds:.1f}",
            {True: "met", False: "missed", None: "–"}[self.met],
        ]


COLUMNS = ["game", "per move", "their c", "won / drawn / lost", "points", "95 % interval", "our ms", "their ms", "bar"]


def excess(game: ab.Game, seconds: float) -> float:
    """Return how much longer than its limit a choice takes on the game's first position; compiles on the way."""
    state = game.start()
    while state.turn == ab.CHANCE:
        state, _ = state.step(state.outcomes()[0][0])
    timed = Timed(ab.SearchAgent(seconds=seconds, threads=1))
    timed.choose([ab.Turn(state, 0, seed) for seed in range(60)])
    usual = sorted(timed.seconds[12:])[12]  # the lower quartile: other work on the machine only ever adds
    return max(0.0, usual - seconds)


def play(pairing: Pairing, games: int, constant: float, seed: int, *, simulations: int, seconds: float | None) -> Row:
    game = ab.games.load(pairing.name, **pairing.options)
    if seconds is None:
        ours = ab.SearchAgent(simulations=simulations, threads=1)
        theirs = mcts_agent(simulations=simulations, c=constant)
    else:
        allowed = max(0.2 * seconds, seconds - excess(game, seconds))
        ours = ab.SearchAgent(seconds=allowed, threads=1)
        theirs = mcts_agent(seconds=seconds, c=constant)
    sides = Timed(ours), Timed(theirs)
    last = time.perf_counter()

    def tell(progress: object) -> None:
        nonlocal last
        if time.perf_counter() - last > 15.0:
            last = time.perf_counter()
            print(f"  {pairing.title}: {progress.done} of {progress.games} games", flush=True)  # type: ignore[attr-defined]

    one = ab.match(game, *sides, games=games, openings=pairing.openings, seed=seed, progress=tell).standings[0]
    budget = f"{simulations:,} simulations" if seconds is None else f"{1000 * seconds:g} ms"
    counts = (one.games, one.wins, one.draws, one.losses, one.score, one.low, one.high)
    took = [fmean(side.seconds) for side in sides]
    return Row(pairing.title, pairing.native, budget, constant, *counts, *took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--simulations", type=int, default=1000, help="per move, for both sides")
    parser.add_argument("--seconds", type=float, help="per move, for both sides, in place of simulations")
    parser.add_argument("--only", default="", help="names of games, with commas between")
    parser.add_argument("--constants", default="1,2,3", help="exploration constants of theirs, with commas between")
    parser.add_argument("--trial", type=int, help="games for each constant; all of them unless said")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="into docs/open_spiel.md and docs/open_spiel_matches.json")
    flags = parser.parse_args()
    for pairing in PAIRINGS:
        if flags.only and pairing.name.removeprefix("open_spiel:") not in flags.only.split(","):
            continue
        rows = []
        budget = {"simulations": flags.simulations, "seconds": flags.seconds}
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
    rows = [each for each in known if (each.game, each.budget) != (row.game, row.budget)] + [row]
    titles = [pairing.title for pairing in PAIRINGS]
    rows.sort(key=lambda each: (titles.index(each.game), "ms" in each.budget, len(each.budget), each.budget))
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
