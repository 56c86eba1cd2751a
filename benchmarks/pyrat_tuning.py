"""How well does a search with the race heuristic play PyRat? By settings, selectors, weights and first play.

    .venv/bin/python benchmarks/pyrat_tuning.py [--only settings,weights,robin] [--boards open7,tiny] [--games 400]
    .venv/bin/python benchmarks/pyrat_tuning.py --try "c=1,simultaneous_temperature=0" [--against greedy]

*Settings*: the small search behind the player that docs/games/pyrat.md names, against the greedy player; the first
line is held against the bars. *Weights*: PUCT's weights A to D and first plays, against the greedy player. *Robin*:
every selector against every other, with both reports of values. All search 1,000 simulations a move. Every pair of
games has a maze of its own, played with each side in each seat; a score counts wins and half of the draws. `--write`
puts the tables into docs/simultaneous.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean

import measure  # first: it limits threads
import pages

import anabranch as ab
from anabranch.play.interval import interval

PAGE = Path(__file__).resolve().parents[1] / "docs" / "simultaneous.md"
SIMULATIONS = 1000
HEURISTIC = "search:evaluator=heuristic"
REGRET = "simultaneous=RegretMatching,simultaneous.value=visits"
BARS = {"open7": 0.60, "tiny": 0.78}
LOSSES = 0.03  # of the games on open7 at the most
AT_LEAST = 400  # games of the line with the bars
# What is tried: settings of the search; rewards are the difference of points unless a line begins with `points`.
SETTINGS = (
    f"{REGRET},simultaneous_temperature=0",  # the one with the bars
    f"{REGRET},simultaneous_temperature=0.25",
    f"{REGRET}",
    f"{REGRET},simultaneous.exploration=0.1,simultaneous_temperature=0",
    f"{REGRET},simultaneous.exploration=0.4,simultaneous_temperature=0",
    "simultaneous=RegretMatching,simultaneous_temperature=0",
    "simultaneous=RegretMatching",
    "simultaneous=MatrixGame,simultaneous.value=visits,simultaneous_temperature=0",
    "simultaneous=MatrixGame,simultaneous_temperature=0",
    "simultaneous=Exp3,simultaneous_temperature=0",
    "selector=Ucb1,simultaneous_temperature=0",
    "c=0.5,simultaneous_temperature=0",
    "c=1,simultaneous_temperature=0",
    "c=2.5,simultaneous_temperature=0",
    "c=1",
    "c=1,simultaneous_temperature=0,selector.ties=random",
    "c=1,simultaneous_temperature=0,selector.scale=node",
    f"points,{REGRET},simultaneous_temperature=0",
    "points,c=1,simultaneous_temperature=0",
)
FIRST_PLAYS = {
    "parent + 0.3": "selector.first_play.kind=parent_minus,selector.first_play.amount=-0.3",
    "parent": "selector.first_play=parent",
    "parent − 0.1": "selector.first_play.kind=parent_minus,selector.first_play.amount=0.1",
    "reduced 0.2": "selector.first_play.kind=reduced,selector.first_play.amount=0.2",
}
ROBIN = {
    "regret matching+, visits": REGRET,
    "regret matching+": "simultaneous=RegretMatching",
    "matrix, visits": "simultaneous=MatrixGame,simultaneous.value=visits",
    "matrix": "simultaneous=MatrixGame",
    "Exp3": "simultaneous=Exp3",
    "PUCT D": "c=1",
    "PUCT C": "c=1,selector.weights=C",
    "UCB1": "selector=Ucb1",
}
ROBIN_TEMPERATURE = 0.25  # of all: nearly the best choice, but not to be foreseen


@dataclass(frozen=True)
class Outcome:
    """The pairs' scores of one side, and how its games ended."""

    pairs: tuple[float, ...]
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of points."""
        return fmean(self.pairs)

    @property
    def between(self) -> str:
        low, high = interval(self.pairs)
        return f"{low:.3f} to {high:.3f}"

    def __str__(self) -> str:
        shares = (f"{word} {count / self.games:5.1%}" for word, count in (("won", self.wins), ("lost", self.losses)))
        return f"{self.score:.3f} [{self.between}]  {'  '.join(shares)}"


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


def agent(settings: str) -> tuple[str, str]:
    """Return the view of rewards and the agent that settings make."""
    words = settings.split(",") if settings else []
    rewards = "points" if words[:1] == ["points"] else "difference"
    told = [word for word in words if word != "points"]
    return rewards, ",".join([HEURISTIC, f"simulations={SIMULATIONS}", *told])


def against(board: str, settings: str, other: str, games: int) -> Outcome:
    """Play settings against an agent, and say how it went."""
    rewards, name = agent(settings)
    outcome = played(board, rewards, name, other, games)
    measure.log(f"{board:7} {settings or 'defaults':80} {outcome}")
    return outcome


def bar(board: str, outcome: Outcome) -> None:
    """Hold the player of the page against its bar."""
    fine = outcome.score >= BARS[board] and (board != "open7" or outcome.losses <= LOSSES * outcome.games)
    most = f", with {LOSSES:.0%} losses at the most" if board == "open7" else ""
    measure.log(f"{board:7} the bar is {BARS[board]}{most}: {'held' if fine else 'MISSED'}")


def settings_table(boards: Sequence[str], games: int) -> str:
    """Every line of SETTINGS against the greedy player."""
    lines = [f"| settings | {' | '.join(f'{board}: score | won | lost' for board in boards)} |"]
    lines.append("|---" + "|---:|---:|---:" * len(boards) + "|")
    for settings in SETTINGS:
        cells = []
        for board in boards:
            first = settings == SETTINGS[0]
            outcome = against(board, settings, "greedy", max(games, AT_LEAST) if first and board in BARS else games)
            if first and board in BARS:
                bar(board, outcome)
            shares = (count / outcome.games for count in (outcome.wins, outcome.losses))
            cells += [f"{outcome.score:.3f} ({outcome.between})", *(f"{share:.1%}" for share in shares)]
        lines.append(f"| `{settings}` | {' | '.join(cells)} |")
    return "\n".join([f"{games} games each, at least {AT_LEAST} for the first line.", "", *lines])


def weights_table(boards: Sequence[str], games: int) -> str:
    """PUCT with every weight of replies and some first plays against the greedy player."""
    parts = []
    for board in boards:
        lines = [f"| {board}, {games} games | {' | '.join(FIRST_PLAYS)} |", "|---" * (len(FIRST_PLAYS) + 1) + "|"]
        for weights in "ABCD":
            cells = []
            for first in FIRST_PLAYS.values():
                told = f"c=1,simultaneous_temperature=0,selector.weights={weights},{first}"
                outcome = against(board, told, "greedy", games)
                cells.append(f"{outcome.score:.3f} ({outcome.between}), lost {outcome.losses / outcome.games:.1%}")
            lines.append(f"| {weights} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def robin_table(boards: Sequence[str], games: int) -> str:
    """Every selector against every other: the row's score against the column."""
    parts = []
    for board in boards:
        scores: dict[tuple[str, str], Outcome] = {}
        for one, other in combinations(ROBIN, 2):
            names = [agent(f"{ROBIN[name]},simultaneous_temperature={ROBIN_TEMPERATURE}")[1] for name in (one, other)]
            scores[one, other] = played(board, "difference", *names, games)
            measure.log(f"{board:7} {one} against {other}: {scores[one, other]}")
        lines = [f"| {board}, {games} games a pair | all | {' | '.join(ROBIN)} |", "|---" * (len(ROBIN) + 2) + "|"]
        for row in ROBIN:
            pairs: list[float] = []
            cells = []
            for column in ROBIN:
                if row == column:
                    cells.append("")
                    continue
                straight = (row, column) in scores
                found = scores[row, column] if straight else scores[column, row]
                mine = found.pairs if straight else tuple(1.0 - score for score in found.pairs)
                low, high = interval(mine)
                cells.append(f"{fmean(mine):.2f} ({low:.2f} to {high:.2f})")
                pairs += mine
            low, high = interval(tuple(pairs))
            lines.append(f"| {row} | **{fmean(pairs):.3f}** ({low:.3f} to {high:.3f}) | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


TABLES = {"settings": settings_table, "weights": weights_table, "robin": robin_table}


def main() -> None:
    """Play, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(TABLES), help="which tables")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--boards", default="open7,tiny")
    parser.add_argument("--try", dest="tried", help="settings of a search, instead of the tables")
    parser.add_argument("--against", default="greedy", help="the other agent of --try")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    flags = parser.parse_args()
    boards = flags.boards.split(",")
    if flags.tried is not None:
        for board in boards:
            against(board, flags.tried, flags.against, flags.games)
        return
    for name in flags.only.split(","):
        table = TABLES[name](boards, flags.games)
        print(table, end="\n\n", flush=True)
        if flags.write:
            pages.fill(name, table, PAGE)


if __name__ == "__main__":
    measure.use_cores(1)
    main()
