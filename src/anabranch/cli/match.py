"""`anabranch match`: agents against each other."""

from __future__ import annotations

import shlex
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import GOOD, INTERRUPTED
from anabranch.cli.options import GameFlags
from anabranch.cli.show import print_json, print_table
from anabranch.cli.ticker import Ticker
from anabranch.play.match import Progress, Series

AGENTS = (
    "random, search, search:simulations=800, search:seconds=0.1,evaluator=uniform,c=2, human, or path/to/file.py:Name"
)


@dataclass(frozen=True, kw_only=True)
class Command(GameFlags):
    """Play agents against each other, seats swapped, and say who is stronger."""

    first: Annotated[Positional[str], arg(metavar="A", help=f"an agent: {AGENTS}")]
    second: Annotated[Positional[str], arg(metavar="B", help="another one")]
    games: Annotated[int, arg(help="how many games; rounded up to whole pairs")] = 200
    openings: Annotated[
        int | None, arg(help="random plies each pair begins with; four, or fewer in short games, if not given")
    ] = None
    seed: Annotated[int, arg(help="decides everything random")] = 0
    abreast: Annotated[int, arg(help="how many games run at once; changes nothing but the speed")] = 64
    out: Annotated[
        Path | None, arg(metavar="FILE", help="write every finished pair here; the same command goes on from it")
    ] = None

    def run(self) -> int:
        """Print the standings; interrupted, save what is finished and say how to go on."""
        series = Series(
            self.load(),
            (self.first, self.second),
            games=self.games,
            openings=self.openings,
            seed=self.seed,
            abreast=self.abreast,
        )
        try:
            self._play(series)
        except KeyboardInterrupt:
            return self._interrupted(series)
        result = series.result()
        if self.json:
            print_json(result.facts())
        else:
            print(result.summary())
            print_table(*result.rows())
            if result.played:
                print(f"{result.played} games in {result.seconds:.1f} s, {result.games_per_second:.1f} a second")
        return GOOD

    def _play(self, series: Series) -> None:
        with Ticker(f"playing {series.games} games of {series.game!r}") as ticker:

            def tell(progress: Progress) -> None:
                ticker.tell(told(progress))

            if self.out is None:
                series.play(tell)
            else:
                with series.open(self.out):
                    series.play(tell)

    def _interrupted(self, series: Series) -> int:
        words = f"interrupted after {len(series.finished) * len(series.tables)} of {series.games} games"
        if not series.finished:
            print(f"{words}; nothing is lost, as nothing was finished", file=sys.stderr)
            return INTERRUPTED
        path = self.out
        if path is None:
            mark = zlib.crc32(repr(series.header()).encode())
            path = Path(f"match-{series.game.name}-{mark:08x}.jsonl")
            series.save(path)
        print(f"{words}, which are in {path}; to go on:\n{self._again(path)}", file=sys.stderr)
        return INTERRUPTED

    def _again(self, path: Path) -> str:
        """Return the command that goes on with the match."""
        words = ["anabranch", "match", self.game, self.first, self.second]
        for name, value in (
            ("games", self.games),
            ("openings", self.openings),
            ("seed", self.seed),
            ("abreast", self.abreast),
            ("out", path),
        ):
            if value is not None and (name == "out" or value != getattr(type(self), name)):
                words += [f"--{name}", str(value)]
        for pair in self.option:
            words += ["--option", pair]
        words += ["--interpreted"] * self.interpreted + ["--json"] * self.json
        return shlex.join(words)


def told(progress: Progress) -> str:
    """Return one line on how far a match has come."""
    words = f"{progress.done} of {progress.games} games"
    if progress.played and progress.seconds > 0:
        words += f", {progress.played / progress.seconds:.1f} a second"
    if progress.left is not None and progress.done < progress.games:
        words += f", {progress.left:.0f} s left"
    return words + (f", score {progress.score:.3f}" if progress.score is not None else "")
