"""What learning the rules reaches: a run of the method muzero by its preset, and every checkpoint judged.

    .venv/bin/python benchmarks/muzero.py tic_tac_toe [--minutes 10] [--cpu-minutes 3] [--seed 0] [--write]

Tic-tac-toe is judged by enumeration: every reply of an opponent is tried, in both seats, and lines that lose are
counted. With three players, 4×4 and lines of three, the newest model plays 300 games against two players who win if
they can and else block if they must, and the last games of self-play say which seat wins; on 9×9 with lines of four
benchmarks/first_places.py judges. In connect four some checkpoints play at 200 simulations against a search with 1,000
plain rollouts a move: planning in what was learnt, and searching by the true rules with the same network. The pole of
examples/05_cart_pole.py is balanced in 20 episodes by every checkpoint. The same command goes on with a run that is
there. `--write` puts the table, of all seeds whose runs are there, into docs/muzero.md.

`hundred` is not about strength: one cycle in a new folder, in which three players on 100×100 with lines of eight play
at random, then by plans, the network of the preset learns from that, and a gate plays what it has become against what
it was. What every part takes of the processor is printed, and how much memory the process had at most.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
import pages
from ablations import OPPONENT, SIMULATIONS, until

import anabranch as ab
from anabranch.game.random import below
from anabranch.learn import loop
from anabranch.learn.game_of_run import described
from anabranch.learn.players import InProcess
from anabranch.learn.presets import preset
from anabranch.learn.rating import chosen_models, rated_agent
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.stopping import Stopping
from anabranch.learn.train import train
from anabranch.nets.files import read
from anabranch.play.agent import Turn
from anabranch.search.settings.mapping import from_pairs

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "muzero.md"
EPISODES = 20
LAST = 300  # games of self-play whose winners are counted
GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "tic_tac_toe": ("tic_tac_toe", {}),
    "three_players": ("n_in_a_row", {"players": 3, "size": 4, "line": 3, "rewards": "win"}),
    "nine": ("n_in_a_row", {}),
    "connect_four": ("connect_four", {}),
    "hundred": ("n_in_a_row", {"players": 3, "size": 100, "line": 8}),
    "cart_pole": (f"{ROOT / 'examples' / '05_cart_pole.py'}:CartPole", {}),
}
# One cycle of the preset's network, with less of everything else than the preset has.
CYCLE = (
    *("self_play.abreast=1", "self_play.random_games=2", "self_play.openings=0", "replay.shard=1", "replay.least=1000"),
    *("search.cap.full=4", "search.cap.fast=4", "learner.batch=32", "export.every=3", "most_steps=3"),
    *("export.gate=test", "export.gate_pairs=1", "rating.simulations=2", "rating.positions=0", "rating.models=0"),
    *("workers=0", "minutes=600"),
)


class WinOrBlock(ab.Agent):
    """Wins if it can, blocks if it must, and else moves at random."""

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        return [self._choice(turn) for turn in turns]

    def _choice(self, turn: Turn) -> int:
        legal = turn.state.legal(turn.seat)
        for player in range(turn.state.game.players):  # oneself first, then whoever moves next
            found = [cell for cell in legal if _wins(turn.state, cell, player)]
            if found:
                return found[0]
        return legal[below(turn.random(), len(legal))]


def _wins(state: ab.State, cell: int, moves_before: int) -> bool:
    """Whether a cell wins for whoever moves after so many moves elsewhere."""
    for _ in range(moves_before):
        others = [each for each in state.legal() if each != cell]
        safe = [following for each in others if not (following := state.step(each)[0]).over]
        if not safe:
            return False
        state = safe[0]
    following, paid = state.step(cell)
    return following.over and bool(paid.max() > 0)


def losing_lines(agent: Any, game: ab.Game, seat: int) -> int:
    """Return how many positions an agent that plays without chance can lose in, whatever the other one plays."""
    level, lost = [game.start()], 0
    while level:
        following: dict[Any, ab.State] = {}
        own = [state for state in level if state.turn == (seat,)]
        for state, action in zip(own, agent.choose([Turn(state, seat, seed=1) for state in own]), strict=True):
            reached, _ = state.step(action)
            following |= {} if reached.over else {reached.data: reached}
        for state in level:
            for action in state.legal() if state.turn != (seat,) else ():
                reached, paid = state.step(action)
                lost += bool(reached.over and paid[seat] < 0)
                following |= {} if reached.over else {reached.data: reached}
        level = list(following.values())
    return lost


def episode_lengths(agent: Any, game: ab.Game) -> list[int]:
    """Return how many steps an agent balances the pole in each of some episodes, all played abreast."""
    under_way = [game.start(10_000 + episode) for episode in range(EPISODES)]
    lengths: list[int] = []
    steps = 0
    while under_way:
        chosen = agent.choose([Turn(state, 0, seed=1) for state in under_way])
        steps += 1
        following = [state.step(action)[0] for state, action in zip(under_way, chosen, strict=True)]
        under_way = [state for state in following if not state.over]
        lengths += [steps] * (len(following) - len(under_way))
    return lengths


def trained(name: str, folder: Path, flags: argparse.Namespace) -> ab.Game:
    """Train, or go on; the processor's time of every step is kept beside the run."""
    kind, options = GAMES[name]
    game = ab.games.load(kind, **options)
    config = preset(game, "muzero")
    config = dataclasses.replace(config, seed=flags.seed, minutes=flags.minutes, most_steps=flags.steps)
    config = from_pairs(["rating.models=0", *flags.set], base=config)
    clock = folder.with_suffix(".clock")
    if not folder.exists():
        clock.unlink(missing_ok=True)  # of a run that was taken away
    earlier = [json.loads(line)[1] for line in clock.read_text().splitlines()] if clock.exists() else [0.0]
    begun, last = time.process_time() - earlier[-1], [0.0]
    stop = until(flags.cpu_minutes - earlier[-1] / 60)
    with clock.open("a") as file:

        def progress(status: Any) -> None:
            stop(status)
            if time.monotonic() - last[0] > 2.0:
                last[0] = time.monotonic()
                print(json.dumps([getattr(status, "step", 0), time.process_time() - begun]), file=file, flush=True)

        train(folder, described(kind, options), config, say=print, progress=progress)
    return game


def minutes_at(step: int, folder: Path) -> str:
    """Return the processor's minutes at a step; nothing where a run was not timed from its beginning on."""
    clock = folder.with_suffix(".clock")
    rows = [json.loads(line) for line in clock.read_text().splitlines()] if clock.exists() else []
    if not rows or rows[0][0] > 0:
        return ""
    return f"{min((seconds for at, seconds in rows if at >= step), default=rows[-1][1]) / 60.0:.1f}"


def judged(name: str, game: ab.Game, folders: Sequence[Path], checkpoints: int) -> str:
    """Return a table of the checkpoints of runs, and what else is told of the last one."""
    what = {"tic_tac_toe": ["losing lines first, second"], "cart_pole": ["steps balanced, mean, least"]}.get(name, [])
    heads = ["seed", "CPU minutes", "wall", "games", "steps", *what]
    far = preset(game, "muzero").unroll.steps
    heads += [f"{each} 1, {far}" for each in ("reward", "end", "missed ends", "legal", "value")]
    lines, more = ["| " + " | ".join(heads) + " |", "|" + " ---: |" * len(heads)], []
    for folder in folders:
        with RunFolder.look(folder, print) as run:
            models = run.ledger.rows["models"]
            for row in models:
                lines.append("| " + " | ".join(_cells(name, game, run, row, folder)) + " |")
                print(lines[-1], flush=True)
            if name == "connect_four":
                more += ["", *against_rollouts(run, game, checkpoints)]
            if name == "three_players":
                more += ["", *against(run, game, len(models)), "", winners(run, game)]
    return "\n".join(lines + more)


def _cells(name: str, game: ab.Game, run: RunFolder, row: dict[str, Any], folder: Path) -> list[str]:
    """Return what is said of one checkpoint."""
    metrics = next(each for each in run.ledger.rows["metrics"] if each["step"] == row["step"])
    cells = [str(run.config.seed), minutes_at(row["step"], folder), f"{metrics['seconds'] / 60.0:.1f}"]
    cells += [f"{metrics['games']:,}", f"{row['step']:,}"]
    if name in ("tic_tac_toe", "cart_pole"):
        agent = rated_agent(run, game, row["version"], run.config.rating.simulations)
    if name == "tic_tac_toe":
        cells.append(", ".join(str(losing_lines(agent, game, seat)) for seat in (0, 1)))
    if name == "cart_pole":
        lengths = episode_lengths(agent, game)
        cells.append(f"{sum(lengths) / len(lengths):.0f}, {min(lengths)}")
    for part in ("reward", "end", "missed", "legal", "value"):
        ends = [metrics["model"][part][at] for at in (0, -1)]
        cells.append(", ".join("" if each is None else f"{each:.3f}" for each in ends))
    return cells


def winners(run: RunFolder, game: ab.Game) -> str:
    """Return which seats won the last games of self-play that began without random moves."""
    played = [record for row in run.ledger.rows["shards"] for record in run.games(row)]
    last = [record for record in sorted(played, key=lambda each: each.id) if not record.opened][-LAST:]
    paid = [[sum(step) for step in zip(*(each.rewards for each in record.decisions), strict=True)] for record in last]
    wins = [sum(returns[seat] > 0 for returns in paid) for seat in range(game.players)]
    seats = ", ".join(str(count) for count in wins)
    return f"Wins of seats 0, 1 and 2 in the last {len(last)} games of self-play from the start: {seats}."


def against(run: RunFolder, game: ab.Game, version: int) -> list[str]:
    """Return how the newest model did against two players of a kind, and how one of these does in its place."""
    model = rated_agent(run, game, version, run.config.rating.simulations)
    lines = ["| in one seat | against two | games | wins | losses |", "| --- | --- | ---: | ---: | ---: |"]
    for who, one, kind, other in (
        ("the model", model, "win-or-block players", WinOrBlock()),
        ("the model", model, "random ones", "random"),
        ("a win-or-block player", WinOrBlock(), "win-or-block players", WinOrBlock()),
    ):
        found = ab.match(game, one, other, games=300, openings=0)
        own = [(played.returns, played.seats.index(0)) for played in found.records]
        wins = sum(returns[seat] > 0 for returns, seat in own)
        losses = sum(max(returns) > 0 and returns[seat] <= 0 for returns, seat in own)
        lines.append(f"| {who} | {kind} | {len(own)} | {wins} | {losses} |")
        print(lines[-1], flush=True)
    return lines


def against_rollouts(run: RunFolder, game: ab.Game, checkpoints: int) -> list[str]:
    """Return how some checkpoints did against plain rollouts, by plans and by searches with the true rules."""
    head = ["steps", "who", "score, 95 % interval"]
    lines = ["| " + " | ".join(head) + " |", "| ---: | --- | ---: |"]
    for version in chosen_models(run, checkpoints):
        row = run.ledger.rows["models"][version - 1]
        net = read(row["file"], run.read(row["file"], row["sha256"]), game)
        plans = rated_agent(run, game, version, SIMULATIONS)
        searches = ab.SearchAgent(simulations=SIMULATIONS, evaluator=ab.Torch(net), threads=1)
        for who, agent in (("plans in what was learnt", plans), ("searches by the rules", searches)):
            found = ab.match(game, agent, OPPONENT, games=100)
            low, high = found.interval
            lines.append(f"| {row['step']:,} | {who} | {found.score:.3f} ({low:.3f} to {high:.3f}) |")
            print(lines[-1], flush=True)
    return lines


class Cycle:
    """What the parts of one cycle take of the processor, and what they make."""

    def __init__(self, flags: argparse.Namespace) -> None:
        kind, self.options = GAMES["hundred"]
        self.said, self.game = described(kind, self.options), ab.games.load(kind, **self.options)
        made = dataclasses.replace(preset(self.game, "muzero"), seed=flags.seed)
        self.config = from_pairs([*CYCLE, *flags.set], base=made)
        self.seconds: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def timed(self, part: str, act: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same act, whose time is counted."""

        def act_timed(*given: Any, **more: Any) -> Any:
            begun = time.process_time()
            try:
                return act(*given, **more)
            finally:
                self.seconds[part] += time.process_time() - begun

        return act_timed

    def players(self, evaluator: Any, version: int, numbers: Any) -> InProcess:
        """Return self-play whose random games are told from the others."""
        source = InProcess(self.game, self.config, evaluator, version, numbers)
        play = source.games

        def games() -> Any:
            at_random = source.worker._thinker is None
            part = "random games" if at_random else "self-play"
            ended = self.timed(part, play)()
            self.counts["games of random play"] += sum(record.opened == len(record.decisions) for record in ended)
            self.counts["positions of random play"] += sum(record.opened for record in ended)
            return ended

        source.games = games  # type: ignore[method-assign]
        self.source = source
        return source

    def run(self, folder: Path) -> list[str]:
        """Make the cycle in a new folder and return what is told of it."""
        loop.admits = self.timed("gate", loop.admits)  # type: ignore[assignment]
        begun = time.process_time()
        with RunFolder.create(folder, self.said, self.config) as run, Stopping() as stop:
            training = loop.Training(run, self.game, self.config)
            training.learner.learn = self.timed("learning", training.learner.learn)  # type: ignore[method-assign]
            training.train(self.players, stop)
            whole = time.process_time() - begun
            gate, shards = run.ledger.rows["gates"][-1], run.ledger.rows["shards"]
        worker, learner = self.source.worker, self.config.learner
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
        at_random, step = self.counts["games of random play"], training.learner.step
        planned = sum(len(row["ids"]) for row in shards) - at_random
        made = {
            "random games": {"games": at_random, "positions": self.counts["positions of random play"]},
            "self-play": {"games": planned, "positions": worker.decisions, "evaluations": worker.rows},
            "learning": {"steps": step, "samples": step * learner.batch},
            "gate": {"games": gate["pairs"] * self.game.players},
        }
        lines = ["| part | processor s | made | a processor second |", "| --- | ---: | ---: | ---: |"]
        for part, counts in made.items():
            took = self.seconds[part]
            much = ", ".join(f"{count:,} {what}" for what, count in counts.items())
            rate = ", ".join(f"{count / took:,.2f} {what}" for what, count in counts.items())
            lines.append(f"| {part} | {took:.1f} | {much} | {rate} |")
        lines.append(f"| all of it | {whole:.1f} | | |")
        sizes = f"{len(training.replay):,} positions in the window"
        lines += ["", f"At most {memory:,.0f} MB of memory, {sizes}; the gate said: {gate['verdict']}."]
        return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the clock on the wall")
    parser.add_argument("--cpu-minutes", type=float, default=math.inf, help="of the processor, or what is left of them")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], help="a setting, e.g. learner.reuse=8")
    parser.add_argument("--runs", type=Path, default=Path("build/muzero"))
    parser.add_argument("--checkpoints", type=int, default=3, help="of connect four that play")
    parser.add_argument("--judge", action="store_true", help="do not train, only judge what is there")
    parser.add_argument("--write", action="store_true")
    flags = parser.parse_args()
    if flags.game == "hundred":
        with tempfile.TemporaryDirectory() as new:
            cycle = Cycle(flags).run(Path(new) / "run")
        print("\n".join(cycle))
        if flags.write:
            pages.fill("muzero_hundred", "\n".join(cycle), PAGE)
        return
    flags.runs.mkdir(parents=True, exist_ok=True)
    folder = flags.runs / f"{flags.game}-{flags.seed}"
    kind, options = GAMES[flags.game]
    game = ab.games.load(kind, **options) if flags.judge else trained(flags.game, folder, flags)
    folders = [each for each in sorted(flags.runs.glob(f"{flags.game}-*")) if each.is_dir()]
    table = judged(flags.game, game, folders if flags.write or flags.judge else [folder], flags.checkpoints)
    if flags.write:
        pages.fill(f"muzero_{flags.game}", table, PAGE)


if __name__ == "__main__":
    main()
