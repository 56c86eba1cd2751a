"""`anabranch fork`: a new run from a model of another."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, UseAppendAction, arg

from anabranch.cli import GOOD
from anabranch.cli.options import flags_of
from anabranch.cli.search_flags import names_of_training
from anabranch.cli.show import print_json


@dataclass(frozen=True)
class Command:
    """Begin a training run with a model of another one, and other settings if wanted."""

    run_folder: Annotated[Positional[Path], arg(metavar="RUN", help="the folder of a training run")]
    to: Annotated[Positional[Path], arg(metavar="DIR", help="the folder of the new one")]
    model: Annotated[
        int | None, arg(help_behavior_hint="", metavar="N", help="which model; the newest if not given")
    ] = None
    config: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="FILE", help="settings in a TOML file, over those of the run")
    ] = None
    set: Annotated[
        UseAppendAction[tuple[str, ...]],
        arg(metavar="KEY=VALUE", help="one setting, e.g. learner.rate=0.001; may be repeated"),
    ] = ()
    json: Annotated[bool, arg(help="print for machines")] = False

    setting_names = staticmethod(names_of_training)

    def run(self) -> int:
        """Make the folder and say how to train in it."""
        from anabranch.learn.fork import fork
        from anabranch.learn.game_of_run import name_here
        from anabranch.learn.run_folder import RunFolder
        from anabranch.search.settings.mapping import from_pairs, from_toml

        with RunFolder.open(self.run_folder) as run:
            settings, said, game = run.config, run.game, name_here(run)
        if self.config:
            settings = from_toml(self.config, base=settings)
        settings = from_pairs(self.set, base=settings)
        row = fork(self.run_folder, self.to, model=self.model, config=settings)
        words = ["anabranch", "train", game, "--run", str(self.to), *flags_of(said)]
        if self.json:
            print_json({"folder": str(self.to), "model": row, "train": words})
        else:
            print(f"{self.to} begins with a model of {self.run_folder}; to train it:\n  {shlex.join(words)}")
        return GOOD
