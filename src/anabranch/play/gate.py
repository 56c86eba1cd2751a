"""A gate: whether one agent is better than another, by as few games as that takes, with error rates that are known.

It is a match (`match.py`: pairs, seats swapped, the same openings and dice) that stops as soon as the test of
`sequential.py` has a verdict on its pairs, taken in order. The verdict is a function of the pairs' scores alone, and
they are functions of game, agents, openings and seed; pairs that were played abreast beyond the last one needed do not
count, so nothing depends on how many run at once, on threads or on interruptions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.play.match import Progress, Series
from anabranch.play.match_result import Match
from anabranch.play.sequential import Bets, Rates, Verdict
from anabranch.search.settings.arguments import check_whole

MOST_PAIRS = 2_000


@dataclass(frozen=True)
class Gate:
    """What a gate found, and the match up to the pair that decided it."""

    verdict: Verdict  # undecided: so many pairs were not enough, and nobody is promoted
    pairs: int
    score: float  # of the first agent
    better: float  # ln of what the bet on the first agent won; at −ln of `wrongly_promoted` it is promoted
    worse: float  # and of the bet against it
    rates: Rates
    most: int
    match: Match

    @property
    def promoted(self) -> bool:
        """Whether the first agent was found to be better."""
        return self.verdict == "promoted"

    def facts(self) -> dict[str, Any]:
        """Return everything as plain data."""
        told = {name: getattr(self, name) for name in ("verdict", "pairs", "score", "better", "worse", "most")}
        left_out = ("standings", "interval")  # intervals of a number of games that was not decided by the games
        played = {name: value for name, value in self.match.facts().items() if name not in left_out}
        return {**told, "rates": asdict(self.rates), "match": played}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.facts(), ensure_ascii=False)

    def __str__(self) -> str:
        first, second = self.match.agents[:2]
        rates = self.rates
        words = {
            "promoted": f"promoted: {first} is better than {second}",
            "not promoted": f"not promoted: {first} is not better than {second} by what was asked for",
            "undecided": f"undecided after {self.pairs:,} pairs, so not promoted; a larger `most` allows more of them",
        }[self.verdict]
        bets = f"e^{self.better:.2f} for, e^{self.worse:.2f} against"
        return (
            f"{words}\n{self.pairs:,} pairs, score {self.score:.3f}; the bets stand at {bets}\n"
            f"an agent with a mean score of {rates.equal:g} is promoted with a probability of at most "
            f"{rates.wrongly_promoted:g}, one of {rates.better:g} refused with at most {rates.wrongly_refused:g}"
        )


class GateSeries(Series):
    """A match that is over when the test knows."""

    def __init__(
        self,
        game: Game,
        agents: Sequence[Any],
        *,
        rates: Rates | None = None,
        most: int = MOST_PAIRS,
        openings: int | Sequence[str | State] | None = None,
        seed: int = 0,
        abreast: int = 64,
        longest: int = 10_000,
    ) -> None:
        check_whole("most", most, 1)
        games = most * max(2, getattr(game, "players", 2))
        super().__init__(game, agents, games=games, openings=openings, seed=seed, abreast=abreast, longest=longest)
        self.rates, self.pairs = rates or Rates(), most
        self._bets = Bets(self.rates)

    @property
    def bets(self) -> Bets:
        """The test after all pairs from the first on that are finished, or as many as decided it."""
        while self._bets.verdict == "undecided" and self._bets.pairs in self.finished:
            self._bets.add(self._score(self._bets.pairs))
        return self._bets

    def decide(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Play until there is a verdict, or all pairs that are allowed."""
        self.play(progress, enough=lambda: self.bets.verdict != "undecided")

    def gate(self) -> Gate:
        """Return what is known so far."""
        bets, played = self.bets, self.result()
        records = tuple(record for record in played.records if record.pair < bets.pairs)
        match = Match(played.game, played.agents, played.seed, played.openings, records, played.seconds, played.played)
        score = fmean(self._scores()) if bets.pairs else 0.5
        return Gate(bets.verdict, bets.pairs, score, bets.better, bets.worse, self.rates, self.pairs, match)

    def _score(self, pair: int) -> float:
        return fmean(record.score(0) for record in self.finished[pair])

    def _scores(self) -> Iterator[float]:
        return (self._score(pair) for pair in range(self.bets.pairs))


def gate(
    game: Game,
    first: Any,
    second: Any,
    *,
    equal: float = 0.5,
    better: float = 0.55,
    wrongly_promoted: float = 0.05,
    wrongly_refused: float = 0.2,
    most: int = MOST_PAIRS,
    openings: int | Sequence[str | State] | None = None,
    seed: int = 0,
    abreast: int = 64,
    file: str | os.PathLike[str] | None = None,
    same_agents: bool = False,
    progress: Callable[[Progress], None] | None = None,
    longest: int = 10_000,
) -> Gate:
    """Play pairs until it is known whether the first agent is better than the second, and say which.

    An agent whose true mean score is at most `equal` is promoted with a probability of at most `wrongly_promoted`; one
    of at least `better` is refused with at most `wrongly_refused`, but for those that `most` pairs leave undecided.
    Everything else is as for ab.match; a gate and a match between the same agents may share a file.
    """
    rates = Rates(equal, better, wrongly_promoted, wrongly_refused)
    series = GateSeries(
        game,
        (first, second),
        rates=rates,
        most=most,
        openings=openings,
        seed=seed,
        abreast=abreast,
        longest=longest,
    )
    if file is None:
        series.decide(progress)
    else:
        with series.open(file, same_agents=same_agents):
            series.decide(progress)
    return series.gate()
