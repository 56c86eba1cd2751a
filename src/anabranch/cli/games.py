"""`anabranch games`: what there is to play."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch import games
from anabranch.cli import GOOD
from anabranch.cli.options import NAMES_OF_GAMES
from anabranch.cli.show import print_json, print_table
from anabranch.game.describe import describe


@dataclass(frozen=True)
class Command:
    """List the built-in games, or describe one."""

    name: Annotated[
        Positional[str | None],
        arg(help_behavior_hint="", metavar="[GAME]", help=f"describe this one: {NAMES_OF_GAMES}"),
    ] = None
    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Print the list or the description."""
        if self.name is not None:
            about = describe(games.load(self.name))
            if self.json:
                print_json(asdict(about))
            else:
                print(about)
            return GOOD
        every = [describe(games.load(name)) for name in games.names()]
        if self.json:
            print_json([asdict(about) for about in every])
        else:
            print_table(
                ("game", "players", "kind", "what it is"),
                [(about.name, about.players, about.kind, about.summary) for about in every],
            )
        return GOOD
