"""An agent that plans in a learned model: it looks at the position and at what is legal there, and asks no rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch.errors import UsageError, shown
from anabranch.evaluate.identity import Identity, identity
from anabranch.evaluate.load import load
from anabranch.game.game import Game
from anabranch.models.game import as_tree
from anabranch.models.learned import model_of, observed
from anabranch.models.planner import Planner
from anabranch.play.agent import Agent, Turn
from anabranch.play.names import read_options
from anabranch.play.search_agent import check_evaluator, sampled
from anabranch.play.search_names import differences, setting_names, with_commas
from anabranch.search.settings.arguments import check_budget, checked_config
from anabranch.search.settings.config import Gumbel, SearchConfig
from anabranch.search.settings.mapping import from_pairs

USUAL = SearchConfig(selector=Gumbel(noise=0.0, scale="range"))
OPTIONS = ("model", "simulations", "temperature")


class PlanAgent(Agent):
    """Plans every turn in a learned model, all turns abreast, and plays what the plan ended with.

    `model` is a file of `ab.nets`, an evaluator with such a network, or any model that `ab.plan` takes and that is
    given what `ab.models.learned.Seen` holds. With a `temperature` T > 0 it draws in proportion to policy^(1/T).
    """

    def __init__(
        self,
        model: Any,
        *,
        simulations: int = 50,
        config: SearchConfig | None = None,
        temperature: float = 0.0,
    ) -> None:
        check_budget(simulations, None, None)
        if not isinstance(temperature, (int, float)) or not 0.0 <= temperature < math.inf:
            raise UsageError(f"a temperature is a finite number, at least 0, found {shown(temperature)}")
        self.model = load(str(model)) if isinstance(model, (str, Path)) else model
        self.simulations, self.temperature = simulations, temperature
        self.config = USUAL if config is None else checked_config(config)
        as_tree(self.config)  # refuses what no plan has
        self._planner: tuple[Game, Planner] | None = None

    @property
    def which(self) -> Identity:
        """Which model it is."""
        return identity(self.model)

    @property
    def name(self) -> str:
        """Every setting that differs from the default, so that equal names play alike."""
        told = [f"model={self.which.text.replace(',', '+')}", f"simulations={self.simulations}"]
        told += [f"temperature={self.temperature}"] if self.temperature else []
        return "plan:" + ",".join([*told, *differences(self.config, USUAL)])

    def check(self, game: Game) -> None:
        """Refuse a game that the model was not made for."""
        check_evaluator(self.model, game)
        model_of(self.model, game)

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        if not turns:
            return []
        game = turns[0].state.game
        seen, legal = observed(game, [turn.state for turn in turns])
        plan = self._planner_of(game).plan(
            seen, simulations=self.simulations, legal=legal, mover=seen.movers, streams=[turn.seed for turn in turns]
        )
        if self.temperature == 0.0:
            return [int(action) for action in plan.action]
        policies = plan.policy.tolist()
        return [sampled(policy, self.temperature, turn.random()) for policy, turn in zip(policies, turns, strict=True)]

    def _planner_of(self, game: Game) -> Planner:
        if self._planner is None or self._planner[0] is not game:
            self._planner = game, Planner(model_of(self.model, game), self.config)
        return self._planner[1]


def make_plan(text: str) -> PlanAgent:
    """Make an agent that plans.

    Options: model=FILE, a network that was trained by the method muzero; simulations, 50 if not given; temperature; and
    every setting of a search by its dotted name, e.g. selector.considered=8.
    """
    names = setting_names()
    options = read_options(text, [*OPTIONS, *names], "plan")
    if "model" not in options:
        raise UsageError("plan: which model? Name its file, e.g. plan:model=run-tic_tac_toe/models/000012.safetensors")
    settings = [pair for pair in filter(None, text.split(",")) if pair.partition("=")[0] in names]
    given = {name: options[name] for name in ("simulations", "temperature") if name in options}
    config = from_pairs(settings, base=USUAL, flag="plan:")
    return PlanAgent(with_commas(str(options["model"])), config=config, **given)
