"""What is minimised: AlphaZero's loss of rows, and MuZero's of rows with the steps that were imagined from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from anabranch.learn.auxiliary import AuxiliaryHeads
from anabranch.learn.codes import drawn, followed
from anabranch.learn.settings import TrainConfig, Unroll
from anabranch.learn.targets import two_hot
from anabranch.nets.net import Net, ValueScale
from anabranch.nets.world import Prediction, WorldModel

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Loss:
    """What a step minimises, and the parts that are shown: the policy's without the entropy of its targets."""

    total: Tensor
    policy: Tensor
    value: Tensor
    more: dict[str, Tensor]


LossOf: TypeAlias = Callable[[Net, Arrays], Loss]


def loss_of(config: TrainConfig, heads: AuxiliaryHeads | None = None) -> LossOf:
    """Return the loss of a method, with that of heads beside the network."""
    weight = config.learner.value_weight
    if config.method == "muzero":
        return lambda net, rows: muzero(cast(WorldModel, net), rows, weight, config.unroll)
    return lambda net, rows: alphazero(net, rows, weight, heads)


def alphazero(net: Net, rows: Arrays, value_weight: float = 1.0, heads: AuxiliaryHeads | None = None) -> Loss:
    """Return cross-entropy to the policy plus the value's loss, and what heads beside the network learn, weighed."""
    hidden = net.hidden(torch.from_numpy(rows["observations"]))
    logits, free = net.said(hidden)
    target, counts = rows["policy"], _counts(rows)
    policy = (policy_loss(logits, torch.from_numpy(target), torch.from_numpy(rows["legal"])) * counts).mean()
    value = (scalar_loss(net.scale, free, rows["values"]) * counts).mean()
    own = (entropy(target) * counts.numpy()).mean()
    total = policy + value_weight * value
    more: dict[str, Tensor] = {}
    if heads is not None:
        added, more = heads.losses(hidden, rows, counts)
        total = total + added
    return Loss(total, policy.detach() - own, value.detach(), more)


def muzero(net: WorldModel, rows: Arrays, value_weight: float, unroll: Unroll) -> Loss:
    """Return L_0 + (1/K)·Σ_{k=1..K} L_k, L_k the losses of what is said after k imagined steps.

    L_k has the policy and value of the latent and what is legal there, and the reward, end and next mover of the step
    that led to it, and of the code of chance, where the model has such. Half of the gradient goes through every step
    but the first (Schrittwieser et al. 2020). Where legal actions weigh nothing, the model learns to allow all of them,
    and policies, over all actions then, to avoid those that are not legal.
    """
    seen = torch.from_numpy(rows["observations"])
    actions = torch.from_numpy(rows["actions"])
    steps = actions.shape[1]
    latent = net.represent(seen[:, 0])
    latents, outcomes, surprises = [latent], [], []
    for k in range(steps):
        before = latent if k == 0 else halved(latent)
        if net.codes:
            latent, outcome, surprise = drawn(net, before, actions[:, k], followed(rows, k))
            surprises.append(surprise)
        else:
            latent, outcome = net.step(before, actions[:, k])
        latents.append(latent)
        outcomes.append(outcome)
    told = net.predict(torch.cat(latents))
    told = Prediction(*(part.reshape(steps + 1, len(seen), -1).transpose(0, 1) for part in told))

    searched, valued, inside, known = (_weights(rows[name]) for name in ("searched", "valued", "inside", "known"))
    played = inside[:, :-1]  # steps that were, beside those past the end
    known = known * (played + unroll.past * (1.0 - played))
    valued = valued * (inside + unroll.past * (1.0 - inside))
    counts = _counts(rows)[:, None]
    searched, valued, inside, known = searched * counts, valued * counts, inside * counts, known * counts
    rules = torch.from_numpy(rows["legal"])
    allowed = rules if unroll.legal else torch.ones_like(rules)  # a head that learns nothing would mask at random
    policy = policy_loss(told.logits, torch.from_numpy(rows["policy"]), allowed) * searched
    value = scalar_loss(net.scale, told.free, rows["values"]) * valued
    legal_targets = allowed.to(told.legal.dtype)
    legal = functional.binary_cross_entropy_with_logits(told.legal, legal_targets, reduction="none").mean(-1) * inside
    reward = scalar_loss(net.reward_scale, torch.stack([each.reward for each in outcomes], 1), rows["rewards"]) * known
    ends = torch.stack([each.end for each in outcomes], dim=1)
    end = functional.binary_cross_entropy_with_logits(ends, _weights(rows["ends"]).to(ends), reduction="none") * known
    movers = torch.stack([each.mover for each in outcomes], dim=1).transpose(1, 2)
    mover = functional.cross_entropy(movers, torch.from_numpy(rows["movers"]), reduction="none") * inside[:, 1:]

    of_latents = policy + value_weight * value + (unroll.legal or 1.0) * legal
    of_steps = unroll.reward * reward + unroll.end * end + unroll.mover * mover
    share = 1.0 / steps
    total = of_latents[:, 0].mean() + share * (of_latents[:, 1:] + of_steps).sum(dim=1).mean()
    more = {"reward": reward.mean(), "end": end.mean(), "legal": legal.mean(), "mover": mover.mean()}
    if surprises:
        chance = torch.stack(surprises, dim=1) * played * known
        total = total + unroll.chance * share * chance.sum(dim=1).mean()
        more["chance"] = chance.mean()
    if unroll.consistency:
        apart = consistency(net, latents[1:], seen[:, 1:]) * inside[:, 1:]
        total = total + unroll.consistency * share * apart.sum(dim=1).mean()
        more["consistency"] = apart.mean()
    own = torch.from_numpy(entropy(rows["policy"])).to(policy.dtype) * searched
    count = searched.sum().clamp(min=1.0)
    shown = ((policy - own).sum() / count).detach()
    return Loss(total, shown, value.mean().detach(), {name: part.detach() for name, part in more.items()})


def policy_loss(logits: Tensor, target: Tensor, legal: Tensor) -> Tensor:
    """Return −Σ_a π(a)·ln p(a) of every row, p over legal actions."""
    masked = logits.masked_fill(~legal, -1e9)
    return -(target * torch.log_softmax(masked, dim=-1)).sum(dim=-1)


def scalar_loss(scale: ValueScale, free: Tensor, wanted: npt.NDArray[np.float32]) -> Tensor:
    """Return of every row the mean over players of squared errors, or of cross-entropies where values are categories.

    Errors are in units of half the range, so that a weight means the same in every game.
    """
    if scale.bins == 1:
        error = (scale(free) - torch.from_numpy(wanted)) / max(scale.radius, 1e-9)
        squares: Tensor = error.square().mean(dim=-1)
        return squares
    spread = torch.from_numpy(two_hot(wanted, scale.low, scale.high, scale.bins))
    found = torch.log_softmax(free.reshape(spread.shape), dim=-1)
    return -(spread * found).sum(dim=-1).mean(dim=-1)


def consistency(net: WorldModel, imagined: list[Tensor], seen: Tensor) -> Tensor:
    """Return `[N, K]`: 2 − 2·cos of what imagined latents foresee and what the next observations are projected to.

    Chen and He 2021: the encoded side is a target, and no gradient goes into it.
    """
    with torch.no_grad():
        real = net.project(net.represent(seen.flatten(0, 1))).reshape(len(seen), seen.shape[1], -1)
    said = net.foresee(net.project(torch.cat(imagined))).reshape(len(imagined), len(seen), -1).transpose(0, 1)
    return apart(said, real)


def apart(one: Tensor, other: Tensor) -> Tensor:
    """Return 2 − 2·cos of two vectors: 0 where they point the same way, 4 where they point opposite ways."""
    return 2.0 - 2.0 * functional.cosine_similarity(one, other, dim=-1)


def halved(latent: Tensor) -> Tensor:
    """Return a latent as it is, through which half of the gradient goes."""
    return 0.5 * latent + 0.5 * latent.detach()


def entropy(policy: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the entropy of every row, in nats."""
    found: npt.NDArray[np.float32] = -(policy * np.log(np.maximum(policy, 1e-30))).sum(axis=-1)
    return found


def _weights(mask: npt.NDArray[np.bool_]) -> Tensor:
    return torch.from_numpy(mask.astype(np.float32))


def _counts(rows: Arrays) -> Tensor:
    """Return how much the loss of each row counts: alike, unless some were drawn more often than others."""
    return torch.from_numpy(rows["weights"]) if "weights" in rows else torch.ones(len(rows["observations"]))
