"""LightZero's trees in C++ on the toy model in NumPy, driven as its own Python loop drives them, without its torch.

The compiled trees are loaded from the package's files: importing it wants its whole framework.
"""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
from measure import Contender

from peers.questions import Question
from peers.toy import DISCOUNT, LATENTS, roots, toy

TREES = {"muzero": "mz_tree", "gumbel": "gmz_tree"}


def load(name: str) -> Any:
    """Return one of its compiled modules."""
    home = Path(sysconfig.get_paths()["purelib"]) / "lzero" / "mcts" / "ctree"
    [path] = home.glob(f"*/{name}.*.so")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(question: Question, variant: str) -> Contender:
    """Return its planning for all roots."""
    tree = load(TREES[variant])
    logits, values, rewards = toy(question)
    batch, actions = question.trees, logits.shape[1]
    legal = [list(range(actions)) for _ in range(batch)]
    dice, found = np.random.default_rng(1), [None]

    def call() -> None:
        latent = roots(question)
        trees = tree.Roots(batch, legal)
        noise = dice.dirichlet([0.3] * actions, batch).astype(np.float32).tolist()
        nothing, to_play = [0.0] * batch, [-1] * batch
        if variant == "gumbel":
            trees.prepare(0.25, noise, nothing, values[latent].tolist(), logits[latent].tolist(), to_play)
        else:
            trees.prepare(0.25, noise, nothing, logits[latent].tolist(), to_play)
        scale = tree.MinMaxStatsList(batch)
        scale.set_delta(0.01)
        latents = [latent]
        for step in range(question.simulations):
            paths = tree.ResultsWrapper(num=batch)
            if variant == "gumbel":
                asked = tree.batch_traverse(trees, question.simulations, 16, DISCOUNT, paths, to_play)
            else:
                asked = tree.batch_traverse(trees, 19652, 1.25, DISCOUNT, scale, paths, to_play)
            when, which, chosen, turns = asked
            parents = np.asarray([latents[x][y] for x, y in zip(when, which, strict=True)])
            following = (31 * parents + np.asarray(chosen) + 1) % LATENTS
            latents.append(following)
            told = rewards[following].tolist(), values[following].tolist(), logits[following].tolist()
            back = tree.batch_back_propagate if variant == "gumbel" else tree.batch_backpropagate
            back(step + 1, DISCOUNT, *told, scale, paths, turns)
        found[0] = (trees.get_distributions(), trees.get_values())  # type: ignore[call-overload]

    def counted() -> float:
        return float(sum(map(sum, found[0][0])))  # type: ignore[index]

    return Contender(f"LightZero {variant}", call, question.units, counted=counted)
