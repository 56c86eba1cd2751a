"""Codes of chance while a model learns: named by what followed a step, and foretold by the afterstate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from anabranch.nets.world import Followed, Outcome, WorldModel

COMMITMENT = 0.25  # weight of how far the encoder is from deciding for one code


class Drawn(NamedTuple):
    """A step with chance in it."""

    latent: Tensor
    outcome: Outcome
    loss: Tensor  # [N]


def followed(rows: Mapping[str, npt.NDArray[Any]], step: int) -> Followed:
    """Return what followed a step of samples that have all that is seen `ahead`."""
    onward, rewards, ends = (
        torch.from_numpy(rows[name][:, at].astype("float32"))
        for name, at in (("inside", step + 1), ("rewards", step), ("ends", step))
    )
    return Followed(torch.from_numpy(rows["observations"][:, step + 1]), onward, rewards, ends)


def named(logits: Tensor) -> Tensor:
    """Return the likeliest code as one 1 among zeros, through which gradients go as if it were the softmax."""
    soft = torch.softmax(logits, dim=1)
    return certain(logits) + soft - soft.detach()


def certain(logits: Tensor) -> Tensor:
    """Return the likeliest code as one 1 among zeros."""
    return functional.one_hot(logits.argmax(dim=1), logits.shape[1]).to(logits)


def drawn(net: WorldModel, latent: Tensor, actions: Tensor, what: Followed) -> Drawn:
    """Return where actions and the chance that really came lead.

    The loss of a row is −ln p(c) of the code c under the afterstate, which learns how likely codes are and no code by
    it, plus how far the encoder is from deciding, β·|c − softmax|².
    """
    after, likely = net.afterstate(latent, actions)
    said = net.encode(what)
    following, outcome = net.chance(after, named(said))
    code = certain(said)
    surprise = functional.cross_entropy(likely, code.argmax(dim=1), reduction="none")
    undecided = (code - torch.softmax(said, dim=1)).square().sum(dim=1)
    return Drawn(following, outcome, surprise + COMMITMENT * undecided)
