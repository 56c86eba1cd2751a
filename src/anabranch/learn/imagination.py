"""How far a learned model is off after 1 to K imagined steps, on games it has not learnt from.

All of it is counted where the game had not ended before the step, in units that can be read: rewards and values in the
game's own units, the rest as shares. What a model cannot do shows here first: `missed` is the share of ends that it
did not see coming, which a small share of wrong ends may hide, since ends are rare. Models with chance in them are told
what chance did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from anabranch.learn.replay import Replay
from anabranch.nets.net import Net
from anabranch.nets.world import WorldModel

ROWS = 512  # positions that are compared
Errors: TypeAlias = dict[str, list[float | None]]  # by what: of 1, 2, … K steps; None where nothing was to be seen
WORDS = {
    "reward": "mean error of the step's rewards",
    "end": "steps that were wrong about the end",
    "missed": "ends that were missed",
    "legal": "actions whose legality was wrong",
    "mover": "steps that were wrong about who moves next",
    "value": "mean error of values against their targets",
    "drift": "mean distance of an imagined latent from the encoded one",
}


def model_errors(net: Net, held_out: Replay, seed: int) -> Errors | None:
    """Return how far a model is off on games that were held out; None where there are none."""
    if not len(held_out):
        return None
    return errors_on(cast(WorldModel, net), held_out.sample(ROWS, seed, 0))


def errors_on(net: WorldModel, rows: Mapping[str, npt.NDArray[Any]]) -> Errors:
    """Return how far a model is off on rows with all that is seen `ahead`."""
    import torch

    from anabranch.learn.codes import certain, followed

    found: Errors = {name: [] for name in WORDS}
    seen = torch.from_numpy(rows["observations"])
    with torch.inference_mode():
        latent = net.represent(seen[:, 0])
        for k in range(rows["actions"].shape[1]):
            actions = torch.from_numpy(rows["actions"][:, k])
            if net.codes:  # chance does what it really did
                after, _ = net.afterstate(latent, actions)
                latent, outcome = net.chance(after, certain(net.encode(followed(rows, k))))
            else:
                latent, outcome = net.step(latent, actions)
            told = net.predict(latent)
            real = net.represent(seen[:, k + 1])
            inside, onward = rows["inside"][:, k], rows["inside"][:, k + 1]
            known = inside & rows["known"][:, k]
            ends, over = outcome.end.numpy() > 0.0, rows["ends"][:, k]
            valued = onward & rows["valued"][:, k + 1]
            rewards = net.reward_scale(outcome.reward).numpy()
            values = net.scale(told.free).numpy()
            legal = told.legal.numpy() > 0.0
            moves = outcome.mover.argmax(dim=1).numpy()
            apart = (latent - real).abs().flatten(1).mean(dim=1).numpy()
            for name, wrong, where in (
                ("reward", np.abs(rewards - rows["rewards"][:, k]).mean(axis=1), known),
                ("end", ends != over, known),
                ("missed", ~ends, known & over),
                ("legal", (legal != rows["legal"][:, k + 1]).mean(axis=1), onward),
                ("mover", moves != rows["movers"][:, k], onward),
                ("value", np.abs(values - rows["values"][:, k + 1]).mean(axis=1), valued),
                ("drift", apart, onward),
            ):
                found[name].append(float(wrong[where].mean()) if where.any() else None)
    return found
