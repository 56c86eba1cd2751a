"""Run mctx's gumbel and muzero policies on random models and store what they found: tests/golden/mctx.json.

    make peers
    .venv-peers/bin/python benchmarks/peers/mctx_goldens.py

A model is a tree of hashes (`tests/golden/mctx_model.py` computes the same without jax): every latent is 32 bits, and
value, reward and logits are multiples of 2^-24 read off them, so both sides start from equal numbers. A case is kept
where mctx finds the same tree with float32 and with float64, that is where no tie decides; noise is stored as it was
drawn.
Masked actions of the Gumbel cases leave more actions than are considered: where all of them were visited, mctx lets
what masked actions would be worth count in the scale, and we do not.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import mctx
import numpy as np
from mctx._src import seq_halving

STORED = Path(__file__).resolve().parents[2] / "tests" / "golden" / "mctx.json"
# policy, actions, simulations, considered, discount, whether actions are masked
COMBINATIONS = [
    *[("gumbel", 2, 1, 2, 0.9375, False), ("gumbel", 2, 30, 16, -1.0, False), ("gumbel", 3, 7, 2, 0.9375, False)],
    *[("gumbel", 4, 16, 4, -1.0, False), ("gumbel", 7, 50, 16, -1.0, False), ("gumbel", 9, 8, 4, 0.9375, True)],
    *[("gumbel", 9, 200, 9, 0.9375, False), ("gumbel", 16, 32, 8, 0.9375, True), ("gumbel", 33, 100, 16, -1.0, True)],
    *[("gumbel", 82, 50, 16, 0.9375, False), ("gumbel", 82, 200, 32, -1.0, True), ("gumbel", 200, 64, 16, 1.0, False)],
    *[("gumbel", 441, 16, 16, 0.9375, True), ("gumbel", 441, 200, 16, 0.9375, False)],
    *[("muzero", 2, 1, 0, 0.9375, False), ("muzero", 2, 40, 0, -1.0, False), ("muzero", 4, 16, 0, 0.9375, False)],
    *[("muzero", 9, 50, 0, -1.0, True), ("muzero", 9, 200, 0, 0.9375, False), ("muzero", 33, 100, 0, -1.0, True)],
    *[("muzero", 82, 200, 0, 0.9375, True), ("muzero", 200, 64, 0, 1.0, False), ("muzero", 441, 50, 0, 0.9375, True)],
    ("muzero", 441, 200, 0, -1.0, False),
]
EACH = 10  # cases of a combination


def mix(x):
    x = x ^ (x >> 16)
    x = x * jnp.uint32(0x7FEB352D)
    x = x ^ (x >> 15)
    x = x * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)


def unit(latent, purpose, kind):
    return (mix(latent ^ (jnp.uint32(purpose) * jnp.uint32(0x85EBCA6B))) >> 8).astype(kind) / kind(2.0**24)


def value_of(latent, kind):
    return 2 * unit(latent, 1, kind) - 1


def logits_of(latent, actions, kind):
    purposes = jnp.arange(16, 16 + actions, dtype=jnp.uint32)[None]
    return 4 * unit(latent[:, None], purposes, kind) - 2


def recurrent(params, rng, action, latent, *, actions, discount, kind):
    child = mix(latent * jnp.uint32(0x9E3779B1) + action.astype(jnp.uint32) + jnp.uint32(1))
    return mctx.RecurrentFnOutput(
        reward=unit(child, 2, kind) - kind(0.5),
        discount=jnp.full(child.shape, discount, kind),
        prior_logits=logits_of(child, actions, kind),
        value=value_of(child, kind),
    ), child


def run(policy, actions, simulations, considered, discount, latents, invalid, kind, noise_of, key):
    """Return the output of one policy; `noise_of` is what a run before it drew, None where this one draws."""
    root = mctx.RootFnOutput(
        prior_logits=logits_of(latents, actions, kind), value=value_of(latents, kind), embedding=latents
    )
    model = functools.partial(recurrent, actions=actions, discount=discount, kind=kind)
    common = {"params": (), "rng_key": key, "recurrent_fn": model, "num_simulations": simulations}
    if policy == "muzero":
        if noise_of is not None:
            root = root.replace(prior_logits=jnp.asarray(noise_of, kind))
        fraction = 0.25 if noise_of is None else 0.0
        return mctx.muzero_policy(root=root, invalid_actions=invalid, dirichlet_fraction=fraction, **common)
    if noise_of is None:
        return mctx.gumbel_muzero_policy(
            root=root, invalid_actions=invalid, max_num_considered_actions=considered, **common
        )
    with_noise = jax.random.gumbel
    try:  # the same noise again, in another precision
        jax.random.gumbel = lambda *_, **__: jnp.asarray(noise_of, kind)
        return mctx.gumbel_muzero_policy(
            root=root, invalid_actions=invalid, max_num_considered_actions=considered, **common
        )
    finally:
        jax.random.gumbel = with_noise


def packed(numbers):
    return base64.b64encode(np.asarray(numbers, "<f4").tobytes()).decode()


def cases_of(number, combination):
    """Yield the cases of one combination that no tie decides, and how many there were."""
    policy, actions, simulations, considered, discount, masked = combination
    rng = np.random.default_rng(number)
    seeds = rng.integers(1, 2**31, EACH).astype(np.uint32)
    invalid = np.zeros((EACH, actions), np.int32)
    if masked:
        least = considered + 1 if policy == "gumbel" else 1
        for row in invalid:
            row[rng.permutation(actions)[: rng.integers(1, actions - least + 1)]] = 1
    key = jax.random.PRNGKey(number)
    found = run(*combination[:5], jnp.asarray(seeds), jnp.asarray(invalid), jnp.float32, None, key)
    tree = found.search_tree
    noise = tree.extra_data.root_gumbel if policy == "gumbel" else tree.children_prior_logits[:, 0]
    noise = np.asarray(noise)
    with jax.enable_x64(True):
        wide = run(
            *combination[:5],
            jnp.asarray(seeds),
            jnp.asarray(invalid),
            jnp.float64,
            np.where(invalid, -1e30, noise) if policy == "muzero" else noise,
            jax.random.PRNGKey(number + 1000),  # and other numbers to break ties by
        )
        same = (np.asarray(tree.node_visits) == np.asarray(wide.search_tree.node_visits)).all(1)
        same &= (np.asarray(tree.children_index) == np.asarray(wide.search_tree.children_index)).all((1, 2))
    summary = tree.summary()
    for row in np.flatnonzero(same):
        visits = np.asarray(summary.visit_counts[row])
        case = {
            "policy": policy,
            "seed": int(seeds[row]),
            "actions": actions,
            "simulations": simulations,
            "considered": considered,
            "discount": discount,
            "invalid": np.flatnonzero(invalid[row]).tolist(),
            "noise": packed(noise[row]),
            "visits": [[int(a), int(visits[a])] for a in np.flatnonzero(visits)],
            "nodes": hashlib.sha256(np.asarray(tree.node_visits[row], "<i4").tobytes()).hexdigest()[:16],
            "value": float(summary.value[row]),
            "weights": packed(found.action_weights[row]),
        }
        if policy == "gumbel":
            case["winner"] = int(found.action[row])
        yield case


def main() -> None:
    kept, began = [], time.time()
    for number, combination in enumerate(COMBINATIONS):
        found = list(cases_of(number, combination))
        kept += found
        print(f"{combination}: {len(found)} of {EACH} kept, {time.time() - began:.0f} s", file=sys.stderr, flush=True)
    schedules = hashlib.sha256()
    for considered in range(33):
        for simulations in range(1, 257):
            sequence = seq_halving.get_sequence_of_considered_visits(considered, simulations)
            schedules.update(np.asarray(sequence, "<i4").tobytes())
    made = {"mctx": mctx.__version__, "schedules": schedules.hexdigest(), "cases": kept}
    text = json.dumps(made, separators=(",", ":")).replace('{"policy"', '\n{"policy"')
    STORED.write_text(text + "\n", encoding="utf-8")
    print(f"{len(kept)} cases of {EACH * len(COMBINATIONS)}, {len(text):,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
