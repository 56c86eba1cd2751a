"""Ours with an evaluator in Python that does nothing: what it costs to ask one, wave by wave."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Contender

import anabranch as ab
from peers.adapters.ours import search
from peers.questions import Question


class NoEvaluation:
    """Value 0, and either no logits or those of a uniform policy; made once for each batch size."""

    def __init__(self, actions: int, logits: bool) -> None:
        self.actions, self.logits = actions, logits
        self.answers: dict[int, tuple[Any, Any]] = {}

    def evaluate(self, batch: ab.Batch) -> tuple[Any, Any]:
        """Return what the search asks of a network."""
        count = len(batch)
        if count not in self.answers:
            logits = np.zeros((count, self.actions), np.float32) if self.logits else None
            self.answers[count] = logits, np.zeros((count, 2), np.float32)
        return self.answers[count]


def make(question: Question, variant: str) -> Contender:
    """Return our search of all trees; `variant` is "none" or "zeros", the logits it is told."""
    game = ab.games.load(question.game)
    evaluator = NoEvaluation(game.actions, variant == "zeros")
    return search(f"anabranch, {variant}", game, evaluator, question.simulations, trees=question.trees)
