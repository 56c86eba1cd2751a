"""`anabranch rate`: how strong the models of a run are."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import GOOD, INTERRUPTED
from anabranch.cli.output import say
from anabranch.cli.progress import progress
from anabranch.cli.show import print_json, print_table


@dataclass(frozen=True)
class Command:
    """Rate the models of a training run against fixed agents, with 95 % intervals."""

    run_folder: Annotated[Positional[Path], arg(metavar="RUN", help="the folder of a training run")]
    models: Annotated[int, arg(help="how many models, spread over the run, the newest among them")] = 3
    games: Annotated[
        int | None, arg(help_behavior_hint="", metavar="N", help="games of each match; as the run says if not given")
    ] = None
    simulations: Annotated[
        int | None, arg(help_behavior_hint="", metavar="N", help="of the models; as the run says if not given")
    ] = None
    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Play what is missing, and print the table."""
        from anabranch.learn.rating import chosen_models, rate
        from anabranch.learn.run_folder import RunFolder
        from anabranch.learn.train import load_game

        with RunFolder.open(self.run_folder, say) as run, progress(f"rating {self.run_folder}") as show:
            given = {name: getattr(self, name) for name in ("games", "simulations")}
            given = {name: value for name, value in given.items() if value is not None}
            settings = dataclasses.replace(run.config.rating, **given)
            try:
                found = rate(run, load_game(run.game), settings, chosen_models(run, self.models), show)
            except KeyboardInterrupt:
                say("interrupted; matches that were finished are kept, and the same command goes on")
                return INTERRUPTED
        if found is None:
            say("there is nothing to rate: no model yet, or a game for one player")
        elif self.json:
            print_json({"ratings": [dataclasses.asdict(each) for each in found.rated], "settings": found.settings})
        else:
            print(
                f"in Elo points above {settings.anchors.split()[0]}; models search {settings.simulations} simulations"
            )
            print_table(*found.rows())
        return GOOD
