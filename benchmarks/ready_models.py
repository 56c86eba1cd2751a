"""Put the newest model of a training run into the package, with its settings, its log and what it is measured against.

    .venv/bin/python benchmarks/ready_models.py RUN NAME [--agent simulations=200] [--plays 'pyrat(*)'] [--games 200]

NAME is the folder in src/anabranch/data/models. `--agent` are the settings that the agent `best` searches with, as
`search:` takes them. `--plays` are patterns of the games it is for, as games print themselves; without it, the game of
the run. `--against` are further opponents. It plays random and rollout search with as many simulations, or of a game
for one player both on the same dice, and becomes the default of commands if it is at least as strong as the latter.
`--measure` measures those that are there again, whose weights stay as they are; with `--agent` by other settings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)
import msgspec
import pages

import anabranch as ab
from anabranch.evaluate.ready import FORMAT, LOG, MODELS, SETTINGS, WEIGHTS, Against, Log, ReadyModel, ready_models
from anabranch.files import replace_file
from anabranch.learn.game_of_run import load_game
from anabranch.learn.run_folder import RunFolder
from anabranch.play.solitaire import solitaire

MOST = 5 * 2**20  # bytes of all models
TRAINING = Path(__file__).resolve().parents[1] / "docs" / "training.md"


def simulations_of(agent: str) -> str:
    """Return the budget in an agent's settings."""
    return next(pair for pair in agent.split(",") if pair.startswith("simulations="))


def measured(game: ab.Game, agent: str, opponents: list[str], games: int) -> list[Against]:
    """Return how the agent `best` does against others; for one player, its mean return and theirs."""
    name, found = f"best:{agent}", []
    for opponent in opponents:
        if game.players > 1:
            seats = [name, *[opponent] * (game.players - 1)] if game.players > 2 else [name, opponent]
            result = ab.match(game, *seats, games=games)
            score, (low, high) = result.score, result.interval
        else:
            got = solitaire(game, name, games) - solitaire(game, opponent, games)
            score = float(got.mean())
            reach = 1.96 * float(got.std(ddof=1)) / len(got) ** 0.5
            low, high = score - reach, score + reach
        print(f"{name} against {opponent}: {score:.3f} ({low:.3f} to {high:.3f})", flush=True)
        found.append(Against(agent=name, opponent=opponent, games=games, score=score, low=low, high=high))
    return found


def level(game: ab.Game) -> float:
    """Return the score of an agent that is as strong as its opponents."""
    return 0.0 if game.players == 1 else 1.0 / game.players


def write(folder: Path, log: Log) -> None:
    text = json.dumps(msgspec.to_builtins(log), indent=1)
    replace_file(folder / LOG, text.encode() + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("name", nargs="?")
    parser.add_argument("--agent", help="those it has if it is there, else simulations=200")
    parser.add_argument("--plays", action="append")
    parser.add_argument("--against", action="append", default=[])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--model", type=int, help="which model of the run; the newest if not given")
    parser.add_argument("--measure", action="store_true", help="measure those that are there again")
    flags = parser.parse_args()
    if flags.measure:
        for model in [ReadyModel(MODELS / flags.name)] if flags.name else ready_models():
            model.log.agent = flags.agent or model.log.agent
            settle(model.folder, model.log, flags)
        return
    with RunFolder.open(flags.run) as run:
        row = run.ledger.rows["models"][-1 if flags.model is None else flags.model - 1]
        data = run.read(row["file"], row["sha256"])
        told = {"games": len(run.ids), "positions": run.positions, "steps": row["step"], "seed": run.config.seed}
        told |= {"minutes": round(row["seconds"] / 60, 2), "version": ab.__version__}
        mix = run.config.self_play
        course, said = [dict(each) for each in run.ledger.rows["metrics"]], run.game
    game = load_game(said)
    folder, agent = MODELS / flags.name, flags.agent or "simulations=200"
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / WEIGHTS, data)
    shutil.copyfile(flags.run / "run.toml", folder / SETTINGS)
    log = Log(
        format=FORMAT, sha256=hashlib.sha256(data).hexdigest(), game=said, plays=flags.plays or [game.written_out],
        agent=agent, default=False, rollouts=mix.rollouts, share=mix.share, run=told, course=course, against=[],
    )  # fmt: skip
    write(folder, log)
    settle(folder, log, flags)
    size = sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file())
    print(f"{folder.name}: {len(data):,} bytes of weights; all models together {size:,} of {MOST:,}")


def settle(folder: Path, log: Log, flags: argparse.Namespace) -> None:
    """Measure a model and write what was found."""
    game, equal = load_game(log.game), f"search:{simulations_of(log.agent)}"
    log.against = measured(game, log.agent, ["random", equal, *flags.against], flags.games)
    log.default = log.against[1].score >= level(game)
    write(folder, log)
    pages.fill("ready", table(), TRAINING)


def table() -> str:
    """Return what all models were measured against, for docs/training.md."""
    lines = ["| game | trained | agent | opponent | score, 95 % interval |", "| --- | ---: | --- | --- | ---: |"]
    for model in ready_models():
        log = model.log
        for each in log.against:
            score = f"{each.score:.3f} ({each.low:.3f} to {each.high:.3f})"
            minutes = f"{log.run['minutes']:g} min"
            lines.append(f"| `{log.plays[0]}` | {minutes} | `{each.agent}` | `{each.opponent}` | {score} |")
    return "\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
