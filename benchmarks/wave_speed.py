"""What do waves gain in speed? One root of connect four with a torch network: playouts per second by width and depth.

    .venv/bin/python benchmarks/wave_speed.py [--playouts 800] [--rounds 9] [--write]

The network is a tower of 64 channels and 5 blocks, on one thread. All settings are called in turn, those of depth 1 by
the processor's clock. With a depth of 2 the network has a thread of its own and paths are selected meanwhile, so it is
timed by the wall's. Paths of a wave that end in the same position ask about it once: fewer are evaluated than played.
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

    found: list[ab.Result] = []

    def call() -> None:
        found[:] = searcher.run(searcher.root(game.start()), simulations=playouts)

    return measure.Contender(name(width, depth), call, float(playouts), evaluated=lambda: float(found[0].nodes))


def rows(*, playouts: int, rounds: int, seconds: float, **net: int) -> list[measure.Row]:
    """Measure and return the lines of the table; what runs on one thread by the processor's clock."""
    game = ab.games.load("connect_four")
    tower = ab.nets.make("tower", game, **net).eval()
    lines = []
    for depth in DEPTHS:
        settings = [(width, depth) for width in WIDTHS]
        contenders = [contender(tower, *setting, playouts) for setting in dict.fromkeys([(1, 1), *settings])]
        rates = measure.compare(contenders, rounds=rounds, seconds=seconds / len(DEPTHS), wall=depth > 1)
        evaluated = {each.name: each.evaluated() for each in contenders if each.evaluated is not None}
        for width, _ in settings:
            bar = BAR[2] if (width, depth) == BAR[:2] else None
            ours = name(width, depth)
            line = measure.versus(f"one root, width {width}, depth {depth}", rates, ours, name(1, 1), bar)
            line.unit = "playouts/s"
            line.note = f"{rates.share(ours):.2f} cores; {evaluated[ours]:,.0f} positions evaluated"
            line.details["evaluated"] = evaluated[ours] / playouts
            lines.append(line)
    return lines


def markdown(lines: Sequence[measure.Row]) -> str:
    """Return the table: a row for each width, playouts per second and gain for each depth."""
    found = dict(zip([(width, depth) for depth in DEPTHS for width in WIDTHS], lines, strict=True))
    body = ["| width | depth 1 | depth 2 |", "| ---: | ---: | ---: |"]
    for width in WIDTHS:
        cells = [found[width, depth] for depth in DEPTHS]
        told = [
            f"{measure.figure(cell.ours)} ({cell.ratio:.1f}×, {100 * cell.details['evaluated']:.0f} % evaluated)"
            for cell in cells
        ]
        body.append(f"| {width} | {' | '.join(told)} |")
    return "\n".join(body)


def main(words: Sequence[str] | None = None) -> list[measure.Row]:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--playouts", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=80.0, help="at least 3 rounds are made")
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
