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

    def losses(self, hidden: Tensor, rows: Mapping[str, npt.NDArray[Any]]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return Σ weight·loss of what the trunk made of rows, and the losses, less the entropy of their targets."""
        total, shown = hidden.new_zeros(()), {}
        for (name, weight), head in zip(self.weights.items(), self.each, strict=True):
            wanted = torch.from_numpy(rows[f"auxiliary.{name}"])
            said = head(hidden).reshape(wanted.shape)
            found, entropy = (reply_loss if name == REPLY else fate_loss)(said, wanted)
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


def reply_loss(said: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return −Σ_a π(a)·ln p(a), the mean over rows that have a reply, and the mean entropy of these replies.

    Which replies are legal depends on the move in between, so p is over all actions.
    """
    known = ~wanted.isnan().any(dim=1)
    wanted = wanted.nan_to_num()
    count = known.sum().clamp(min=1)
    crossed = -(wanted * torch.log_softmax(said, dim=1)).sum() / count
    return crossed, torch.special.entr(wanted).sum() / count


def fate_loss(said: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return −q·ln p − (1 − q)·ln(1 − p) with q = (1 + x)/2 and p = 1/(1 + e^−y), the mean over x that are known.

    With it the mean entropy of q, which it has at the least. p has the right mean, 2·p − 1 that of x.
    """
    known = ~wanted.isnan()
    share = (1.0 + wanted.nan_to_num()) / 2.0
    count = known.sum().clamp(min=1)
    crossed = (functional.binary_cross_entropy_with_logits(said, share, reduction="none") * known).sum() / count
    own = torch.special.entr(share) + torch.special.entr(1.0 - share)
    return crossed, (own * known).sum() / count
