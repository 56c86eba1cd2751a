"""Games of users' own, trained with one command and no other settings, against rollout search with as many simulations.

    .venv/bin/python benchmarks/own_games.py [--minutes 3] [--games 300] [--runs build/own_games] [--write]

Each is a file of rules in examples/games that the library knows nothing of: Dots and Boxes, a dice game for one, and an
auction for three who bid at once. `--write` puts the table into docs/training.md. Runs that are there are gone on with.
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)
import pages

import anabranch as ab
from anabranch.learn.game_of_run import described
from anabranch.learn.train import train
from anabranch.play.solitaire import solitaire

ROOT = Path(__file__).resolve().parents[1]
GAMES = {
    "Dots and Boxes, 3 × 3": ("dots_and_boxes.py:DotsAndBoxes", ""),
    "shut the box, dice, one player": ("shut_the_box.py:ShutTheBox", ""),
    "auction, three players at once": ("auction.py:Auction", ",simultaneous=RegretMatching"),
}


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def compared(game: ab.Game, model: Path, simulations: int, settings: str, games: int) -> str:
    """Return how a trained network does against rollouts, both searching as much."""
    trained, rollouts = (
        f"search:simulations={simulations},evaluator={model}{settings}",
        f"search:simulations={simulations}{settings}",
    )
    if game.players == 1:
        got, theirs = solitaire(game, trained, games), solitaire(game, rollouts, games)
        reach = 1.96 * float((got - theirs).std(ddof=1)) / games**0.5
        return f"{got.mean():.2f} against {theirs.mean():.2f} points, {(got - theirs).mean():+.2f} ± {reach:.2f}"
    found = ab.match(game, trained, rollouts, games=games)
    return f"{found.score:.3f} ({found.interval[0]:.3f} to {found.interval[1]:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--runs", type=Path, default=ROOT / "build" / "own_games")
    parser.add_argument("--write", action="store_true", help="into docs/training.md")
    flags = parser.parse_args()
    flags.runs.mkdir(parents=True, exist_ok=True)
    lines = ["| game | processor s | 16 simulations | 64 simulations |", "| --- | ---: | ---: | ---: |"]
    for name, (file, settings) in GAMES.items():
        where = f"examples/games/{file}"
        game, folder = ab.games.load(str(ROOT / where)), flags.runs / file.partition(".")[0]
        before = processor()
        train(folder, described(str(ROOT / where), {}), minutes=flags.minutes, say=print)
        spent = processor() - before
        model = sorted((folder / "models").glob("*.safetensors"))[-1]
        scores = [compared(game, model, simulations, settings, flags.games) for simulations in (16, 64)]
        lines.append(f"| {name} | {spent:.0f} | {' | '.join(scores)} |")
        print(lines[-1], flush=True)
    if flags.write:
        pages.fill("own games", "\n" + "\n".join(lines) + "\n", ROOT / "docs" / "training.md")


if __name__ == "__main__":
    main()
