"""The flags that say how to search, shared by the commands that do."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import UseAppendAction, arg

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.search.settings.config import SearchConfig
from anabranch.search.settings.mapping import from_pairs, from_toml, known_settings

EVALUATORS = (
    "rollout, rollout:count=4,max_depth=200, heuristic (the game's own), uniform, best (the network that comes with "
    "the package), a network's file (model.onnx, model.safetensors), package.module:Name, or path/to/file.py:Name"
)


def names_of_search() -> list[str]:
    """Return the settings of a search, which --set sets."""
    return [setting.key for setting in known_settings()]


def names_of_training() -> list[str]:
    """Return the settings of a training run, which --set sets."""
    from anabranch.learn.settings import TrainConfig

    return [setting.key for setting in known_settings(TrainConfig)]


@dataclass(frozen=True)
class SearchFlags:
    """A budget, an evaluator and settings."""

    simulations: Annotated[int | None, arg(help_behavior_hint="", metavar="N", help="how many simulations")] = None
    visits: Annotated[
        int | None, arg(help_behavior_hint="", metavar="N", help="search until the root has so many visits")
    ] = None
    seconds: Annotated[
        float | None, arg(help_behavior_hint="", metavar="S", help="how long to search; 2 if no budget is given")
    ] = None
    evaluator: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="NAME",
            help=f"who evaluates positions: {EVALUATORS}; if not given it is best where there is such a network and "
            "simulations or visits are counted, else rollout",
        ),
    ] = None
    config: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="FILE", help="settings of the search in a TOML file")
    ] = None
    set: Annotated[
        UseAppendAction[tuple[str, ...]],
        arg(metavar="KEY=VALUE", help="one setting, e.g. selector.c_init=2.0 or selector=Ucb1; may be repeated"),
    ] = ()
    seed: Annotated[
        int | None,
        arg(
            help_behavior_hint="",
            metavar="N",
            help="decides the start, where the game draws one, and all draws of the search",
        ),
    ] = None

    def budget(self) -> dict[str, Any]:
        """Return the budget as searches take it: simulations, visits or seconds."""
        given = {name: getattr(self, name) for name in ("simulations", "visits", "seconds")}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) > 1:
            raise UsageError(f"give one budget, not {' and '.join(f'--{name}' for name in given)}")
        for name, value in given.items():
            if not value >= 0:
                raise UsageError(f"--{name} must be at least 0, found {value}")
        return given or {"seconds": 2.0}

    setting_names = staticmethod(names_of_search)

    def settings(self) -> SearchConfig:
        """Return the settings: of the file, changed by --set, changed by --seed."""
        made = from_pairs(self.set, base=from_toml(self.config) if self.config else None)
        return made if self.seed is None else dataclasses.replace(made, seed=self.seed)

    def evaluator_for(self, game: Game) -> Any:
        """Return the evaluator; a network that was made for another game is refused.

        Without a name it is the game's ready model where simulations are counted. In seconds there are a hundred
        rollouts for every evaluation by a network, and so many of them know more.
        """
        from anabranch.evaluate.load import load
        from anabranch.evaluate.ready import ready_model

        if self.evaluator is not None:
            return load(self.evaluator, game)
        ready = ready_model(game) if "seconds" not in self.budget() else None
        return load("best" if ready is not None and ready.log.default else "rollout", game)


def with_evaluators(agents: Sequence[str], evaluator: str | None) -> list[str]:
    """Return agents' names with an evaluator for those that search and name none; one that nobody takes is a slip."""
    if evaluator is None:
        return list(agents)
    from anabranch.play.names import with_evaluator

    named = [with_evaluator(agent, evaluator) for agent in agents]
    if named == list(agents):
        raise UsageError(
            f"--evaluator {evaluator}: no agent takes it; it is for those that search and name no evaluator themselves"
        )
    return named
