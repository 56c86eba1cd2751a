"""Matches against OpenSpiel's MCTS in C++ at equal time per move: a table for docs/open_spiel.md, and a JSON file.

    .venv/bin/python benchmarks/open_spiel_matches.py [--games 200] [--seconds 0.01] [--only pig,goofspiel] [--write]

Both sides play in one process, one after the other, on one thread, and nobody thinks on the other's time. OpenSpiel
gets `seconds` as the wall-clock limit of its search, with the settings of its own example (UCT, c = 2, one random
rollout per leaf, proven results backed up); where it has proven the result it stops early. We choose by UCB1 with c = 1
and one random rollout per leaf, the same for every game (docs/open_spiel.md says what else was tried before that was
settled), and play the largest entry of the policy also where players choose at once. Our search looks at the clock
less often and has to build its answer in Python, so what it takes on top of its limit is measured on the first position
and taken off the limit beforehand. The table shows what each side really took per move, everything included.

Games come in pairs with swapped seats that share opening, dice and prizes. Where nothing else varies, pairs begin with
random plies: one in tic-tac-toe, which gives nothing away, two in connect four and breakthrough.
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

import anabranch as ab
from anabranch.play.agent import ask, name_of
from anabranch.play.open_spiel import mcts_agent

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- matches:begin -->", "<!-- matches:end -->"
BAR = 0.6


@dataclass(frozen=True)
class Pairing:
    """A game as both sides play it: its name and arguments here, what OpenSpiel calls it, and how pairs begin."""

    title: str
    name: str
    options: dict[str, object]
    openings: int
    rules: str  # native or adapter
    bar: str  # points, draws or none


# Sizes are OpenSpiel's defaults.
PAIRINGS = [
    Pairing("tic-tac-toe", "tic_tac_toe", {}, 1, "native", "no loss"),
    Pairing("connect four", "connect_four", {}, 2, "native", "60 %"),
    Pairing("pig, 100 points", "pig", {"target": 100}, 0, "native", "60 %"),
    Pairing("goofspiel, 13 cards", "goofspiel", {"cards": 13, "prizes": "random"}, 0, "native", "60 %"),
    Pairing("breakthrough, 8×8", "open_spiel:breakthrough", {}, 2, "adapter", "–"),
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
    rules: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float
    high: float
    our_seconds: float
    their_seconds: float
    bar: str

    @property
    def met(self) -> bool:
        return {"no loss": self.losses == 0, "60 %": self.score >= BAR}.get(self.bar, True)

    def cells(self) -> list[str]:
        return [
            self.game,
            self.rules,
            f"{self.wins} / {self.draws} / {self.losses}",
            f"{100 * self.score:.1f} %",
            f"{100 * self.low:.1f} to {100 * self.high:.1f} %",
            f"{1000 * self.our_seconds:.1f}",
            f"{1000 * self.their_seconds:.1f}",
            f"{self.bar}{'' if self.bar == '–' else ', met' if self.met else ', missed'}",
        ]


COLUMNS = ["game", "rules here", "won / drawn / lost", "points", "95 % interval", "our ms/move", "their ms/move", "bar"]


def our_agent(seconds: float) -> ab.SearchAgent:
    config = ab.SearchConfig(selector=ab.Ucb1(c=1.0))
    return ab.SearchAgent(seconds=seconds, config=config, threads=1, simultaneous_temperature=0.0)


def excess(game: ab.Game, seconds: float) -> float:
    """Return how much longer than its limit a choice takes on the game's first position; compiles on the way."""
    state = game.start()
    while state.turn == ab.CHANCE:
        state, _ = state.step(state.outcomes()[0][0])
    timed = Timed(our_agent(seconds))
    timed.choose([ab.Turn(state, 0, seed) for seed in range(60)])
    usual = sorted(timed.seconds[12:])[12]  # the lower quartile: other work on the machine only ever adds
    return max(0.0, usual - seconds)


def play(pairing: Pairing, games: int, seconds: float, seed: int) -> Row:
    game = ab.games.load(pairing.name, **pairing.options)
    ours = our_agent(max(0.2 * seconds, seconds - excess(game, seconds)))
    sides = Timed(ours), Timed(mcts_agent(seconds=seconds))
    last = time.perf_counter()

    def tell(progress: object) -> None:
        nonlocal last
        if time.perf_counter() - last > 15.0:
            last = time.perf_counter()
            print(f"  {pairing.title}: {progress.done} of {progress.games} games", flush=True)  # type: ignore[attr-defined]

    result = ab.match(game, *sides, games=games, openings=pairing.openings, seed=seed, progress=tell)
    one = result.standings[0]
    return Row(
        pairing.title,
        pairing.rules,
        one.games,
        one.wins,
        one.draws,
        one.losses,
        one.score,
        one.low,
        one.high,
        fmean(sides[0].seconds),
        fmean(sides[1].seconds),
        pairing.bar,
    )


def table(rows: Sequence[Row]) -> str:
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.01, help="per move, for both sides")
    parser.add_argument("--only", default="", help="names of games, with commas between")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="into docs/open_spiel.md and docs/open_spiel_matches.json")
    flags = parser.parse_args()
    chosen = [p for p in PAIRINGS if not flags.only or p.name.removeprefix("open_spiel:") in flags.only.split(",")]
    rows = []
    for pairing in chosen:
        rows.append(play(pairing, flags.games, flags.seconds, flags.seed))
        print(" | ".join(rows[-1].cells()), flush=True)
    print("\n" + table(rows))
    if flags.write:
        write(rows, flags.games, flags.seconds)


def write(rows: Sequence[Row], games: int, seconds: float) -> None:
    facts = {
        "seconds_per_move": seconds,
        "games": games,
        "anabranch": ab.__version__,
        "open_spiel": version("open_spiel"),
        "python": platform.python_version(),
        "ours": "UCB1 c=1, 1 rollout, simultaneous_temperature=0, one thread",
        "theirs": "pyspiel.MCTSBot, UCT c=2, 1 rollout, solve, one thread",
        "rows": [asdict(row) for row in rows],
    }
    (DOCS / "open_spiel_matches.json").write_text(json.dumps(facts, indent=1) + "\n")
    page = DOCS / "open_spiel.md"
    text = page.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}")


if __name__ == "__main__":
    main()
