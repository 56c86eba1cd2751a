"""mctx on the toy model, compiled ahead of the first search: muzero_policy or gumbel_muzero_policy, as they come."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import mctx
from measure import Contender

from peers.questions import Question
from peers.toy import DISCOUNT, LATENTS, roots, toy


def make(question: Question, variant: str) -> Contender:
    """Return its planning for all roots."""
    tables = tuple(jnp.asarray(each) for each in toy(question))
    policy = mctx.gumbel_muzero_policy if variant == "gumbel" else mctx.muzero_policy

    def recurrent(params: Any, key: Any, action: Any, latent: Any) -> Any:
        del key
        logits, values, rewards = params
        following = (31 * latent + action + 1) % LATENTS
        discount = jnp.full(action.shape, DISCOUNT)
        told = mctx.RecurrentFnOutput(
            reward=rewards[following], discount=discount, prior_logits=logits[following], value=values[following]
        )
        return told, following

    def search(params: Any, latent: Any, key: Any) -> Any:
        root = mctx.RootFnOutput(prior_logits=params[0][latent], value=params[1][latent], embedding=latent)
        found = policy(params, key, root, recurrent, question.simulations)
        return found.action, found.action_weights, found.search_tree.summary().visit_counts

    latent, key = jnp.asarray(roots(question), jnp.int32), jax.random.PRNGKey(0)
    compiled = jax.jit(search).lower(tables, latent, key).compile()
    found: list[Any] = [None]

    def call() -> None:
        found[0] = jax.block_until_ready(compiled(tables, latent, key))

    return Contender(f"mctx {variant}", call, question.units, counted=lambda: float(found[0][2].sum()))
