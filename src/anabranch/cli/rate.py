"""`anabranch rate`: how strong the models of a run are."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from anabranch.cli import GOOD, INTERRUPTED
from anabranch.cli.options import flags_of
from anabranch.cli.output import say
from anabranch.cli.progress import progress
from anabranch.cli.show import print_json, print_table

if TYPE_CHECKING:
    from anabranch.learn.run_folder import RunFolder
    from anabranch.learn.settings import Rating


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
        from anabranch.learn.game_of_run import game_of
        from anabranch.learn.rating import chosen_models, rate
        from anabranch.learn.run_folder import RunFolder

        with RunFolder.open(self.run_folder, say) as run, progress(f"rating {self.run_folder}") as show:
            given = {name: getattr(self, name) for name in ("games", "simulations")}
            given = {name: value for name, value in given.items() if value is not None}
            settings = dataclasses.replace(run.config.rating, **given)
            before, words = len(run.ledger.rows["ratings"]), ""
            try:
                game, models = game_of(run), chosen_models(run, self.models)
                found = rate(run, game, settings, models, show)
            except KeyboardInterrupt:
                say("interrupted; matches that were finished are kept, and the same command goes on")
                return INTERRUPTED
            if found is None:
                words = f"there is nothing to rate: {why_nobody(run, game.players, settings, self.models)}"
            elif len(run.ledger.rows["ratings"]) == before:
                words = played_already(run, settings, models)
        if words:
            say(words)
        if found is None:
            return GOOD
        if self.json:
            print_json({"ratings": [dataclasses.asdict(each) for each in found.rated], "settings": found.settings})
        else:
            print(
                f"in Elo points above {settings.anchors.split()[0]}; models search {settings.simulations} simulations"
            )
            print_table(*found.rows())
        return GOOD


def why_nobody(run: RunFolder, players: int, settings: Rating, models: int) -> str:
    """Say why a run has nobody to rate, and what to do instead."""
    if not run.ledger.rows["models"]:
        return f"{run.folder} has no model yet; anabranch train goes on with it"
    newest = run.newest_weights()
    if newest is None:
        return f"no model of {run.folder} is as it was written"
    if players > 1:
        return f"--models {models} asks for none"
    return (
        f"{run.game['name']} is a game for one player, who beats nobody. What the newest model's choices lose against "
        f"exact play, where the game can be solved, is told by\n  {regret_command(run, settings, newest[0]['file'])}"
    )


def regret_command(run: RunFolder, settings: Rating, model: str) -> str:
    """Return the command that measures a model of a run against exact play."""
    from anabranch.learn.game_of_run import name_here
    from anabranch.learn.train import mix_of

    file, thinks = run.folder / model, f"simulations={settings.simulations}"
    who = f"search:{thinks},evaluator={file}{mix_of(run.config.self_play)}"
    if run.config.method == "muzero":
        who = f"plan:{thinks},model={file}"
    return shlex.join(["anabranch", "regret", name_here(run), who, *flags_of(run.game)])


def played_already(run: RunFolder, settings: Rating, models: Sequence[int]) -> str:
    """Say that all games asked for were played before, and how many would be more."""
    from anabranch.learn.rating import model_name, played_by

    names, played = [model_name(model) for model in models], Counter[tuple[str, str]]()
    for row in run.ledger.rows["ratings"]:
        model, other = row["agents"]
        if row["settings"] == played_by(settings) and model in names and other in settings.anchors.split():
            played[model, other] += len(row["games"])
    least = min(played.values())
    who = f"{names[0]} has" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} have"
    at_least = "" if len(set(played.values())) == 1 else "at least "
    return f"{who} played {at_least}{least} games against each already; --games {2 * least} plays more"
