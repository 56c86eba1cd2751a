"""What does a second thread bring? 64 roots of connect four on two threads against one; roots are made untimed."""

from __future__ import annotations

import measure  # first: it limits threads

import anabranch as ab

ROOTS = 64
BAR = 1.7


def contender(threads: int, evaluator: ab.Uniform | ab.Rollout, simulations: int) -> measure.Contender:
    """Return a search of all roots on so many threads."""
    game = ab.games.load("connect_four")
    searcher = ab.Searcher(game, evaluator, threads=threads)
    roots: list[ab.Root] = []

    def prepare() -> None:
        roots[:] = [searcher.root(game.start()) for _ in range(ROOTS)]

    return measure.Contender(
        f"{threads} threads", lambda: searcher.run(roots, simulations=simulations), float(ROOTS * simulations), prepare
    )


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    lines = []
    for evaluator, simulations in ((ab.Uniform(), 4000), (ab.Rollout(), 2000)):
        contenders = [contender(threads, evaluator, simulations) for threads in (2, 1)]
        rates = measure.compare(contenders, rounds=40, seconds=15.0, wall=True)
        alone = rates.undisturbed((1.8, 0.9))  # rounds in which nobody else wanted the cores
        words = f"one thread; {len(alone.rounds)} of {len(rates.rounds)} rounds undisturbed"
        if len(alone.rounds) >= 3:
            rates = alone
        else:
            words += f": had {rates.share('2 threads'):.2f} cores, so this says little"
        name = f"{ROOTS} roots × {simulations}, {type(evaluator).__name__.lower()}, 2 threads"
        lines.append(measure.versus(name, rates, "2 threads", "1 threads", BAR, words))
    return lines


if __name__ == "__main__":
    measure.use_cores(2)
    measure.finish(__file__, rows())
