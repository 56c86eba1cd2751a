"""What do waves gain in speed? One root of connect four with a torch network: playouts per second by width and depth.

    .venv/bin/python benchmarks/wave_speed.py [--playouts 256] [--rounds 9] [--write]

The network is a tower of 64 channels and 5 blocks, on one thread. All settings are called in turn, by the wall's clock;
with a depth of 2 the network has a thread of its own and paths are selected meanwhile, so there are two cores.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import measure  # before NumPy: it limits threads
import pages

import anabranch as ab

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
DEPTHS = (1, 2)
BAR = (16, 1, 3.0)  # width, depth, how many times the playouts of one path at a time


def name(width: int, depth: int) -> str:
    """Return what a setting is called while it is measured."""
    return f"{width}/{depth}"


def contender(net: object, width: int, depth: int, playouts: int) -> measure.Contender:
    """Return searching from the start, each time on a new graph."""
    game = ab.games.load("connect_four")
    config = ab.SearchConfig(width=width, depth=depth)
    searcher = ab.Searcher(game, ab.Torch(net, threads=1), config, threads=1)  # type: ignore[arg-type]

    def call() -> None:
        searcher.run(searcher.root(game.start()), simulations=playouts)

    return measure.Contender(name(width, depth), call, float(playouts))


def rows(*, playouts: int, rounds: int, seconds: float, **net: int) -> list[measure.Row]:
    """Measure and return the lines of the table."""
    game = ab.games.load("connect_four")
    tower = ab.nets.make("tower", game, **net).eval()
    settings = [(width, depth) for width in WIDTHS for depth in DEPTHS]
    contenders = [contender(tower, width, depth, playouts) for width, depth in settings]
    rates = measure.compare(contenders, rounds=rounds, seconds=seconds, wall=True)
    lines = []
    for width, depth in settings:
        bar = BAR[2] if (width, depth) == BAR[:2] else None
        line = measure.versus(f"one root, width {width}, depth {depth}", rates, name(width, depth), name(1, 1), bar)
        line.unit, line.note = "playouts/s", f"{rates.share(name(width, depth)):.2f} cores"
        lines.append(line)
    return lines


def markdown(lines: Sequence[measure.Row]) -> str:
    """Return the table: a row for each width, playouts per second and gain for each depth."""
    found = dict(zip([(width, depth) for width in WIDTHS for depth in DEPTHS], lines, strict=True))
    body = ["| width | depth 1 | depth 2 |", "| ---: | ---: | ---: |"]
    for width in WIDTHS:
        cells = [found[width, depth] for depth in DEPTHS]
        told = [f"{measure.figure(cell.ours)} ({cell.ratio:.1f}×)" for cell in cells]
        body.append(f"| {width} | {' | '.join(told)} |")
    return "\n".join(body)


def main(words: Sequence[str] | None = None) -> list[measure.Row]:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--playouts", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=60.0, help="at least 3 rounds are made")
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="the table into docs/waves.md")
    asked = vars(parser.parse_args(words))
    writing = asked.pop("write")
    lines = rows(**asked)
    if writing:
        pages.fill("speed", markdown(lines))
    measure.finish(__file__, lines)
    return lines


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded
    measure.use_cores(2)
    main(sys.argv[1:])
