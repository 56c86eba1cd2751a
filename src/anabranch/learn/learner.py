"""The learner: steps of AdamW on samples of the replay, averaged weights for self-play, and a guard against ruin."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from anabranch.game.game import Game
from anabranch.learn.auxiliary import AuxiliaryHeads, new_heads
from anabranch.learn.fates import auxiliary_shapes
from anabranch.learn.losses import LossOf, alphazero, loss_of
from anabranch.learn.settings import Learner as Settings
from anabranch.learn.settings import Net as NetSettings
from anabranch.learn.settings import TrainConfig, Unroll
from anabranch.nets.net import Net
from anabranch.nets.registry import architecture, build
from anabranch.nets.shape import Shape, shape_of

NEWS = 0.98  # of the running mean of losses


def new_net(settings: NetSettings, shape: Shape, seed: int) -> Net:
    """Return a network with random weights; of the settings it takes the sizes its architecture has."""
    known = architecture(settings.architecture).SIZES
    sizes = {name: getattr(settings, name) for name in known}
    return build(settings.architecture, shape, sizes, seed=seed)


def new_learner(game: Game, config: TrainConfig) -> Learner:
    """Return the learner of a run that begins."""
    net = new_net(config.net, shape_of(game), config.seed)
    heads = new_heads(net, config.auxiliary.weights, auxiliary_shapes(config.auxiliary, game), config.seed)
    return Learner(net, config.learner, loss_of(config, heads), heads)


def learning_rate(step: int, settings: Settings) -> float:
    """Return the rate of a step: a straight line up to it, then half a cosine down to the last one, which stays."""
    if step < settings.warm_up:
        return settings.rate * (step + 1) / settings.warm_up
    done = min(1.0, (step - settings.warm_up) / max(1, settings.steps - settings.warm_up))
    return settings.last_rate + (settings.rate - settings.last_rate) * 0.5 * (1.0 + math.cos(math.pi * done))


def imagined_steps(step: int, settings: Unroll) -> int:
    """Return how many steps are imagined at a step of the learner: one at first, then K."""
    return 1 if step < settings.alone else settings.steps


@dataclass(frozen=True)
class Losses:
    """What a step found: how far the policy and the values were off, and the norm of the gradient."""

    policy: float  # KL(target ‖ policy), in nats
    value: float
    gradient: float
    more: dict[str, float] = field(default_factory=dict)  # of what else a method learns

    @property
    def total(self) -> float:
        """All losses, not weighed."""
        return self.policy + self.value + sum(self.more.values())

    @property
    def finite(self) -> bool:
        """Whether all of it are numbers."""
        return math.isfinite(self.total) and math.isfinite(self.gradient)


class Learner:
    """A network that learns. `average` is the network for self-play; what both are made of goes into a checkpoint."""

    def __init__(
        self, net: Net, settings: Settings, loss: LossOf | None = None, heads: AuxiliaryHeads | None = None
    ) -> None:
        self.net, self.settings, self.heads = net, settings, heads
        self._loss = loss or (lambda net, rows: alphazero(net, rows, settings.value_weight))
        self.average = copy.deepcopy(net).eval()
        net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # 150 ms instead of 206 a step of 512
        self.optimiser = torch.optim.AdamW(_groups(self._learnt().values(), settings.decay), lr=settings.rate)
        self.step = 0
        self.begun = 0  # the step at which the optimiser's moments began
        self.restores = 0
        self.mean: float | None = None  # of losses, running
        self._good = self._kept()

    def learn(self, rows: Mapping[str, npt.NDArray[Any]]) -> Losses | None:
        """Make one step; None if it would have ruined the weights, which are then the last good ones again."""
        self.net.train()
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(self.step, self.settings)
        self.optimiser.zero_grad(set_to_none=True)
        loss = self._loss(self.net, rows)
        loss.total.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(self._learnt().values(), self.settings.clip)
        more = {name: part.item() for name, part in loss.more.items()}
        losses = Losses(loss.policy.item(), loss.value.item(), norm.item(), more)
        total = losses.total
        if not losses.finite or (self.mean is not None and total > self.settings.explosion * max(self.mean, 0.05)):
            self.restore()
            return None
        self.optimiser.step()
        self.step += 1
        self.mean = total if self.mean is None else NEWS * self.mean + (1.0 - NEWS) * total
        self._average()
        return losses

    def _learnt(self) -> dict[str, Tensor]:
        """Return all that is learnt by name: the network's weights, and those of heads beside it."""
        heads = {} if self.heads is None else dict(self.heads.named_parameters(prefix="heads"))
        return {**dict(self.net.named_parameters()), **heads}

    def _average(self) -> None:
        """Move the average towards the weights, faster at first: min(average, (1 + n) / (10 + n)) of it stays."""
        keep = min(self.settings.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            ours = self.net.state_dict()
            for name, kept in self.average.state_dict().items():
                if kept.is_floating_point():
                    kept.lerp_(ours[name], 1.0 - keep)
                else:
                    kept.copy_(ours[name])

    # What goes into a checkpoint

    def begin_with(self, net: Net, step: int = 0) -> None:
        """Take over the weights of a network of the same sizes; the optimiser's moments and heads begin anew."""
        self.net.load_state_dict(net.state_dict())
        self.average.load_state_dict(net.state_dict())
        self.optimiser.state.clear()
        self.step = self.begun = step

    def mark_good(self) -> None:
        """Remember weights and optimiser as they are, to return to."""
        self._good = self._kept()

    def restore(self) -> None:
        """Return to what was last good; the next samples are other ones, since a restore is counted."""
        restores = self.restores + 1  # also of those since it was good: a number is never used again
        self.load(self._good)
        self.restores = restores
        self.mean = None

    def _kept(self) -> dict[str, Tensor]:
        return {name: tensor.clone() for name, tensor in self.state().items()}

    def state(self) -> dict[str, Tensor]:
        """Return all that a learner is made of, as tensors by name."""
        made = {f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}
        made |= {f"average.{name}": tensor for name, tensor in self.average.state_dict().items()}
        if self.heads is not None:
            made |= {f"heads.{name}": tensor for name, tensor in self.heads.state_dict().items()}
        for name, parameter in self._learnt().items():
            moments = self.optimiser.state.get(parameter, {})
            for kind in ("exp_avg", "exp_avg_sq"):
                made[f"{kind}.{name}"] = moments.get(kind, torch.zeros_like(parameter)).detach()
        made["step"] = torch.tensor(self.step, dtype=torch.int64)
        made["begun"] = torch.tensor(self.begun, dtype=torch.int64)
        made["restores"] = torch.tensor(self.restores, dtype=torch.int64)
        return made

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Become what a state says."""
        parts: dict[str, dict[str, Tensor]] = {"net": {}, "average": {}, "heads": {}, "exp_avg": {}, "exp_avg_sq": {}}
        for name, tensor in state.items():
            part, _, rest = name.partition(".")
            if part in parts:
                parts[part][rest] = tensor
        self.net.load_state_dict(parts["net"])
        self.average.load_state_dict(parts["average"])
        if self.heads is not None:
            self.heads.load_state_dict(parts["heads"])
        self.step, self.begun, self.restores = (int(state[name]) for name in ("step", "begun", "restores"))
        self.optimiser.state.clear()
        for name, parameter in self._learnt().items():
            if self.step > self.begun:
                self.optimiser.state[parameter] = {
                    "step": torch.tensor(float(self.step - self.begun)),  # as many corrections of moments were made
                    "exp_avg": parts["exp_avg"][name].clone(),
                    "exp_avg_sq": parts["exp_avg_sq"][name].clone(),
                }


def _groups(learnt: Collection[Tensor], decay: float) -> list[dict[str, Any]]:
    """Return the weights of matrices and kernels, which decay, and all others, which do not."""
    wide = [parameter for parameter in learnt if parameter.ndim > 1]
    narrow = [parameter for parameter in learnt if parameter.ndim <= 1]
    return [{"params": wide, "weight_decay": decay}, {"params": narrow, "weight_decay": 0.0}]
