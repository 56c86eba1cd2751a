"""A trained network of connect four, moving first, against players who never make a losing move.

    .venv/bin/python benchmarks/perfect_four.py [--run RUN] [--simulations 400] [--openings 50]
        [--exact 9] [--write]

The other player is exact: it keeps win, draw or loss. Among the moves that do it draws one, or, to set problems, it
takes the one that a search with 1,000 rollouts likes best. Games begin in two ways: after twelve moves, drawn from the
visits of searches with 100 rollouts, in positions that are draws by best play; and from the empty board, which the
first player can win. There every pair of answers to the agent's first two moves is tried once, and since positions of
so few stones take long to solve, the other player is exact from its fifth move on (`--exact`). As long as the agent
keeps its win, no answer is better than another. The most that anybody can be sure of is 1/2 of an opening and 1 from
the empty board; less counts moves that gave something away.

`--run` takes the newest model of a run, else the network that comes with the library plays.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
import pages

import anabranch as ab
from anabranch.game.random import Random, below
from anabranch.learn.export import exported
from anabranch.learn.run_folder import RunFolder
from anabranch.nets.files import read
from anabranch.play.agent import Turn
from anabranch.play.interval import interval
from anabranch.play.search_agent import sampled
from anabranch.play.search_names import make_best
from anabranch.search.exact.connect_four_oracle import ConnectFourOracle

PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"
GAME, PLIES = "connect_four", 12  # an even number: the agent, who moves first, is to move
LOST = -1  # what a position is worth to a mover who has nothing to keep


class Exact(ab.Agent):
    """Plays moves that keep what a position is worth; which of them, `pick` says."""

    def __init__(self, game: ab.Game, pick: Any, ply: int) -> None:
        self.oracle, self.pick, self.ply = ConnectFourOracle(game), pick, ply

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        return [self.pick(turn, self._kept(turn.state)) for turn in turns]

    def _kept(self, state: ab.State) -> list[int]:
        """Return the moves that lose nothing; all of them early, and where everything is lost."""
        if state.ply < self.ply or self.oracle.value(state) == LOST:
            return list(state.legal())
        return self.oracle.best_actions(state)


def drawn(turn: Turn, kept: list[int]) -> int:
    """Return one of the moves by chance."""
    return kept[below(turn.random(), len(kept))]


def hardest(turn: Turn, kept: list[int]) -> int:
    """Return the move that a search with rollouts visits most."""
    visits = ab.search(turn.state, simulations=1000, config=ab.SearchConfig(seed=turn.seed)).visits
    return max(kept, key=lambda action: float(visits[turn.seat, action]))


def openings(game: ab.Game, count: int) -> list[ab.State]:
    """Return different positions after moves of a weak search that are draws by best play."""
    oracle, number = ConnectFourOracle(game), 0
    found: dict[Any, ab.State] = {}
    while len(found) < count:
        random, number = Random(number), number + 1
        state = game.start()
        while state.ply < PLIES and not state.over:
            visits = ab.search(state, simulations=100, config=ab.SearchConfig(seed=number)).visits[state.ply & 1]
            state, _ = state.step(sampled(visits.tolist(), 1.0, random))
        if not state.over and oracle.value(state) == 0:
            found[state.data] = state
    return list(found.values())


def answered(game: ab.Game, agent: Any) -> list[ab.State]:
    """Return the positions after the agent's first two moves and each pair of answers to them."""
    found = [game.start()]
    for _ in range(2):
        actions = agent.choose([Turn(state, 0, seed=1) for state in found])
        after = [state.step(action)[0] for state, action in zip(found, actions, strict=True)]
        found = [state.step(reply)[0] for state in after for reply in state.legal()]
    return found


def points(agent: Any, exact: Exact, beginnings: Sequence[ab.State]) -> list[float]:
    """Return what the agent, who moves first, gets of each game: 1, 1/2 or 0."""
    got = []
    for number, state in enumerate(beginnings):
        while not state.over:
            seat = state.ply & 1
            (action,) = (exact if seat else agent).choose([Turn(state, seat, seed=number + 1)])
            state, paid = state.step(action)
        got.append((1.0 + float(paid[0])) / 2.0)
    return got


def trained(run: Path | None, game: ab.Game, simulations: int) -> tuple[str, Any]:
    """Return a name and an agent: of the newest model of a run, or of the network that comes along."""
    if run is None:
        return "the network that comes along", make_best(f"simulations={simulations}", game)
    with RunFolder.look(run, print) as folder:
        row = folder.ledger.rows["models"][-1]
        net = read(row["file"], folder.read(row["file"], row["sha256"]), game)
        evaluator = exported(net, game, folder.config.export.evaluator)[0]
    return f"step {row['step']:,}", ab.SearchAgent(simulations=simulations, evaluator=evaluator, threads=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", type=Path)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--openings", type=int, default=50)
    parser.add_argument("--exact", type=int, default=9, help="the ply from which on the other player is exact")
    parser.add_argument("--write", action="store_true", help="into docs/training.md")
    flags = parser.parse_args()
    game = ab.games.load(GAME)
    name, agent = trained(flags.run, game, flags.simulations)
    rollouts = ab.SearchAgent(simulations=flags.simulations, threads=1)
    lines = [
        "| moves first | the exact player's moves | begins | games | won, drawn, lost | share of points | of at most |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    print("\n".join(lines), flush=True)
    balanced = openings(game, flags.openings)
    for pick, said in ((drawn, "drawn"), (hardest, "what rollouts like")):
        for who, player in ((f"{name}, {flags.simulations}", agent), (f"rollouts, {flags.simulations}", rollouts)):
            for where, beginnings, most in (
                (f"{flags.openings} drawn positions, ply {PLIES}", balanced, 0.5),
                ("empty board, each pair of answers", answered(game, player), 1.0),
            ):
                got = points(player, Exact(game, pick, flags.exact), beginnings)
                low, high = interval(got)
                counts = ", ".join(str(got.count(worth)) for worth in (1.0, 0.5, 0.0))
                share = f"{sum(got) / len(got):.3f} ({low:.3f} to {high:.3f})"
                cells = [who, said, where, str(len(got)), counts, share, f"{most:g}"]
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    if flags.write:
        pages.fill("perfect_connect_four", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
