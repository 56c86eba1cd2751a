"""How often a model of a run is first against two others of a kind, in a game for three.

    .venv/bin/python benchmarks/first_places.py RUN [--checkpoints 4] [--games 300] [--simulations 200] [--write NAME]

Checkpoints spread over the run, the last among them, play from every seat equally often against two searches with
rollouts and as many simulations, and the last one also against two random players. A share of 1/3 is what one of the
opponents would get. The first line is one of them in the model's place. Runs of both methods can be judged: models of
muzero plan in what they learnt, with the simulations of the run. `--write NAME` puts the table into docs/training.md or
docs/muzero.md, wherever that name has a place.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
import pages

import anabranch as ab
from anabranch.learn.game_of_run import game_of
from anabranch.learn.rating import chosen_models, rated_agent
from anabranch.learn.run_folder import RunFolder
from anabranch.play.interval import interval

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = ["in one seat", "minutes", "positions", "against two", "games", "first", "95 % interval", "by seat"]


def row(game: ab.Game, one: Any, other: Any, games: int) -> list[str]:
    """Return how many games there were, the share of first places with its interval, and the shares by seat."""
    found = ab.match(game, one, other, games=games)
    own = [(played.seats.index(0), played.returns) for played in found.records if played.seats.count(0) == 1]
    firsts = [
        (seat, float(returns[seat] == max(returns) and returns.count(max(returns)) == 1)) for seat, returns in own
    ]
    low, high = interval([first for _, first in firsts])
    seats = [[first for at, first in firsts if at == seat] for seat in range(game.players)]
    shares = ", ".join(f"{sum(each) / len(each):.2f}" for each in seats)
    return [
        str(len(firsts)),
        f"{sum(first for _, first in firsts) / len(firsts):.3f}",
        f"{low:.3f} to {high:.3f}",
        shares,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--checkpoints", type=int, default=4)
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--write", metavar="NAME")
    flags = parser.parse_args()
    rollouts = f"search:simulations={flags.simulations}"
    lines = []
    with RunFolder.open(flags.run) as run:
        game, muzero = game_of(run), run.config.method == "muzero"
        think = run.config.rating.simulations if muzero else flags.simulations
        lines.append(["rollouts", "", "", rollouts, *row(game, rollouts, rollouts, flags.games)])
        print(lines[-1], flush=True)
        versions = chosen_models(run, flags.checkpoints)
        for version in versions:
            agent = rated_agent(run, game, version, think)
            facts = next(each for each in run.ledger.rows["models"] if each["version"] == version)
            told = [f"model, {think} simulations", f"{facts['seconds'] / 60:.1f}", f"{facts['positions']:,}"]
            for other in [rollouts] + ["random"] * (version == versions[-1]):
                lines.append([*told, other, *row(game, agent, other, flags.games)])
                print(lines[-1], flush=True)
    text = "\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---", *["---:"] * (len(HEAD) - 1)], *lines])
    print(text)
    if flags.write:
        page = next(page for page in DOCS.glob("*.md") if f"<!-- {flags.write}:begin -->" in page.read_text("utf-8"))
        pages.fill(flags.write, text, page)


if __name__ == "__main__":
    main()
