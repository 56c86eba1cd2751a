"""`anabranch perft`: the numbers by which rules are compared across programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from tyro.conf import arg

from anabranch.cli import GOOD
from anabranch.cli.options import GameFlags
from anabranch.cli.show import busy, print_json, print_table
from anabranch.game.perft import perft


@dataclass(frozen=True)
class Command(GameFlags):
    """Count lines of play and distinct states by depth."""

    depth: Annotated[int, arg(help="how many moves")] = 4
    seed: Annotated[int, arg(help="which start, where the game draws one")] = 0

    def run(self) -> int:
        """Print one row per depth."""
        game = self.load()
        with busy(f"counting {game} to depth {self.depth}"):
            rows = perft(game.start(self.seed), self.depth)
        if self.json:
            print_json([asdict(row) for row in rows])
        else:
            columns = ("depth", "sequences", "distinct", "over")
            print_table(columns, [tuple(getattr(row, column) for column in columns) for row in rows])
        return GOOD
