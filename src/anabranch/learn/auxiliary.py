"""Heads beside a network's own, for what it learns so that its trunk sees more.

They belong to the learner: checkpoints have them, and models, exports and evaluators know nothing of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from anabranch.learn.fates import REPLY, Shapes
from anabranch.nets.net import Net

APART = 0x68656164  # of their seed from the network's


class AuxiliaryHeads(nn.Module):
    """A head for each name; fates are learnt as the chance (1 + x)/2 that a thing is mine."""

    def __init__(self, net: Net, weights: Mapping[str, float], shapes: Shapes) -> None:
        super().__init__()
        self.weights = {name: weights[name] for name in shapes}
        self.each = nn.ModuleList([net.another_head(shape) for shape in shapes.values()])

    def losses(
        self, hidden: Tensor, rows: Mapping[str, npt.NDArray[Any]], counts: Tensor | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return Σ weight·loss of what the trunk made of rows, and the losses, less the entropy of their targets.

        `counts` says how much each row counts in the means, where they do not count alike.
        """
        total, shown = hidden.new_zeros(()), {}
        for (name, weight), head in zip(self.weights.items(), self.each, strict=True):
            wanted = torch.from_numpy(rows[f"auxiliary.{name}"])
            said = head(hidden).reshape(wanted.shape)
            found, entropy = (reply_loss if name == REPLY else fate_loss)(said, wanted, counts)
            total = total + weight * found
            shown[name] = (found - entropy).detach()
        return total, shown


def new_heads(net: Net, weights: Mapping[str, float], shapes: Shapes, seed: int) -> AuxiliaryHeads | None:
    """Return heads with random weights, None where nothing is wanted."""
    if not shapes:
        return None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed ^ APART)
        return AuxiliaryHeads(net, weights, shapes)


def reply_loss(said: Tensor, wanted: Tensor, counts: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return −Σ_a π(a)·ln p(a), the mean over rows that have a reply, and the mean entropy of these replies.

    Which replies are legal depends on the move in between, so p is over all actions.
    """
    counted, count = _counted(~wanted.isnan().any(dim=1, keepdim=True), counts)
    wanted = wanted.nan_to_num()
    crossed = -(wanted * torch.log_softmax(said, dim=1) * counted).sum() / count
    return crossed, (torch.special.entr(wanted) * counted).sum() / count


def fate_loss(said: Tensor, wanted: Tensor, counts: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return −q·ln p − (1 − q)·ln(1 − p) with q = (1 + x)/2 and p = 1/(1 + e^−y), the mean over x that are known.

    With it the mean entropy of q, which it has at the least. p has the right mean, 2·p − 1 that of x.
    """
    counted, count = _counted(~wanted.isnan(), counts)
    share = (1.0 + wanted.nan_to_num()) / 2.0
    crossed = (functional.binary_cross_entropy_with_logits(said, share, reduction="none") * counted).sum() / count
    own = torch.special.entr(share) + torch.special.entr(1.0 - share)
    return crossed, (own * counted).sum() / count


def _counted(known: Tensor, counts: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return how much each entry counts in a mean, 0 where nothing is known, and what a mean is divided by."""
    rows = torch.ones(len(known)) if counts is None else counts
    counted = known * rows.reshape(-1, *[1] * (known.ndim - 1))
    return counted, counted.sum().clamp(min=1e-9)
