"""Scalar models of two players who speak by the sign of the discount, as those made for mctx do."""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.errors import ModelError
from anabranch.models.model import Initial, Transition, discount_of
from anabranch.models.said import as_array, checked_column, checked_tuple


class TwoPlayer:
    """A model with one number for reward and value, the mover's, as one for two players who play against each other.

    Its discount is −γ where the other player moves next, γ where the same one does, 0 where it ends; where it gives
    none the other player moves next, and γ is its `discount`. Here movers are seats and values vectors:
    Q_m(s) = r + γ·Q_m(s'), and the negative of it for the other player.
    """

    players, view, discount = 2, "scalar", None

    def __init__(self, model: Any) -> None:
        self.model, self.actions = model, model.actions
        self.name = str(getattr(model, "name", type(model).__name__))
        self._usual = discount_of(model, self.name)

    def initial(self, observations: Any) -> Initial:
        """What the model says; latents bring their mover along."""
        told = Initial(*checked_tuple(self.name, "initial", self.model.initial(observations), 3, 5))
        rows = as_array(f"{self.name}: initial", "value", told.value).size
        mover = np.zeros(rows, np.int64)
        if told.mover is not None:
            mover = checked_column(f"{self.name}: initial", "mover", told.mover, (rows,))
        return told._replace(latent=(told.latent, mover), mover=mover)

    def recurrent(self, latent: Any, action: Any) -> Transition:
        """The same of transitions: who moves then is told by the sign."""
        inside, mover = latent
        told = Transition(*checked_tuple(self.name, "recurrent", self.model.recurrent(inside, action), 4, 7))
        if told.discount is not None:
            discount = checked_column(f"{self.name}: recurrent", "discount", told.discount, mover.shape)
        elif self._usual is not None:
            discount = np.full(len(mover), -self._usual)
        else:
            raise ModelError(
                f"{self.name}: {self.name}.discount is None, so recurrent says it step by step, and it gave none; give "
                f"discount, −γ where the other player moves next, or set {self.name}.discount to γ"
            )
        after = np.where(discount > 0, mover, 1 - mover)
        return told._replace(latent=(told.latent, after), discount=np.abs(discount), mover=after)
