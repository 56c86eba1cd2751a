"""mctx's PUCT (muzero_policy) where the dynamics are a game of pgx, compiled ahead of the first search."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import mctx
import pgx
from measure import Contender

from peers.questions import Question


def make(question: Question, variant: str) -> Contender:
    """Return its search of all trees; no noise at the root, as nobody else has any."""
    game = pgx.make(question.game)
    step = jax.vmap(game.step)
    rows = jnp.arange(question.trees)

    def prior(state: Any) -> Any:
        return jnp.where(state.legal_action_mask, 0.0, jnp.finfo(jnp.float32).min)

    def recurrent(params: Any, key: Any, action: Any, state: Any) -> Any:
        following = step(state, action)
        answer = mctx.RecurrentFnOutput(
            reward=following.rewards[rows, state.current_player],
            discount=jnp.where(following.terminated, 0.0, -1.0),  # the other player's turn: its gain is my loss
            prior_logits=prior(following),
            value=jnp.zeros(question.trees),
        )
        return answer, following

    def search(state: Any, key: Any) -> Any:
        root = mctx.RootFnOutput(prior_logits=prior(state), value=jnp.zeros(question.trees), embedding=state)
        found = mctx.muzero_policy(
            (),
            key,
            root,
            recurrent,
            question.simulations,
            invalid_actions=~state.legal_action_mask,
            dirichlet_fraction=0.0,
        )
        return found.search_tree.summary().visit_counts

    key = jax.random.PRNGKey(0)
    start = jax.jit(jax.vmap(game.init))(jax.random.split(key, question.trees))
    compiled = jax.jit(search).lower(start, key).compile()
    visits: list[Any] = [None]

    def call() -> None:
        visits[0] = jax.block_until_ready(compiled(start, key))

    return Contender("mctx on pgx", call, question.units, counted=lambda: float(visits[0].sum()))
