"""How many positions a second does a network judge? The tower of 64 channels and 5 blocks for connect four."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

import measure  # before NumPy: it limits threads

import anabranch as ab

# Read when torch is loaded. Threads that spin while they wait take the core from those they wait for, wherever others
# run too: a forward pass of two threads then took 505 ms instead of 45.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
BATCHES = (1, 16, 64, 256)


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table: one thread by the processor's clock, two by the wall's."""
    game = ab.games.load("connect_four")
    net = ab.nets.make("tower", game, channels=64, blocks=5).eval()
    observations = ab.random_positions(game, max(BATCHES)).observations
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        whole, small = Path(folder, "tower.onnx"), Path(folder, "int8.onnx")
        ab.to_onnx(net, game, whole)
        measure.log(f"int8: {ab.quantise(whole, small, game)}")
        one = {"torch": ab.Torch(net, threads=1), "onnx": ab.Onnx(whole), "int8": ab.Onnx(small)}
        two = {
            "torch": ab.Torch(net, threads=2),
            "onnx": ab.Onnx(whole, threads=2),
            "int8": ab.Onnx(small, threads=2),
        }
        for threads, evaluators in ((1, one), (2, two)):
            for size in BATCHES:
                contenders = [
                    measure.Contender(name, lambda e=evaluator, n=size: e.run(observations[:n]), float(size))
                    for name, evaluator in evaluators.items()
                ]
                rates = measure.compare(contenders, rounds=15, seconds=6.0, wall=threads > 1)
                for name in evaluators:
                    line = measure.versus(
                        f"{name}, batch {size}, {threads} thread{'s' * (threads > 1)}", rates, name, "torch", None
                    )
                    line.unit, line.note = "positions/s", f"{rates.share(name):.2f} cores"
                    lines.append(line)
    return lines


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    measure.use_cores(2)
    measure.finish(__file__, rows())
