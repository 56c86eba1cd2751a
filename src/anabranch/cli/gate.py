"""`anabranch gate`: whether one agent is better than another, by as few games as that takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import GOOD
from anabranch.cli.match import AGENTS, again, interrupted, path_of, read_openings, written
from anabranch.cli.options import GameFlags
from anabranch.cli.positions import OR_INPUT, POSITION
from anabranch.cli.progress import progress
from anabranch.cli.search_flags import EVALUATORS, with_evaluators
from anabranch.cli.show import print_json
from anabranch.play.gate import MOST_PAIRS, GateSeries
from anabranch.play.match import Progress
from anabranch.play.sequential import Rates


@dataclass(frozen=True, kw_only=True)
class Command(GameFlags):
    """Play pairs until it is known whether one agent is better than another."""

    first: Annotated[Positional[str], arg(metavar="A", help=f"who wants to be promoted: {AGENTS}")]
    second: Annotated[Positional[str], arg(metavar="B", help="whom it has to beat")]
    evaluator: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="NAME",
            help=f"who evaluates positions for agents that search and name nobody: {EVALUATORS}",
        ),
    ] = None
    most: Annotated[int, arg(metavar="PAIRS", help="how many pairs are played if nothing is known before")] = MOST_PAIRS
    equal: Annotated[float, arg(help="a mean score at which A shall not be promoted")] = Rates.equal
    better: Annotated[float, arg(help="a mean score at which it shall")] = Rates.better
    wrongly_promoted: Annotated[
        float, arg(metavar="P", help="how often A may be promoted although it is no better than --equal")
    ] = Rates.wrongly_promoted
    wrongly_refused: Annotated[
        float, arg(metavar="P", help="how often A may be refused although it is as good as --better")
    ] = Rates.wrongly_refused
    openings: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="PLIES|TEXT|FILE",
            help="random plies each pair begins with, four or a tenth of a game if not given; or positions that pairs "
            f"begin with in turn, with empty lines between them, each {POSITION}{OR_INPUT}",
        ),
    ] = None
    seed: Annotated[int, arg(help="decides everything random")] = 0
    abreast: Annotated[int, arg(help="how many games run at once; changes nothing but the speed")] = 64
    out: Annotated[
        Path | None, arg(metavar="FILE", help="write every finished pair here; the same command goes on from it")
    ] = None
    same_agents: Annotated[
        bool, arg(help="agents of the same names are those of the file, where their code differs or cannot be told")
    ] = False

    def run(self) -> int:
        """Print the verdict; interrupted, save what is finished and say how to go on."""
        game = self.load()
        series = GateSeries(
            game,
            with_evaluators((self.first, self.second), self.evaluator),
            rates=Rates(self.equal, self.better, self.wrongly_promoted, self.wrongly_refused),
            most=self.most,
            openings=read_openings(game, self.openings),
            seed=self.seed,
            abreast=self.abreast,
        )
        path = path_of(series, self.out)
        try:
            with (
                progress(
                    f"playing at most {self.most} pairs of {series.game}, no move yet; new rules are compiled first"
                ) as show,
                written(series, path, same_agents=self.same_agents),
            ):
                series.decide(lambda so_far: show(told(series, so_far)))
        except KeyboardInterrupt:
            flags = ("evaluator", "most", "equal", "better", "wrongly_promoted", "wrongly_refused")
            words = ["gate", self.game, self.first, self.second]
            return interrupted(
                series, path, lambda file: again(self, words, (*flags, "openings", "seed", "abreast"), file)
            )
        found = series.gate()
        if self.json:
            print_json(found.facts())
        else:
            print(found)
        return GOOD


def told(series: GateSeries, so_far: Progress) -> str:
    """Return one line on how far a gate has come."""
    bets = series.bets
    rate = f", {so_far.moves / so_far.seconds:.0f} a second" if so_far.seconds > 0 else ""
    score = f", score {so_far.score:.3f}" if so_far.score is not None else ""
    return (
        f"{bets.pairs} of at most {series.pairs} pairs, {so_far.moves} moves{rate}{score}; "
        f"bets e^{bets.better:.2f} for, e^{bets.worse:.2f} against"
    )
