"""How well does a search with the race heuristic play PyRat? Against the greedy bot, by settings.

    .venv/bin/python benchmarks/pyrat_tuning.py [--games 400] [--boards open7,tiny] [--only "c=1"] [--against greedy]

Every pair of games has a maze of its own, played with each side in each seat. Rewards are the difference or one's own
points; a score counts wins and half of the draws. The first line of a board is held against its bar.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

import measure  # first: it limits threads

import anabranch as ab
from anabranch.play.interval import interval

SIMULATIONS = 1000
HEURISTIC = "search:evaluator=heuristic"
BARS = {"open7": 0.60, "tiny": 0.78}
LOSSES = 0.03  # of the games on open7 at the most
# What is tried: the view of rewards, and settings of the search.
CELLS = (
    ("difference", "c=1,simultaneous_temperature=0"),  # the one with the bars
    ("points", "c=1,simultaneous_temperature=0"),
    ("difference", ""),
    ("difference", "c=0.5,simultaneous_temperature=0"),
    ("difference", "simultaneous_temperature=0"),
    ("difference", "c=5,simultaneous_temperature=0"),
    ("difference", "c=1"),
    ("difference", "c=1,simultaneous_temperature=0,selector.scale=node"),
)


@dataclass(frozen=True)
class Outcome:
    """The pairs' scores of one side, and how its games ended."""

    pairs: tuple[float, ...]
    wins: int
    draws: int
    losses: int

    @property
    def score(self) -> float:
        """The share of points."""
        return fmean(self.pairs)

    def __str__(self) -> str:
        games = self.wins + self.draws + self.losses
        low, high = interval(self.pairs)
        shares = (f"{word} {count / games:5.1%}" for word, count in (("won", self.wins), ("lost", self.losses)))
        return f"{self.score:.3f} [{low:.3f}, {high:.3f}]  {'  '.join(shares)}"


def played(board: str, rewards: str, first: str, second: str, games: int) -> Outcome:
    """Play so many games, each pair on a maze of its own."""
    pairs: list[float] = []
    ends = {1.0: 0, 0.5: 0, 0.0: 0}
    for seed in range(games // 2):
        game = ab.games.load("pyrat", preset=board, seed=seed, rewards=rewards)
        match = ab.match(game, first, second, games=2, openings=0, seed=seed)
        pairs += match.pair_scores()
        for record in match.records:
            ends[record.score(0)] += 1
    return Outcome(tuple(pairs), ends[1.0], ends[0.5], ends[0.0])


def cells(only: str | None) -> Iterator[tuple[str, str, str]]:
    """Yield what is tried: the view of rewards, the settings, and the agent they make."""
    for rewards, settings in CELLS if only is None else [("difference", only)]:
        yield rewards, settings, ",".join(filter(None, (f"{HEURISTIC},simulations={SIMULATIONS}", settings)))


def main() -> None:
    """Print a line for every cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--boards", default="open7,tiny")
    parser.add_argument("--only", help="settings of a search, instead of the list")
    parser.add_argument("--against", default="greedy", help="the other agent")
    flags = parser.parse_args()
    for board in flags.boards.split(","):
        for rewards, settings, agent in cells(flags.only):
            outcome = played(board, rewards, agent, flags.against, flags.games)
            print(f"{board:7} {rewards:11} {settings or 'defaults':50} {outcome}", flush=True)
            if (rewards, settings) == CELLS[0] and flags.against == "greedy" and board in BARS:
                fine = outcome.score >= BARS[board] and (board != "open7" or outcome.losses <= LOSSES * flags.games)
                most = f", with {LOSSES:.0%} losses at the most" if board == "open7" else ""
                print(f"{board:7} the bar is {BARS[board]}{most}: {'held' if fine else 'MISSED'}", flush=True)


if __name__ == "__main__":
    measure.use_cores(1)
    main()
