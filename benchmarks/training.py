"""What training reaches: a run by its preset and a fixed seed, then its newest model against fixed opponents.

    .venv/bin/python benchmarks/training.py connect_four [--minutes 30] [--seed 0] [--runs build/training]

Wall and processor minutes are printed, of this process and its workers. The same command goes on with a run that is
there. Opponents and simulations are those of the table in issue 17's terms: rollout search with its best c. A line of
JSON per run goes to benchmarks/results/training.jsonl.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import resource
import time
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)

import anabranch as ab
from anabranch.learn.game_of_run import described
from anabranch.learn.presets import preset
from anabranch.learn.rating import rated_agent
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.train import train
from anabranch.play.solitaire import solitaire

RESULTS = Path(__file__).resolve().parent / "results" / "training.jsonl"
# game → (options, minutes, simulations of the trained agent, opponents, games against each)
GAMES: dict[str, tuple[dict[str, int | str | bool], float, int, tuple[str, ...], int]] = {
    "tic_tac_toe": ({}, 2.0, 25, ("random", "search:simulations=1000,c=3"), 200),
    "connect_four": ({}, 30.0, 200, ("search:simulations=1000,c=3", "search:simulations=10000,c=3"), 200),
    "othello": ({"size": 6}, 45.0, 200, ("search:simulations=1000,c=3",), 200),
    "pyrat": ({"drawn": True}, 20.0, 128, ("greedy", "search:simulations=128"), 200),
    "n_in_a_row": ({}, 60.0, 200, ("search:simulations=200",), 150),
    "yatzy": ({}, 60.0, 64, ("random", "search:simulations=64"), 500),
    "pig": ({}, 5.0, 64, ("random", "search:simulations=1000"), 400),
}


def processor() -> float:
    """Return the processor's seconds of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], help="a setting, e.g. learner.reuse=8")
    parser.add_argument("--runs", type=Path, default=Path("build/training"))
    flags = parser.parse_args()
    options, minutes, simulations, opponents, games = GAMES[flags.game]
    said = described(flags.game, options)
    game = ab.games.load(flags.game, **options)
    from anabranch.search.settings.mapping import from_pairs

    config = from_pairs(flags.set, base=dataclasses.replace(preset(game), seed=flags.seed, workers=flags.workers))
    config = dataclasses.replace(config, rating=dataclasses.replace(config.rating, models=0))
    flags.runs.mkdir(parents=True, exist_ok=True)
    folder = flags.runs / "-".join([flags.game, f"seed{flags.seed}", *(pair.replace("=", "") for pair in flags.set)])
    last = [0.0]

    def progress(status: object) -> None:
        if time.monotonic() - last[0] > 20.0:
            last[0] = time.monotonic()
            print(status, flush=True)

    before = processor()
    done = train(folder, said, config, minutes=flags.minutes or minutes, say=print, progress=progress)
    told = {**{key: value for key, value in vars(done).items() if key not in ("folder", "rated")}, "game": repr(game)}
    told |= {"seed": flags.seed, "workers": flags.workers, "set": flags.set, "cpu_minutes": (processor() - before) / 60}
    print(json.dumps(told), flush=True)
    with RunFolder.open(folder) as run:
        agent = rated_agent(run, game, len(run.ledger.rows["models"]), simulations)
    for opponent in opponents:
        if game.players == 1:
            got, theirs = solitaire(game, agent, games), solitaire(game, opponent, games)
            reach = 1.96 * float(got.std(ddof=1)) / games**0.5
            told[opponent] = [float(got.mean()), reach, float(theirs.mean())]
            print(f"{got.mean():.2f} ± {reach:.2f} points; {opponent}: {theirs.mean():.2f}", flush=True)
            continue
        found = ab.match(game, agent, opponent, games=games)
        told[opponent] = [found.score, *found.interval]
        print(f"{opponent}: {found.score:.3f} ({found.interval[0]:.3f} to {found.interval[1]:.3f})", flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as file:
        file.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
