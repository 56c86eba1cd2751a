"""How fast this machine searches: simulations per second of a few games, for a first look and for bug reports."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anabranch import games
from anabranch.evaluate.native import Rollout, Uniform
from anabranch.search.engine.searcher import Searcher

GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tic_tac_toe", {}),
    ("connect_four", {}),
    ("othello", {}),
    ("pig", {}),
    ("pyrat", {"preset": "open7"}),
)


@dataclass(frozen=True)
class Speed:
    """Simulations per second of one game and evaluator: the median over searches from the start."""

    game: str
    evaluator: str
    simulations: int
    per_second: float


def speeds(
    *,
    simulations: int = 800,
    seconds: float = 0.2,
    threads: int = 1,
    chosen: Sequence[tuple[str, dict[str, Any]]] = GAMES,
) -> list[Speed]:
    """Search each game over and over for some seconds; with several threads, as many roots abreast."""
    rows = []
    for name, options in chosen:
        game = games.load(name, **options)
        for evaluator in (Uniform(), Rollout()):
            searcher = Searcher(game, evaluator, threads=threads)
            rates = []
            end = None  # the clock starts after the first search, which may compile
            while end is None or len(rates) < 3 or time.perf_counter() < end:
                roots = [searcher.root(game.start()) for _ in range(threads)]
                began = time.perf_counter()
                searcher.run(roots, simulations=simulations)
                rates.append(threads * simulations / (time.perf_counter() - began))
                if end is None:
                    rates.clear()
                    end = time.perf_counter() + seconds
            words = type(evaluator).__name__.lower()
            rows.append(Speed(name, words, simulations, statistics.median(rates)))
    return rows
