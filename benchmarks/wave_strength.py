"""What do waves cost in strength? Connect four, equal playouts: paths in waves of some width against one at a time.

    .venv/bin/python benchmarks/wave_strength.py [--games 1600] [--others 400] [--only loss:4,loss:16] [--write]

Both sides search 800 playouts a move with five rollouts per leaf and play the largest entry of the policy. Games come
in pairs with swapped seats that share a random opening of two, three or four plies; every cell of the table has the
same openings. The row of width 1 is the same search with other random numbers: how near to one half chance leaves it.
Cells are written to results/ as they grow, and the same command goes on where it was stopped; `--fresh` begins anew.
`--games` is for the cells that have bars, `--others` for the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import measure  # first: it limits threads
import pages

import anabranch as ab
from anabranch.play.interval import interval

MODES = ("loss", "visits", "off")
WIDTHS = (1, 2, 4, 8, 16, 32, 64)
BARS = {("loss", 4): 0.47, ("loss", 16): 0.43}
CHUNK = 80  # games played abreast, with openings of one length
CELLS = measure.RESULTS / "wave_strength_cells.json"


@dataclass(frozen=True)
class Terms:
    """What both sides are given."""

    simulations: int = 800
    rollouts: int = 5


@dataclass
class Cell:
    """A width and a mode of virtual loss against one path at a time: the score of every pair of games."""

    mode: str
    width: int
    pairs: list[float] = field(default_factory=list)

    @property
    def games(self) -> int:
        """How many games were played."""
        return 2 * len(self.pairs)

    @property
    def score(self) -> float:
        """The share of points."""
        return fmean(self.pairs)

    def __str__(self) -> str:
        low, high = interval(self.pairs)
        return f"{100 * self.score:.1f} % ({100 * low:.1f} to {100 * high:.1f}, {self.games:,} games)"


def side(terms: Terms, mode: str, width: int, seed: int) -> ab.SearchAgent:
    """Return one side."""
    loss = ab.VirtualLoss(mode=mode)  # type: ignore[arg-type]
    config = ab.SearchConfig(width=width, virtual_loss=loss, seed=seed)
    evaluator = ab.Rollout(count=terms.rollouts)
    return ab.SearchAgent(simulations=terms.simulations, evaluator=evaluator, config=config, threads=1)


def mark(terms: Terms) -> list[list[int]]:
    """Return what tells another search from this one: visits at the root of a game, in waves of 16, for every mode."""
    state = ab.games.load("connect_four").start()
    results = [side(terms, mode, 16, seed=1).results([ab.Turn(state, 0, 0)])[0] for mode in MODES]
    return [result.visits[0].tolist() for result in results]


def play(cell: Cell, terms: Terms) -> None:
    """Play one more chunk of a cell's games, with openings that only its number decides."""
    number = cell.games // CHUNK
    sides = side(terms, cell.mode, cell.width, seed=1), side(terms, "loss", 1, seed=2)
    game = ab.games.load("connect_four")
    match = ab.match(game, *sides, games=CHUNK, openings=2 + number % 3, seed=number, abreast=CHUNK)
    cell.pairs += match.pair_scores()


class Table:
    """All cells, kept in a file."""

    def __init__(self, path: Path, terms: Terms, fresh: bool = False) -> None:
        self.path, self.terms = path, terms
        self.about = asdict(terms) | {"mark": mark(terms)}  # cells of another search are not gone on with
        self.cells: dict[tuple[str, int], Cell] = {}
        if path.exists() and not fresh:
            data = json.loads(path.read_text())
            if data["about"] == self.about:
                self.cells = {(each["mode"], each["width"]): Cell(**each) for each in data["cells"]}

    def fill(self, mode: str, width: int, games: int) -> None:
        """Play whole chunks until a cell has so many games."""
        cell = self.cells.setdefault((mode, width), Cell(mode, width))
        while cell.games < games:
            play(cell, self.terms)
            self.save()
            measure.log(f"{mode}, width {width}: {cell}")

    def save(self) -> None:
        """Write what there is."""
        self.path.parent.mkdir(exist_ok=True)
        data = {
            "about": self.about,
            "machine": measure.machine(),
            "cells": [asdict(cell) for cell in self.cells.values()],
        }
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(json.dumps(data) + "\n")
        unfinished.replace(self.path)

    def rows(self) -> list[measure.Row]:
        """Return a line for each cell."""
        return [
            measure.Row(
                f"points, {cell.mode if width > 1 else 'no waves'}, width {width}",
                100 * cell.score,
                bar=100 * BARS[mode, width] if (mode, width) in BARS else None,
                unit="% of points",
                note=str(cell),
                details=asdict(cell),
            )
            for (mode, width), cell in sorted(
                self.cells.items(), key=lambda item: (MODES.index(item[0][0]), item[0][1])
            )
        ]

    def markdown(self) -> str:
        """Return the table: a row for each width, a column for each mode."""
        body = [["width", *(f"`{mode}`" for mode in MODES)], ["---:"] + ["---"] * len(MODES)]
        for width in WIDTHS:
            found = [self.cells.get((mode if width > 1 else "loss", width)) for mode in MODES]
            body.append([str(width), *("–" if cell is None else str(cell) for cell in found)])
        return "\n".join("| " + " | ".join(line) + " |" for line in body)


def wanted(games: int, others: int, only: str) -> list[tuple[str, int, int]]:
    """Return cells and how many games each is to have: those with bars first, and one path at a time only once."""
    cells = [(mode, width) for mode in MODES for width in WIDTHS if width > 1 or mode == "loss"]
    if only:
        asked = [tuple(cell.split(":")) for cell in only.split(",")]
        cells = [(mode, int(width)) for mode, width in asked]
    cells.sort(key=lambda cell: cell not in BARS)
    return [(mode, width, games if (mode, width) in BARS else others) for mode, width in cells]


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Play, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=1600, help="of the cells with bars")
    parser.add_argument("--others", type=int, default=400, help="games of the other cells")
    parser.add_argument("--only", default="", help="cells as mode:width, with commas between")
    parser.add_argument("--simulations", type=int, default=Terms.simulations)
    parser.add_argument("--cells", type=Path, default=CELLS, help="the file to go on with")
    parser.add_argument("--fresh", action="store_true", help="forget the cells played before")
    parser.add_argument("--write", action="store_true", help="the table into docs/waves.md")
    asked = parser.parse_args(words)
    table = Table(asked.cells, Terms(simulations=asked.simulations), asked.fresh)
    for mode, width, games in wanted(asked.games, asked.others, asked.only):
        table.fill(mode, width, games)
    if asked.write:
        pages.fill("strength", table.markdown())
    measure.finish(__file__, table.rows())
    return {f"{mode}:{width}": cell.score for (mode, width), cell in table.cells.items()}


if __name__ == "__main__":
    measure.use_cores(1)
    main(sys.argv[1:])
