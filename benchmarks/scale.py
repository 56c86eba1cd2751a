"""How far one learner goes: what 1 to 1,000 workers would send, and when learning is the bottleneck. Connect four.

    .venv/bin/python benchmarks/scale.py [--seconds 40] [--workers 1 2 4 10 100 1000] [--faster 1 50] [--write]

First everything is measured, on one core and in processor seconds, by the game's preset: what a worker makes of one
core, what its games weigh, what taking them in costs (reading, committing, computing what players saw), what a step of
the learner and an export cost, what weights weigh. Then the loop is simulated with those figures: games arrive from so
many workers; the process that learns takes in what has come, at most so many games, makes at most eight steps, exports
when it is time, again and again; workers get new numbers for games that were taken in, and wait where there are none.
A learner that cannot keep up shows every position less often than `learner.reuse` says. `--faster` assumes steps and
exports that take so many times less, as on an accelerator; that was not measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)
from pages import fill

import anabranch as ab
from anabranch.learn.export import exported
from anabranch.learn.game_of_run import described
from anabranch.learn.learner import Learner, new_net
from anabranch.learn.presets import preset
from anabranch.learn.processes import AHEAD, MOST
from anabranch.learn.records import GameRecord, read_shard, write_shard
from anabranch.learn.replay import Replay
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.selfplay import Worker
from anabranch.learn.worker import weights_message
from anabranch.nets.shape import shape_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"
STEPS_AT_ONCE = 8  # as in learn/loop.py


@dataclass(frozen=True)
class Costs:
    """What was measured, per game where nothing else is said; seconds are a core's."""

    games: float  # that a worker ends in a second
    positions: float  # recorded, of a game
    evaluations: float
    sent: float  # bytes
    taken_in: float  # seconds: read, written to disk, committed, played again for the replay
    step: float  # seconds of a learner's step
    export: float  # seconds
    weights: float  # bytes of a version
    batch: int
    reuse: float
    every: int  # steps between exports
    ahead: int  # games a worker knows of


def timed(act: object) -> tuple[object, float]:
    """Call something and return what it returns, and the processor seconds it took."""
    assert callable(act)
    begun = time.process_time()
    made = act()
    return made, time.process_time() - begun


def measured(seconds: float) -> Costs:
    """Play, take in, learn and export for so long, and return what everything costs."""
    game, said = ab.games.load("connect_four"), described("connect_four", {})
    config = preset(game)
    learner = Learner(new_net(config.net, shape_of(game), 0), config.learner)
    (evaluator, _), _ = timed(lambda: exported(learner.average, game, config.export.evaluator))  # type: ignore[misc]
    records: list[GameRecord] = []
    with Worker(game, config, evaluator) as worker:
        batches = worker.play(itertools.count())
        begun, warm = time.process_time(), (0.0, 0, 0)
        while (passed := time.process_time() - begun) < seconds:
            records += next(batches)
            if passed > seconds / 3 and not warm[0]:  # before, all games are in their openings
                warm = passed, len(records), worker.rows
        rows = worker.rows - warm[2]
        games, played = len(records) - warm[1], time.process_time() - begun - warm[0]
    records = records[warm[1] :]
    shards = [records[at : at + config.replay.shard] for at in range(0, len(records), config.replay.shard)]
    sent = [write_shard(shard, 2) for shard in shards]
    replay = Replay(game, config.replay, config.targets)
    with tempfile.TemporaryDirectory() as folder, RunFolder.create(Path(folder, "run"), said, config) as run:
        begun = time.process_time()
        for data in sent:
            for record in run.commit_games(read_shard(data), 2):
                replay.add(record)
        taken_in = time.process_time() - begun
    steps = max(3, int(seconds / 5))
    learner.learn(replay.sample(config.learner.batch, 0, 0))
    begun = time.process_time()
    for number in range(steps):
        learner.learn(replay.sample(config.learner.batch, 0, number))
    step = (time.process_time() - begun) / steps
    begun = time.process_time()
    evaluator, _ = exported(learner.average, game, config.export.evaluator)
    export = time.process_time() - begun
    positions = sum(record.recorded for record in records)
    return Costs(
        games=games / played,
        positions=positions / len(records),
        evaluations=rows / games,
        sent=sum(map(len, sent)) / len(records),
        taken_in=taken_in / len(records),
        step=step,
        export=export,
        weights=len(weights_message(evaluator, 1)),
        batch=config.learner.batch,
        reuse=config.learner.reuse,
        every=config.export.every,
        ahead=AHEAD * config.self_play.abreast,
    )


@dataclass(frozen=True)
class Found:
    """What a simulated hour of the process that learns looks like."""

    workers: int
    games: float  # taken in, a second
    taking_in: float  # shares of its time
    learning: float
    exporting: float
    idle: float
    reuse: float  # how often a position is shown
    workers_idle: float  # share of the workers' time
    exports: float  # an hour


def simulated(costs: Costs, workers: int, hours: float = 1.0) -> Found:
    """Let the loop of `learn/loop.py` run on figures: take in what has come, at most eight steps, perhaps an export."""
    rate, end = workers * costs.games, 3600.0 * hours
    now = before = taking = learning = exporting = idle = played = waiting = 0.0
    taken = steps = exports = 0
    while now < end:
        room = workers * costs.ahead - waiting  # games that workers have numbers for
        more = min(rate * (now - before), max(0.0, room))
        before, played, waiting = now, played + more / rate, waiting + more
        arrived = min(MOST, int(waiting))
        waiting -= arrived
        spent = arrived * costs.taken_in
        taken, taking, now = taken + arrived, taking + spent, now + spent
        credit = costs.reuse * costs.positions * taken - steps * costs.batch
        made = min(STEPS_AT_ONCE, max(0, int(credit / costs.batch)))
        steps, learning, now = steps + made, learning + made * costs.step, now + made * costs.step
        if steps // costs.every > exports:
            exports = steps // costs.every
            exporting, now = exporting + costs.export, now + costs.export
        if not arrived and not made:
            wait = 0.05
            idle, now = idle + wait, now + wait
    return Found(
        workers, taken / now, taking / now, learning / now, exporting / now, idle / now,
        steps * costs.batch / max(1.0, taken * costs.positions), 1.0 - played / now, exports / hours,
    )  # fmt: skip


def table(costs: Costs, workers: list[int], faster: list[float]) -> str:
    """Return the measured figures and the table."""
    lines = [
        f"Measured, on one core: a worker ends {costs.games:.2f} games a second, {costs.evaluations:,.0f} evaluations "
        f"and {costs.positions:.1f} recorded positions each; a game is {costs.sent:,.0f} bytes on the wire and costs "
        f"the learning process {1e3 * costs.taken_in:.2f} ms until it is in the replay; a step of {costs.batch} rows "
        f"takes {1e3 * costs.step:.0f} ms, an export {costs.export:.1f} s; weights are {costs.weights / 1e3:,.0f} kB.",
        "",
        "| learner | workers | games/s | games, MB/s to the learner | weights, MB/s from it | taking in | learning | "
        "exporting | idle | workers idle | samples a position | exports an hour |",
        "|---|" + "---:|" * 11,
    ]
    for times, count in itertools.product(faster, workers):
        sped_up = dataclasses.replace(costs, step=costs.step / times, export=costs.export / times)
        found = simulated(sped_up, count)
        out = found.exports / 3600.0 * costs.weights * count / 1e6
        cells = (
            *(
                "as measured" if times == 1 else f"{times:g} × faster",
                f"{count:,}",
                f"{found.games:,.1f}",
                f"{found.games * costs.sent / 1e6:.3f}",
                f"{out:.3f}",
            ),
            *(f"{share:.0%}" for share in (found.taking_in, found.learning, found.exporting, found.idle)),
            f"{found.workers_idle:.0%}",
            *(f"{found.reuse:.2f} of {costs.reuse:g}", f"{found.exports:,.0f}"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 10, 100, 1000])
    parser.add_argument("--faster", type=float, nargs="+", default=[1.0, 50.0])
    parser.add_argument("--write", action="store_true", help="into docs/training.md")
    asked = parser.parse_args()
    costs = measured(asked.seconds)
    print(dataclasses.asdict(costs))
    text = table(costs, asked.workers, asked.faster)
    print(text)
    if asked.write:
        fill("scale", text, PAGE)


if __name__ == "__main__":
    main()
