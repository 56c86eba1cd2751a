"""Scalar models of two players who speak by the sign of the discount, as those made for mctx do."""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.models.arrays import as_numpy
from anabranch.models.model import Initial, Transition


class TwoPlayer:
    """A model with one number for reward and value, the mover's, as one for two players who play against each other.

    Its discount is −γ where the other player moves next, γ where the same one does, 0 where it ends. Here movers are
    seats and values vectors: Q_m(s) = r + γ·Q_m(s'), and the negative of it for the other player.
    """

    players, view, discount = 2, "scalar", None

    def __init__(self, model: Any) -> None:
        self.model, self.actions = model, model.actions
        self.name = str(getattr(model, "name", type(model).__name__))

    def initial(self, observations: Any) -> Initial:
        """What the model says; latents bring their mover along."""
        told = Initial(*self.model.initial(observations))
        rows = len(as_numpy(told.value))
        mover = np.zeros(rows, np.int64) if told.mover is None else as_numpy(told.mover).astype(np.int64)
        return told._replace(latent=(told.latent, mover), mover=mover)

    def recurrent(self, latent: Any, action: Any) -> Transition:
        """The same of transitions: who moves then is told by the sign."""
        inside, mover = latent
        told = Transition(*self.model.recurrent(inside, action))
        discount = np.full(len(mover), -1.0) if told.discount is None else as_numpy(told.discount).astype(np.float64)
        after = np.where(discount > 0, mover, 1 - mover)
        return told._replace(latent=(told.latent, after), discount=np.abs(discount), mover=after)
