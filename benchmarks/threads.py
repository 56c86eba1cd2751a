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
        rates = measure.compare(
            [contender(threads, evaluator, simulations) for threads in (2, 1)], rounds=15, wall=True
        )
        # Work per second of processor time tells how two threads hinder each other, whoever else has the cores.
        got = rates.busy[0]
        alone = rates.rate("1 threads") / rates.busy[1]
        note = (
            f"one thread; had {got:.2f} cores, {rates.rate('2 threads') / got / alone:.2f} of the work per core second"
        )
        name = f"{ROOTS} roots × {simulations}, {type(evaluator).__name__.lower()}, 2 threads"
        lines.append(measure.versus(name, rates, "2 threads", "1 threads", BAR, note))
    return lines


if __name__ == "__main__":
    measure.use_cores(2)
    measure.finish(__file__, rows())
