"""`anabranch match`: agents against each other."""

from __future__ import annotations

import re
import shlex
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from anabranch.cli import GOOD, INTERRUPTED
from anabranch.cli.options import GameFlags
from anabranch.cli.output import say
from anabranch.cli.positions import OR_INPUT, POSITION, given_positions
from anabranch.cli.progress import progress
from anabranch.cli.search_flags import EVALUATORS, with_evaluators
from anabranch.cli.show import print_json, print_table
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.play.match import Progress, Series

AGENTS = (
    "best (the network that comes with the package for the game), random, oracle, search, "
    "search:simulations=800, search:seconds=0.1,evaluator=uniform,c=2, "
    "search:evaluator=model.onnx,width=16,rule=lcb,keep=graph, human, or path/to/file.py:Name"
)
PLIES = re.compile(r"[+-]?[0-9]{1,9}")  # what is a number of them, and no position


@dataclass(frozen=True, kw_only=True)
class Command(GameFlags):
    """Play agents against each other, seats swapped, and say who is stronger."""

    first: Annotated[Positional[str], arg(metavar="A", help=f"an agent: {AGENTS}")]
    second: Annotated[Positional[str], arg(metavar="B", help="another agent")]
    others: Annotated[
        Positional[tuple[str, ...]],
        arg(
            help_behavior_hint="",
            metavar="[C …]",
            help="more agents, one for each seat of a game that has more than two",
        ),
    ] = ()
    evaluator: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="NAME",
            help=f"who evaluates positions for agents that search and name nobody: {EVALUATORS}",
        ),
    ] = None
    games: Annotated[
        int, arg(help="how many games; rounded up until every agent sat in every seat as often as the others")
    ] = 200
    openings: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="PLIES|TEXT|FILE",
            help="random plies each pair begins with, four or a tenth of a game if not given; or positions that pairs "
            f"begin with in turn, with empty lines between them, each {POSITION}{OR_INPUT}",
        ),
    ] = None
    seed: Annotated[int, arg(help="decides everything random")] = 0
    abreast: Annotated[int, arg(help="how many games run at once; changes nothing but the speed")] = 64
    out: Annotated[
        Path | None, arg(metavar="FILE", help="write every finished pair here; the same command goes on from it")
    ] = None
    same_agents: Annotated[
        bool, arg(help="agents of the same names are those of the file, where their code differs or cannot be told")
    ] = False

    def run(self) -> int:
        """Print the standings; interrupted, save what is finished and say how to go on."""
        game = self.load()
        series = Series(
            game,
            with_evaluators((self.first, self.second, *self.others), self.evaluator),
            games=self.games,
            openings=read_openings(game, self.openings),
            seed=self.seed,
            abreast=self.abreast,
        )
        path = path_of(series, self.out)
        try:
            with (
                progress(
                    f"playing {series.games} games of {series.game}, no move yet; new rules are compiled first"
                ) as show,
                written(series, path, same_agents=self.same_agents),
            ):
                series.play(lambda so_far: show(told(so_far)))
        except KeyboardInterrupt:
            return interrupted(series, path, self._again)
        result = series.result()
        if self.json:
            print_json(result.facts())
        else:
            print(result.summary())
            print_table(*result.rows())
            for note in result.notes():
                print(note)
            if series.games != self.games:
                print(
                    f"{series.games} games, not {self.games}: rounded up to whole rounds of {len(series.tables)}, "
                    "so that every agent sits in every seat equally often"
                )
            if result.played:
                print(f"{result.played} games in {result.seconds:.1f} s, {result.games_per_second:.1f} a second")
        return GOOD

    def _again(self, path: Path) -> str:
        """Return the command that goes on with the match."""
        flags = ("evaluator", "games", "openings", "seed", "abreast")
        return again(self, ["match", self.game, self.first, self.second, *self.others], flags, path)


def read_openings(game: Game, given: str | None) -> int | Sequence[str | State] | None:
    """Return what --openings says: a number of plies, positions, or nothing."""
    if given is None or PLIES.fullmatch(given):
        return None if given is None else int(given)
    return [*given_positions(game, given, "--openings")]


def path_of(series: Series, out: Path | None) -> Path | None:
    """Return which file a match has: the one that was named, or the one an interruption left."""
    if out is None and usual_path(series).exists():  # the same command goes on
        say(f"going on with {usual_path(series)}; delete it to begin anew")
        return usual_path(series)
    return out


def written(series: Series, path: Path | None, *, same_agents: bool) -> AbstractContextManager[object]:
    """Let a match be written to its file, if it has one."""
    return nullcontext() if path is None else series.open(path, same_agents=same_agents)


def interrupted(series: Series, path: Path | None, again: Callable[[Path], str]) -> int:
    """Save what was played, if that was not done meanwhile, and say how to go on."""
    unfinished = [moves for (pair, _), moves in series.begun.items() if pair not in series.finished]
    begun = len(unfinished)
    words = f"interrupted after {len(series.finished) * len(series.tables)} of {series.games} games, {begun} begun"
    words += f" ({sum(map(len, unfinished))} moves)" if begun else ""
    if not series.finished and not begun:
        say("interrupted before anything was played")
        return INTERRUPTED
    if path is None:
        path = usual_path(series)
        series.save(path)
    say(f"{words}; they are in {path}. To go on:\n{again(path)}")
    return INTERRUPTED


def again(command: Any, words: Sequence[str], flags: Sequence[str], path: Path) -> str:
    """Return the command line that goes on with a file: the words, and those flags that are not as usual."""
    words = ["anabranch", *words]
    for name in flags:
        value = getattr(command, name)
        if value is not None and value != getattr(type(command), name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    words += ["--out", str(path)]
    for pair in command.option:
        words += ["--option", pair]
    words += ["--interpreted"] * command.interpreted + ["--json"] * command.json
    words += ["--same-agents"] * command.same_agents
    return shlex.join(words)


def usual_path(series: Series) -> Path:
    """Return where a match without --out is saved when it is interrupted: a name of its own, in this folder."""
    word = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in series.game.name)
    return Path(f"match-{word}-{zlib.crc32(repr(series.header()).encode()):08x}.jsonl")


def told(so_far: Progress) -> str:
    """Return one line on how far a match has come."""
    words = f"{so_far.done} of {so_far.games} games, {so_far.moves} moves"
    if so_far.seconds > 0:
        words += f", {so_far.moves / so_far.seconds:.0f} a second"
    if so_far.left is not None and so_far.done < so_far.games:
        words += f", {so_far.left:.0f} s left"
    return words + (f", score {so_far.score:.3f}" if so_far.score is not None else "")
