"""What came out of a match: standings with intervals, and every game."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from anabranch.play.interval import interval
from anabranch.play.record import EQUAL, GameRecord


@dataclass(frozen=True)
class Standing:
    """How one agent did. The score counts a win 1, a draw ½, a loss 0; see GameRecord.score for more players."""

    agent: str
    games: int
    wins: int  # games in which it got more than every other agent
    draws: int  # games in which it got as much as the best other one
    losses: int
    score: float
    low: float  # of a 95 % interval for the score, over pairs; see play/interval.py
    high: float
    mean_return: float


@dataclass(frozen=True)
class Match:
    """A match that was played. Equal matches have equal games; how long they took is not compared."""

    game: str
    agents: tuple[str, ...]
    seed: int
    openings: int | tuple[str, ...]  # random plies, or the texts of positions that pairs began with in turn
    records: tuple[GameRecord, ...]
    seconds: float = field(default=0.0, compare=False)  # of this run
    played: int = field(default=0, compare=False)  # games of this run; the others were found in the file

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """One per agent, in the order they were given."""
        return tuple(self._standing(agent) for agent in range(len(self.agents)))

    @property
    def score(self) -> float:
        """The first agent's score, from 0 to 1."""
        return self.standings[0].score

    @property
    def interval(self) -> tuple[float, float]:
        """Where the first agent's true score lies, with 95 % confidence."""
        return self.standings[0].low, self.standings[0].high

    @property
    def games_per_second(self) -> float:
        """Games of this run divided by its time."""
        return self.played / self.seconds if self.seconds > 0 else math.nan

    def pair_scores(self, agent: int = 0) -> list[float]:
        """Return an agent's mean score in every pair: the independent observations."""
        pairs: dict[int, list[float]] = defaultdict(list)
        for record in self.records:
            pairs[record.pair].append(record.score(agent))
        return [fmean(pairs[pair]) for pair in sorted(pairs)]

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.facts(), ensure_ascii=False)

    def facts(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "game": self.game,
            "agents": list(self.agents),
            "seed": self.seed,
            "openings": self.openings if isinstance(self.openings, int) else list(self.openings),
            "standings": [asdict(standing) for standing in self.standings],
            "interval": "95 %, Wilson over pairs with the variance seen",
            "seconds": self.seconds,
            "played": self.played,
            "records": [asdict(record) for record in self.records],
        }

    def rows(self) -> tuple[tuple[str, ...], list[tuple[str | int, ...]]]:
        """Return a table: its columns, and a row per agent."""
        columns: tuple[str, ...] = ("agent", "score", "95 % interval", "wins", "draws", "losses", "mean return")
        rows: list[tuple[str | int, ...]] = [
            (
                one.agent,
                f"{one.score:.3f}",
                f"{one.low:.3f} to {one.high:.3f}",
                one.wins,
                one.draws,
                one.losses,
                f"{one.mean_return:+.3f}",
            )
            for one in self.standings
        ]
        return columns, rows

    def summary(self) -> str:
        """Return one line on what was played."""
        pairs = len({record.pair for record in self.records})
        together = max((len(record.seats) for record in self.records), default=2)
        words = ("pair" if together == 2 else "round") + ("s" if pairs != 1 else "")
        words += f" of {together}" if together != 2 else ""
        if isinstance(self.openings, int):
            plies = f"{self.openings} random {'ply' if self.openings == 1 else 'plies'} each first"
            opening = plies if self.openings else "from the start"
        else:
            number = min(pairs, len(self.openings))
            opening = f"from {number} given {'position' if number == 1 else 'positions'}"
        text = f"{self.game.removesuffix('()')}: {len(self.records)} games in {pairs} {words}, {opening}"
        cut = sum(not record.finished for record in self.records)
        return text + (f"; {cut} cut off for their length" if cut else "")

    def notes(self) -> list[str]:
        """Return what a reader of the table has to know, a line each: what a score is where it is no share of wins."""
        players = max((len(record.seats) for record in self.records), default=2)
        if players == 2:
            return []
        half = f"{players / 2:g}"
        sums = f"; the {players} scores sum to {half}" if len(self.agents) == players else ""
        return [f"score: the share of opponents beaten, a tie counting half{sums}, and equal agents have 0.500"]

    def __str__(self) -> str:
        columns, rows = self.rows()
        cells = [columns, *([str(cell) for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [self.summary()]
        for row in cells:
            first, *others = (
                cell.ljust(width) if number == 0 else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join([first, *others]).rstrip())
        lines += self.notes()
        return "\n".join(lines)

    def _standing(self, agent: int) -> Standing:
        results = [0, 0, 0]
        for record in self.records:
            results[_result(record, agent)] += 1
        scores = self.pair_scores(agent)
        low, high = interval(scores)
        return Standing(
            agent=self.agents[agent],
            games=len(self.records),
            wins=results[0],
            draws=results[1],
            losses=results[2],
            score=fmean(scores) if scores else math.nan,
            low=low,
            high=high,
            mean_return=fmean(record.own_return(agent) for record in self.records) if self.records else math.nan,
        )


def _result(record: GameRecord, agent: int) -> int:
    """Return 0 for a win, 1 for a draw, 2 for a loss: an agent's best seat against the best of the others."""
    best = max(value for seat, value in zip(record.seats, record.returns, strict=True) if seat == agent)
    other = max(value for seat, value in zip(record.seats, record.returns, strict=True) if seat != agent)
    return 1 if abs(best - other) <= EQUAL else 0 if best > other else 2
