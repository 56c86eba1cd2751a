"""A network that learnt the rules, as a model to plan in: torch inside, NumPy at its border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.evaluate.torch import Torch
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.models.model import Afterstate, Initial, Transition

if TYPE_CHECKING:
    from torch import Tensor

    from anabranch.nets.world import Outcome, WorldModel

Floats = npt.NDArray[np.float32]


class Seen(NamedTuple):
    """What is seen at roots, and who moves there."""

    observations: Floats
    movers: npt.NDArray[np.int64]


class LearnedModel:
    """A `WorldModel` as `ab.plan` takes one. Latents bring their mover along, since networks count from it.

    `discount` is that of the game; a step whose chance to end the game is above one half ends it, and the discount of
    all others is weighed with the chance that they do not. Actions are legal where that is more likely than not, and
    the likeliest is where none would be.
    """

    view, discount = "mover", None

    def __init__(self, net: WorldModel, discount: float = 1.0) -> None:
        self.net, self.keeps = net, discount
        shape = net.shape
        self.actions, self.players, self.returns = shape.actions, shape.players, (shape.low, shape.high)
        self.name = f"a {net.architecture} of {shape.game}"

    def initial(self, observations: Any) -> Initial:
        """Return latents of what is seen: a `Seen`, or observations alone where player 0 moves."""
        import torch

        seen, movers = (
            observations if isinstance(observations, Seen) else (observations, np.zeros(len(observations), np.int64))
        )
        with torch.inference_mode():
            given = torch.from_numpy(np.ascontiguousarray(seen, np.float32))
            latent = self.net.represent(given)
            told = self.net.predict(latent)
            values = self.net.scale(told.free)
        return Initial((latent.numpy(), movers), told.logits.numpy(), values.numpy(), _legal(told.legal), movers)

    def recurrent(self, latent: Any, action: Any) -> Transition:
        """Return where actions lead."""
        import torch

        inside, movers = latent
        with torch.inference_mode():
            return self._told(*self.net.step(torch.from_numpy(inside), _numbers(action)), movers)

    def _told(self, following: Tensor, outcome: Outcome, movers: npt.NDArray[np.int64]) -> Transition:
        """Return what is said of steps and of where they led."""
        import torch

        with torch.inference_mode():
            told = self.net.predict(following)
            values, rewards = self.net.scale(told.free), self.net.reward_scale(outcome.reward)
            ends = torch.sigmoid(outcome.end).numpy().astype(np.float64)
            after = (movers + outcome.mover.argmax(dim=1).numpy()) % self.players
        discount = np.where(ends > 0.5, 0.0, self.keeps * (1.0 - ends))
        return Transition(
            (following.numpy(), after),
            rewards.numpy(),
            told.logits.numpy(),
            values.numpy(),
            discount,
            _legal(told.legal),
            after,
        )


class LearnedDice(LearnedModel):
    """The same of a model with chance in it: outcomes are its codes."""

    def __init__(self, net: WorldModel, discount: float = 1.0) -> None:
        super().__init__(net, discount)
        self.outcomes = net.codes

    def afterstate(self, latent: Any, action: Any) -> Afterstate:
        """Return where actions lead before chance decides, and how likely its codes are."""
        import torch

        inside, movers = latent
        with torch.inference_mode():
            after, likely = self.net.afterstate(torch.from_numpy(inside), _numbers(action))
            chances = torch.softmax(likely.double(), dim=1)
        return Afterstate((after.numpy(), movers), chances.numpy())

    def chance(self, latent: Any, outcome: Any) -> Transition:
        """Return where codes lead."""
        import torch

        inside, movers = latent
        with torch.inference_mode():
            codes = torch.nn.functional.one_hot(_numbers(outcome), self.outcomes).float()
            return self._told(*self.net.chance(torch.from_numpy(inside), codes), movers)


def model_of(evaluator: Any, game: Game) -> Any:
    """Return the model to plan in: one that is given, or that of a network in an evaluator."""
    if callable(getattr(evaluator, "recurrent", None)):
        return evaluator
    if isinstance(evaluator, Torch) and callable(getattr(evaluator.module, "represent", None)):
        net: Any = evaluator.module
        return (LearnedDice if net.codes else LearnedModel)(net, float(game.discount))
    raise UsageError(f"{evaluator} is no learned model: it does not say where actions lead")


def observed(game: Game, states: Sequence[State]) -> tuple[Seen, npt.NDArray[np.bool_]]:
    """Return what whoever moves sees in some positions, and what is legal there."""
    legal = np.zeros((len(states), game.actions), np.bool_)
    movers = np.zeros(len(states), np.int64)
    seen = []
    for row, state in enumerate(states):
        movers[row] = alone(state)
        seen.append(state.observe(int(movers[row])))
        legal[row, list(state.choices(int(movers[row])))] = True
    return Seen(np.stack(seen), movers), legal


def alone(state: State) -> int:
    """Return who decides; refuse where several do at once."""
    turn = state.turn
    if not isinstance(turn, tuple) or len(turn) != 1:
        raise UsageError(
            f"{state.game.name}: players choose at once, and a learned model knows one who moves at a time; "
            f'method = "alphazero" learns such games'
        )
    return int(turn[0])


def _numbers(given: Any) -> Tensor:
    """Return numbers of actions or outcomes; the planner uses its arrays again."""
    import torch

    return torch.from_numpy(np.array(given, np.int64))


def _legal(logits: Tensor) -> npt.NDArray[np.bool_]:
    """Return which actions are more likely legal than not, never none."""
    said = logits.numpy()
    legal: npt.NDArray[np.bool_] = said > 0.0
    legal[np.arange(len(said)), said.argmax(axis=1)] = True
    return legal
