"""`anabranch train`: from the rules of a game to an agent."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import UseAppendAction, arg

from anabranch.cli import GOOD, INTERRUPTED
from anabranch.cli.options import GameFlags, read_options
from anabranch.cli.output import say
from anabranch.cli.progress import progress
from anabranch.cli.search_flags import names_of_training
from anabranch.cli.show import print_json, print_table
from anabranch.learn.game_of_run import described
from anabranch.learn.settings import TrainConfig
from anabranch.learn.train import Changes, Trained, train


@dataclass(frozen=True, kw_only=True)
class Command(GameFlags):
    """Train a network for a game by self-play; the same command goes on where it stopped."""

    run_folder: Annotated[
        Path | None, arg(name="run", metavar="DIR", help="the folder of the run; run-GAME if not given")
    ] = None
    method: Annotated[
        Literal["alphazero", "muzero"] | None,
        arg(
            help_behavior_hint="",
            help="alphazero searches by the rules (the usual one), muzero learns them too and plans in what it learnt",
        ),
    ] = None
    minutes: Annotated[
        float | None, arg(help_behavior_hint="", metavar="M", help="how long the whole run takes, resumed or not")
    ] = None
    workers: Annotated[
        int | None,
        arg(
            help_behavior_hint="",
            metavar="N",
            help="processes that play beside the one that learns; 0: none, and a seed decides all",
        ),
    ] = None
    ray: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="ADDRESS",
            help="let actors of a Ray cluster play, as many as --workers says: an address, auto, or local to begin one",
        ),
    ] = None
    config: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="FILE", help="settings in a TOML file, over the game's preset")
    ] = None
    set: Annotated[
        UseAppendAction[tuple[str, ...]],
        arg(metavar="KEY=VALUE", help="one setting, e.g. search.cap.full=64 or net.blocks=3; may be repeated"),
    ] = ()
    seed: Annotated[int | None, arg(help_behavior_hint="", metavar="N", help="decides everything random")] = None

    setting_names = staticmethod(names_of_training)

    def run(self) -> int:
        """Train, and print what came of it; interrupted, save and say how to go on."""
        said = described(self.game, read_options(self.option), compiled=not self.interpreted)
        folder = self.run_folder or Path("run-" + "".join(c if c.isalnum() else "_" for c in Path(self.game).stem))
        try:
            with progress(f"training {self.game} in {folder}") as show:
                done = train(
                    folder,
                    said,
                    self._config(),
                    minutes=self.minutes,
                    workers=self.workers,
                    ray=self.ray,
                    say=say,
                    progress=lambda status: show(str(status)),
                )
        except KeyboardInterrupt:  # while it was set up or rated, or the second one
            say(f"interrupted; what was committed is in {folder}. To go on:\n{self._again()}")
            return INTERRUPTED
        if not done.whole:
            say(f"interrupted; everything is in {folder}. To go on:\n{self._again()}")
            return INTERRUPTED
        if self.json:
            print_json(facts(done))
        else:
            self._print(done)
        return GOOD

    def _config(self) -> Changes:
        """Return what flags say of settings."""
        from anabranch.search.settings.mapping import from_pairs, from_toml

        def to(usual: TrainConfig) -> TrainConfig:
            made = from_toml(self.config, base=usual) if self.config else usual
            made = from_pairs(self.set, base=made)
            return made if self.seed is None else dataclasses.replace(made, seed=self.seed)

        return Changes(to, self.method)

    def _again(self) -> str:
        return shlex.join(["anabranch", *sys.argv[1:]])

    def _print(self, done: Trained) -> None:
        print(
            f"{done.games} games, {done.positions} positions, {done.step} steps in {done.seconds / 60:.1f} min; "
            f"everything is in {done.folder}"
        )
        if done.score is not None:
            print(
                f"best moves on {done.score['positions']} frozen positions: policy alone {done.score['policy']:.1%}, "
                f"with {done.score['simulations']} simulations {done.score['search']:.1%}"
            )
        if done.rated is not None:
            print_table(*done.rated.rows())
            for score in done.rated.scores:
                print(score)
        models = sorted((done.folder / "models").glob("*.safetensors"))
        if models:
            plans = done.method == "muzero"
            agent = f"plan:model={models[-1]}" if plans else f"search:simulations=200,evaluator={models[-1]}{done.mix}"
            more = [word for pair in self.option for word in ("--option", pair)]
            more += ["--interpreted"] * self.interpreted
            measure = ["anabranch", *_measured(self.game, agent, done.players), *more]
            print(f"to measure it{', where it can be solved' * (done.players == 1)}:\n  {shlex.join(measure)}")
            play = ["anabranch", "play", self.game, "--agent", agent, *more]
            print(f"to play against it:\n  {shlex.join(play)}")


def _measured(game: str, agent: str, players: int) -> list[str]:
    """Return the command that says how well an agent plays: what it loses where one plays alone, else a match."""
    return ["regret", game, agent] if players == 1 else ["match", game, agent, "search:simulations=200"]


def facts(done: Trained) -> dict[str, Any]:
    """Return what was done as plain data."""
    made = {key: value for key, value in vars(done).items() if key not in ("folder", "rated")}
    found = done.rated
    rated = None if found is None else [dataclasses.asdict(each) for each in found.rated]
    scores = None if found is None else [dataclasses.asdict(each) for each in found.scores]
    return {**made, "folder": str(done.folder), "ratings": rated, "scores": scores}
