"""`anabranch stats`: what a training run has done."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import GOOD
from anabranch.cli.output import say
from anabranch.cli.show import print_json, print_table


@dataclass(frozen=True)
class Command:
    """Say what a training run has done: games, losses, best moves and ratings over time."""

    run_folder: Annotated[Positional[Path], arg(metavar="RUN", help="the folder of a training run")]
    report: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="FILE", help="write a page with plots, report.html")
    ] = None
    plots: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="DIR", help="write the plots of that page as PNG files")
    ] = None
    tensorboard: Annotated[
        Path | None, arg(help_behavior_hint="", metavar="DIR", help="write the figures for TensorBoard")
    ] = None
    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Print figures and the course of the run."""
        from anabranch.learn.run_folder import RunFolder
        from anabranch.learn.statistics import imagined, rated_so_far, statistics

        with RunFolder.look(self.run_folder, say) as run:
            found, rated = statistics(run), rated_so_far(run)
        if self.report is not None:
            from anabranch.learn.report import write_report

            write_report(self.report, found, rated)
            say(f"written to {self.report}")
        if self.plots is not None:
            from anabranch.learn.report import write_plots

            say("written: " + ", ".join(map(str, write_plots(self.plots, found, rated))))
        if self.tensorboard is not None:
            from anabranch.files import make_folder
            from anabranch.learn.tensorboard import NAME, write_events

            make_folder(self.tensorboard)
            write_events(self.tensorboard / NAME, found.course)
            folder = shlex.quote(str(self.tensorboard))
            say(f"written to {folder}; look at it with tensorboard --logdir {folder}")
        if self.json:
            ratings = None if rated is None else [dataclasses.asdict(each) for each in rated.rated]
            print_json({**dataclasses.asdict(found), "ratings": ratings})
            return GOOD
        print(
            f"{found.game}: {found.games} games, {found.positions} positions to learn from, {found.steps} steps, "
            f"{found.models} {'model' if found.models == 1 else 'models'} in {found.minutes:.1f} min"
        )
        if not found.games:
            print("no game was committed yet, so there is no course to show")
            return GOOD
        print(
            f"games have {found.mean_length:.1f} decisions, seats got "
            f"{', '.join(f'{value:+.3f}' for value in found.mean_returns)}; {found.repeated:.1%} of the newest games "
            f"are repeated, policies have {found.entropy:.2f} nats, values are off by {found.calibration:.3f}"
        )
        if found.decided:
            print(
                f"{found.decided:.1%} of the searches were of decided games, "
                f"which spared {found.spared:.1%} of the visits"
            )
        print_table(*found.rows())
        if (errors := imagined(found.course)) is not None:
            print("\nthe model on games it has not learnt from, after one imagined step and after the last:")
            print_table(*errors)
        if rated is not None:
            print()
            print_table(*rated.rows())
        return GOOD
