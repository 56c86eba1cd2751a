"""`anabranch check`: the laws of a game, tested by play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

from anabranch.cli import GAME, GOOD
from anabranch.cli.options import GameFlags
from anabranch.cli.show import busy, print_json
from anabranch.game.check import check


@dataclass(frozen=True)
class Command(GameFlags):
    """Play a game at random and say which laws its rules break."""

    seconds: Annotated[float, arg(help="how long to play")] = 5.0
    seed: Annotated[int, arg(help="which random games")] = 0

    def run(self) -> int:
        """Print the report; the exit code says whether all laws hold."""
        game = self.load()
        with busy(f"compiling {game}, then checking it for {self.seconds:g} s"):
            report = check(game, seconds=self.seconds, seed=self.seed)
        if self.json:
            print_json(report.to_json())
        else:
            print(report)
        return GOOD if report.ok else GAME
