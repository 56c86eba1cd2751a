"""`anabranch analyze`: search a position and show what was found."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from anabranch.cli import GOOD, INTERRUPTED
from anabranch.cli.options import NAMES_OF_GAMES, GameFlags
from anabranch.cli.positions import OR_INPUT, POSITION, given_position
from anabranch.cli.progress import loading, progress
from anabranch.cli.report import report
from anabranch.cli.search_flags import SearchFlags
from anabranch.cli.show import print_json
from anabranch.draw.png import check_png
from anabranch.errors import DataError, IllegalActionError, UsageError
from anabranch.evaluate.identity import identity
from anabranch.files import check_target
from anabranch.game.game import Game
from anabranch.game.moves import move_name, play_moves
from anabranch.search.engine.analysis import Analysis
from anabranch.search.results.result import Result

SLICE = 0.1  # seconds between looks at the clock, the progress and Ctrl-C


@dataclass(frozen=True)
class Command(SearchFlags, GameFlags):
    """Search a position and show what was found."""

    game: Annotated[
        Positional[str],
        arg(
            help_behavior_hint="",
            metavar="[GAME]",
            help=NAMES_OF_GAMES,
        ),
    ] = ""
    moves: Annotated[
        tuple[str, ...],
        arg(
            help_behavior_hint="",
            metavar="MOVE…",
            help="played before the search, by name: actions, outcomes of dice, a,b where two choose",
        ),
    ] = ()
    position: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="TEXT|FILE",
            help=f"what is searched, or where moves begin: {POSITION}{OR_INPUT}",
        ),
    ] = None
    svg: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="FILE", help="draw the result to a file, .svg or .png")
    ] = None
    graph_svg: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="FILE", help="draw the graph to a file, .svg or .png")
    ] = None
    save: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="FILE", help="keep all that was found in a file")
    ] = None
    loaded: Annotated[
        Path | None, arg(help_behavior_hint="", name="load", metavar="FILE", help="go on from what was kept")
    ] = None
    same_evaluator: Annotated[
        bool, arg(help="with --load: the evaluator is that of the file, where its code differs or cannot be told")
    ] = False
    stdio: Annotated[bool, arg(help="answer JSON lines on stdin, for other programs; see docs/stdio.md")] = False
    workers: Annotated[int, arg(metavar="N", help="with --stdio: how many requests are worked on at once")] = 2

    def run(self) -> int:
        """Search; what was found is shown after Ctrl-C too."""
        if self.stdio:
            return self._serve()
        if not self.game:
            raise UsageError("which game? Name one, e.g. anabranch analyze connect_four; anabranch games lists them")
        self._check_files()
        analysis, by = self._analysis()
        if self.save is not None:
            analysis.check_savable()
        interrupted = False
        try:
            with progress(f"searching {self.game}") as say:
                search(analysis, say)
        except KeyboardInterrupt:
            interrupted = True
        try:
            wrote = self._keep(analysis)  # before printing: whoever reads the output may leave early, e.g. `head`
        except Exception:
            with suppress(BrokenPipeError):
                self._show(analysis.result, by, interrupted)
            raise
        self._show(analysis.result, by, interrupted)
        if not self.json:
            for path in wrote:
                print(f"wrote {path}" + (f"; go on with --load {path}" if path == self.save else ""))
        return INTERRUPTED if interrupted else GOOD

    def _check_files(self) -> None:
        """Refuse files that could not be read or written before anything is searched."""
        if self.loaded is not None and not self.loaded.is_file():
            found = "is a folder" if self.loaded.is_dir() else "does not exist"
            raise DataError(f"--load {self.loaded} {found}; name a file that analyze --save wrote")
        pictures = [path for path in (self.svg, self.graph_svg) if path is not None]
        for path in (*pictures, *([self.save] if self.save else [])):
            if not path.parent.is_dir():
                raise UsageError(
                    f"there is no folder {path.parent} for {path.name}; make it first, or name another one"
                )
            if path.is_dir():
                raise UsageError(f"{path} is a folder; name a file in it to write to")
            check_target(path)
        for path in pictures:
            if path.suffix.lower() not in (".svg", ".png"):
                raise UsageError(f"pictures are saved as .svg or .png, found {path.name!r}")
            if path.suffix.lower() == ".png":
                check_png()

    def _evaluator(self, game: Game) -> Any:
        """Return the evaluator; of a search that is gone on with it is the file's, if that comes with the package."""
        if self.evaluator is None and self.loaded is not None:
            from anabranch.evaluate.load import load
            from anabranch.search.engine.saved import evaluator_in

            return load("best" if evaluator_in(self.loaded).startswith("best:") else "rollout", game)
        return self.evaluator_for(game)

    def _analysis(self) -> tuple[Analysis, str]:
        budget, config = self.budget(), self.settings()
        with progress(loading(self.game)):
            game = self.load()
            evaluator = self._evaluator(game)
            try:
                start = game.start(config.seed) if self.position is None else given_position(game, self.position)
                state = play_moves(start, self.moves)
            except IllegalActionError as error:  # of a game's rules it would be their fault; here it is a slip
                raise UsageError(f"--moves: {error}") from None
            analysis = Analysis(
                state,
                **budget,
                evaluator=evaluator,
                config=config,
                threads=None,
                load=self.loaded,
                same_evaluator=self.same_evaluator,
            )
            return analysis, self.evaluator or identity(evaluator).text

    def _show(self, result: Result, by: str, interrupted: bool) -> None:
        if self.json:
            print_json({**report(result), "evaluator": by, "interrupted": interrupted})
        else:
            print(result.state)
            print(result)
            if self.evaluator is None and by != "rollout":
                print(f"evaluated by {by}; --evaluator rollout searches without a network")
            if interrupted:
                print(f"interrupted after {result.simulations:,} simulations; this is what was found until then")

    def _keep(self, analysis: Analysis) -> list[Path]:
        """Write the files that were asked for and return where they are."""
        wrote = []
        if self.svg is not None:
            wrote.append(analysis.result.picture().save(self.svg))
        if self.graph_svg is not None:
            wrote.append(analysis.result.graph.picture().save(self.graph_svg))
        if self.save is not None:
            wrote.append(analysis.save(self.save))
        return wrote

    def _serve(self) -> int:
        from anabranch.cli.stdio.serve import serve

        return serve(self.workers)


def search(analysis: Analysis, say: Callable[[str], None]) -> None:
    """Search until the budget is spent, telling how far it is."""
    while analysis.advance(SLICE):
        say(_words(analysis))


def _words(analysis: Analysis) -> str:
    """Return a line like `searching 45 %: 1,234,567 simulations, 850,000/s, 1.1 s left, best d +0.1200`."""
    result = analysis.result
    share, spent = analysis.share, analysis.seconds
    words = [f"searching {share:4.0%}: {analysis.simulations:,} simulations"]
    if spent > 0:
        words.append(f"{analysis.simulations / spent:,.0f}/s")
    if 0 < share < 1:
        words.append(f"{spent / share - spent:.0f} s left")
    turn: Any = result.state.turn
    if result.action is not None:
        worth = ", ".join(f"{result.value[seat]:+.4f}" for seat in turn)
        words.append(f"best {move_name(result.state, result.action)} {worth}")
    return ", ".join(words)
