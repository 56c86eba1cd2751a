"""Trained elsewhere and here: tic-tac-toe learnt by others and by us for as many processor minutes, then one referee.

    make peers
    .venv/bin/python benchmarks/learning_peers.py [--only open_spiel …] [--cpu-minutes 2] [--seed 0] [--write]

A run counts the processor's time of all its processes, and ends when its minutes are used up. Ours is `anabranch train`
by its preset with `workers=0`; nobody spends time on measuring himself, as far as that can be switched off: ours rates
nothing, and OpenSpiel's example gets no evaluators. Then agents play with what they learnt, the others in a process of
their own that is told a game's moves and answers with one, which `ab.match` refuses unless it is legal.

Every opening of two plies is played from both seats: 144 games, all of them different. `losing lines` says more than a
match: in how many positions an agent can lose, first and second, when every reply of an opponent is tried. Others play
with as many simulations as when they evaluate themselves; ours with as many as its preset rates with, and as theirs.

Runs are kept in build/learning_peers and trained once; what was found goes to benchmarks/results/learning_peers.json,
from which `--write` fills the tables of docs/training.md and docs/muzero.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measure  # first: it limits threads
import pages
from muzero import losing_lines
from peers.remote import SETTING_UP, FailedError, Process
from peers.training import run

import anabranch as ab
from anabranch.learn.rating import rated_agent
from anabranch.learn.run_folder import RunFolder
from anabranch.search.results.show.numbers import plural

ROOT = Path(__file__).resolve().parents[1]
KEPT = measure.RESULTS / "learning_peers.json"
GAME = "tic_tac_toe"
METHODS = {"alphazero": ROOT / "docs" / "training.md", "muzero": ROOT / "docs" / "muzero.md"}
PATIENCE = 3600.0  # seconds on the wall for the answers about a slice of games
OPEN_SPIEL = ["-m", "open_spiel.python.examples.alpha_zero", "--path={folder}", "--actors=1", "--evaluators=0"]
OPEN_SPIEL += ["--max_steps=0", "--checkpoint_freq=1"]
LIGHTZERO = ["-P", str(ROOT / "benchmarks" / "peers" / "adapters" / "lightzero_learning.py"), "{variant}", "{seed}"]
LIGHTZERO_LIBRARIES = ROOT / ".venv-peers" / "lightzero"
OURS = ["-m", "anabranch", "train", GAME, "--run", "{folder}/run", "--method", "{variant}", "--workers", "0"]
OURS += ["--minutes", "100000", "--set", "rating.models=0", "--set", "rating.positions=0", "--set", "seed={seed}"]


@dataclass(frozen=True)
class Pupil:
    """Somebody who learns: the words that start it under an interpreter, and how it plays then."""

    name: str
    title: str
    method: str
    words: list[str]
    adapter: str = ""  # of those that play in a process of their own
    simulations: int = 0  # of those: when they evaluate themselves
    saves: bool = True  # when it is interrupted
    path: tuple[Path, ...] = ()  # where it looks for modules first

    def command(self, python: Path, folder: Path, seed: int) -> list[str]:
        """Return how it is started."""
        said = {"folder": str(folder.resolve()), "variant": self.method, "seed": str(seed)}
        return [str(python), *(word.format(**said) for word in self.words)]


PUPILS = [
    Pupil("ours_alphazero", "anabranch, alphazero", "alphazero", OURS),
    Pupil("ours_muzero", "anabranch, muzero", "muzero", OURS),
    Pupil(
        "open_spiel",
        "OpenSpiel 2.0.2, its example",
        "alphazero",
        OPEN_SPIEL,
        "peers.adapters.open_spiel_learning",
        40,
        saves=False,
    ),
    Pupil(
        "open_spiel_mlp",
        "OpenSpiel 2.0.2, its example with `--nn_api=nnx --nn_model=mlp`",
        "alphazero",
        [*OPEN_SPIEL, "--nn_api=nnx", "--nn_model=mlp"],
        "peers.adapters.open_spiel_learning",
        40,
        saves=False,
    ),
    Pupil(
        "lightzero_alphazero",
        "LightZero 0.2.0, its AlphaZero example",
        "alphazero",
        LIGHTZERO,
        "peers.adapters.lightzero_learning",
        100,
        path=(LIGHTZERO_LIBRARIES,),
    ),
    Pupil(
        "lightzero_muzero",
        "LightZero 0.2.0, its MuZero example",
        "muzero",
        LIGHTZERO,
        "peers.adapters.lightzero_learning",
        25,
        path=(LIGHTZERO_LIBRARIES,),
    ),
]


class Distant(ab.Agent):
    """A player in another process, told the moves of a game and nothing else.

    It is asked once about a position: what it answers is played whenever that comes again.
    """

    def __init__(self, process: Process, title: str, began: Mapping[str, list[int]]) -> None:
        self._process, self._title = process, title
        self._began = began  # positions that games may start from, as text → the moves that lead there
        self._known: dict[str, int] = {}

    @property
    def name(self) -> str:
        return self._title

    def choose(self, turns: Sequence[ab.Turn]) -> list[int]:
        new = {text: turn for turn in turns if (text := str(turn.state)) not in self._known}
        if new:
            games = [self._moves(turn) for turn in new.values()]
            said = answered(self._process.ask("choosing", PATIENCE, do="choose", games=games), len(games))
            self._known |= dict(zip(new, said, strict=True))
        return [self._known[str(turn.state)] for turn in turns]

    def _moves(self, turn: ab.Turn) -> list[int]:
        where = turn.start if turn.start is not None else turn.state
        moves = [*self._began[str(where)], *turn.moves]
        assert all(isinstance(move, int) for move in moves), "players take turns in these games"
        return [move for move in moves if isinstance(move, int)]


def answered(answer: Any, games: int) -> list[int]:
    """Return a player's moves; that they are legal is for the referee to say."""
    whole = isinstance(answer, list) and all(type(each) is int for each in answer)
    if not whole or len(answer) != games:
        raise FailedError(f"was asked for {games} moves and answered {str(answer)[:80]}")
    return list(answer)


def lines(game: ab.Game, plies: int | None = None) -> dict[str, list[int]]:
    """Return positions as text, and moves that lead there: all after so many plies, else every one of the game."""
    level: dict[str, tuple[ab.State, list[int]]] = {str(game.start()): (game.start(), [])}
    every = dict(level)
    while level if plies is None else plies > 0:
        following: dict[str, tuple[ab.State, list[int]]] = {}
        for state, moves in level.values():
            for action in state.legal():
                reached = state.step(action)[0]
                if not reached.over:
                    following[str(reached)] = (reached, [*moves, action])
        level = following
        every |= level
        plies = None if plies is None else plies - 1
    return {text: moves for text, (_, moves) in (every if plies is None else level).items()}


def folder_of(pupil: Pupil, flags: argparse.Namespace) -> Path:
    """Return where a run is kept."""
    runs: Path = flags.runs
    return runs / f"{pupil.name}-{flags.cpu_minutes:g}-{flags.seed}"


def trained(pupil: Pupil, python: Path, folder: Path, flags: argparse.Namespace) -> dict[str, Any]:
    """Train, unless that was done, and return what it took."""
    note = folder / "trained.json"
    if not note.exists():
        measure.log(f"{pupil.title}: {flags.cpu_minutes:g} processor minutes")
        command = pupil.command(python, folder, flags.seed)
        run(command, folder, 60.0 * flags.cpu_minutes, saves=pupil.saves, path=pupil.path)
    took: dict[str, Any] = json.loads(note.read_text())
    return took


def own(folder: Path, game: ab.Game, simulations: int | None = None) -> tuple[ab.Agent, int, str]:
    """Return our newest model as an agent, its simulations, and what was done to make it."""
    with RunFolder.look(folder / "run", print) as kept:
        count = simulations or kept.config.rating.simulations
        rows = kept.ledger.rows
        agent = rated_agent(kept, game, len(rows["models"]), count)
        return agent, count, plural(rows["models"][-1]["step"], "step")


def made(folder: Path) -> tuple[int, str]:
    """Return how far somebody else's run came, by its checkpoints: OpenSpiel writes one a round, LightZero of steps."""
    names = [each.name for each in (*folder.glob("checkpoint-*"), *folder.glob("run*/ckpt/iteration_*"))]
    found = [re.fullmatch(r"(checkpoint)-(\d+)|iteration_(\d+)\.pth\.tar", name) for name in names]
    counts = [int(each[2] or each[3]) for each in found if each]
    if not counts:
        raise FailedError(f"wrote no checkpoint; {folder / 'output.txt'} has what it said")
    return max(counts), "round" if any(each and each[1] for each in found) else "step"


def judged(agent: ab.Agent, game: ab.Game, openings: list[str]) -> dict[str, Any]:
    """Return what an agent does against every reply, and against exact play."""
    losing = [losing_lines(agent, game, seat) for seat in (0, 1)]
    measure.log(f"    losing lines {losing}")
    return {"losing": losing, "oracle": played(game, agent, "oracle", openings)}


def played(game: ab.Game, first: Any, second: Any, openings: list[str]) -> dict[str, Any]:
    """Play every opening from both seats and return the first one's standing."""
    one = ab.match(game, first, second, games=2 * len(openings), openings=openings).standings[0]
    told = {"games": one.games, "wins": one.wins, "draws": one.draws, "losses": one.losses}
    return told | {"score": one.score, "low": one.low, "high": one.high}


def measured(pupil: Pupil, flags: argparse.Namespace) -> dict[str, Any]:
    """Train one that is not ours, and ours by the same method; judge both, and let them play each other."""
    game = ab.games.load(GAME)
    openings = list(lines(game, 2))[:: flags.stride]
    ours = next(each for each in PUPILS if not each.adapter and each.method == pupil.method)
    folders = {each.name: folder_of(each, flags) for each in (pupil, ours)}
    took = {}
    for each, python in ((pupil, flags.python), (ours, Path(sys.executable))):
        took[each.name] = trained(each, python, folders[each.name], flags)
    found: dict[str, Any] = {"peer": pupil.name, "minutes": flags.cpu_minutes, "seed": flags.seed, "took": took}
    agent, count, how = own(folders[ours.name], game)
    found["ours"] = {"simulations": count, "made": how} | judged(agent, game, openings)
    found["theirs"] = {"simulations": pupil.simulations, "made": plural(*made(folders[pupil.name]))}
    found["matches"] = []
    if flags.no_matches:
        return found
    with Process(flags.python, pupil.title, pupil.path) as process:
        process.ask(
            "setting up",
            PATIENCE + SETTING_UP,
            do="sit",
            adapter=pupil.adapter,
            variant=pupil.method,
            folder=str(folders[pupil.name].resolve()),
        )
        other = Distant(process, pupil.title, lines(game))
        found["theirs"] |= judged(other, game, openings)
        for simulations in sorted({count, pupil.simulations}):
            agent, _, _ = own(folders[ours.name], game, simulations)
            result = played(game, agent, other, openings)
            found["matches"].append({"ours": simulations, "theirs": pupil.simulations} | result)
            measure.log(f"{pupil.title}: {found['matches'][-1]}")
    return found


def kept() -> list[dict[str, Any]]:
    """Return what was found before, in the order of the others' names above."""
    rows: list[dict[str, Any]] = json.loads(KEPT.read_text()) if KEPT.exists() else []
    names = [each.name for each in PUPILS]
    return sorted(rows, key=lambda row: (names.index(row["peer"]), row["minutes"], row["seed"]))


def standing(told: dict[str, Any]) -> str:
    """Return a score with its interval, and what it is made of."""
    counts = f"{told['wins']} / {told['draws']} / {told['losses']}"
    return f"{counts}: {told['score']:.3f} ({told['low']:.3f} to {told['high']:.3f})"


def table(rows: Sequence[dict[str, Any]], method: str) -> str:
    """Return two tables: everybody alone, and the others against ours."""
    pupils = {each.name: each for each in PUPILS}
    of = [row for row in rows if pupils[row["peer"]].method == method]
    heads = ["who", "seed", "CPU minutes", "on the wall", "made", "simulations", "losing lines first, second"]
    told = [[*heads, "against the oracle"], ["---"] + ["---:"] * 7]
    seen = set()
    for row in of:
        for who, side in ((f"ours_{method}", "ours"), (row["peer"], "theirs")):
            took, sat = row["took"][who], row[side]
            if (who, row["seed"], row["minutes"]) in seen:
                continue
            seen.add((who, row["seed"], row["minutes"]))
            minutes = [f"{took[kind] / 60:.1f}" for kind in ("processor", "wall")]
            cells = [pupils[who].title, f"{row['seed']}", *minutes, sat["made"], f"{sat['simulations']}"]
            lost = ", ".join(map(str, sat["losing"])) if "losing" in sat else "–"
            told.append([*cells, lost, standing(sat["oracle"]) if "oracle" in sat else "–"])
    heads = ["ours against", "seed", "CPU minutes each", "our simulations", "theirs", "games"]
    games = [[*heads, "won / drawn / lost: score, 95 % interval"], ["---"] + ["---:"] * 6]
    for row in of:
        for each in row["matches"]:
            cells = [pupils[row["peer"]].title, f"{row['seed']}", f"{row['minutes']:g}", f"{each['ours']}"]
            games.append([*cells, f"{each['theirs']}", f"{each['games']}", standing(each)])
    return "\n\n".join("\n".join(f"| {' | '.join(line)} |" for line in part) for part in (told, games))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    others = [each.name for each in PUPILS if each.adapter]
    parser.add_argument("--only", nargs="+", choices=others, default=others)
    parser.add_argument("--cpu-minutes", type=float, default=2.0, help="for every run")
    parser.add_argument("--stride", type=int, default=1, help="play every so-manieth opening")
    parser.add_argument("--seed", type=int, default=0, help="OpenSpiel's example takes none")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv-peers" / "bin" / "python", help="with the others")
    parser.add_argument("--runs", type=Path, default=ROOT / "build" / "learning_peers")
    everybody = [each.name for each in PUPILS]
    parser.add_argument("--train", metavar="NAME", choices=everybody, help="this one, and stop; for runs abreast")
    parser.add_argument("--no-matches", action="store_true", help="say how far the others come, and let them not play")
    parser.add_argument("--write", action="store_true", help="into docs/training.md and docs/muzero.md")
    flags = parser.parse_args()
    if flags.train:
        [pupil] = [each for each in PUPILS if each.name == flags.train]
        trained(pupil, flags.python if pupil.adapter else Path(sys.executable), folder_of(pupil, flags), flags)
        return
    KEPT.parent.mkdir(exist_ok=True)
    for pupil in PUPILS:
        if pupil.name not in flags.only:
            continue
        try:
            found = measured(pupil, flags)
        except FailedError as error:
            print(f"{pupil.title}: {error}", flush=True)
            continue
        same = [found[key] for key in ("peer", "minutes", "seed")]
        rows = [row for row in kept() if [row[key] for key in ("peer", "minutes", "seed")] != same] + [found]
        KEPT.write_text(json.dumps(rows, indent=1) + "\n")
    for method, page in METHODS.items():
        print(table(kept(), method), flush=True)
        if flags.write:
            pages.fill(f"learning_peers_{method}", table(kept(), method), page)


if __name__ == "__main__":
    main()
