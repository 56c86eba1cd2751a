"""What does a network lose in eight bits? Speed, distance from the original, and a match between the two.

    .venv/bin/python benchmarks/eight_bits.py [--positions 6000] [--epochs 4] [--games 200] [--simulations 100]

A residual tower learns connect four from searches by rollouts, is written as ONNX and once more in eight bits, and both
files play each other: paired openings, seats swapped, the same number of simulations.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import measure  # noqa: F401  # first: it limits threads
import numpy as np
import torch

import anabranch as ab


def taught(game: ab.Game, positions: int, simulations: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what movers see in random games, with the policies and values that searches by rollouts find there."""
    dice, states = np.random.default_rng(seed), []
    while len(states) < positions:
        state = game.start()
        while not state.over and len(states) < positions:
            states.append(state)
            state = state.step(int(dice.choice(state.legal())))[0]
    searcher = ab.Searcher(game, ab.Rollout(), threads=2)
    seen, policies, values = [], [], []
    for start in range(0, positions, 256):
        roots = [searcher.root(state) for state in states[start : start + 256]]
        for result in searcher.run(roots, simulations=simulations):
            mover = result.state.turn[0]
            seen.append(result.state.observe(mover))
            policies.append(result.policy[mover])
            values.append(result.value[[mover, 1 - mover]])
    return np.array(seen), np.array(policies, np.float32), np.array(values, np.float32)


def learn(net: torch.nn.Module, lesson: Sequence[np.ndarray], epochs: int, seed: int) -> float:
    """Teach a network; return the mean loss of the last epoch."""
    generator = torch.Generator().manual_seed(seed)
    seen, policies, values = (torch.from_numpy(part) for part in lesson)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    losses: list[float] = []
    net.train()
    for epoch in range(epochs):
        losses = []
        for rows in torch.randperm(len(seen), generator=generator).split(128):
            logits, found = net(seen[rows])
            wrong = -(policies[rows] * torch.log_softmax(logits, 1)).sum(1).mean()
            loss = wrong + torch.nn.functional.mse_loss(found, values[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
        print(f"    … epoch {epoch + 1} of {epochs}: loss {np.mean(losses):.3f}", flush=True)
    net.eval()
    return float(np.mean(losses))


def main(words: Sequence[str] | None = None) -> ab.Match:
    """Teach, write, compare, play."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    for name, usual in (("positions", 6000), ("epochs", 4), ("games", 200), ("simulations", 100), ("channels", 64)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--blocks", type=int, default=5)
    given = parser.parse_args(words)
    torch.manual_seed(0)
    game = ab.games.load("connect_four")
    net = ab.nets.make("tower", game, channels=given.channels, blocks=given.blocks, seed=0)
    learn(net, taught(game, given.positions, 400, seed=0), given.epochs, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        floats, bits = Path(folder) / "floats.onnx", Path(folder) / "eight_bits.onnx"
        ab.to_onnx(net, game, floats)
        print(ab.quantise(floats, bits, game))
        agents = [ab.SearchAgent(simulations=given.simulations, evaluator=str(file)) for file in (bits, floats)]
        played = ab.match(game, *agents, games=given.games, seed=1)
        print(played)
    return played


if __name__ == "__main__":
    main()
