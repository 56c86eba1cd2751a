"""`anabranch doctor`: whether everything is as it should be on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import BAD_DATA, GOOD
from anabranch.cli.progress import progress
from anabranch.cli.show import print_json, print_table
from anabranch.errors import DataError
from anabranch.search.diagnosis.health import Finding, examine
from anabranch.search.results.show.numbers import plural

GAMES_IN = "games in "  # what a finding about the games of a file begins with


@dataclass(frozen=True)
class Command:
    """Look at versions, machine, cache and engine, or at all files of a run, and say what is wrong."""

    run_folder: Annotated[
        Positional[Path | None],
        arg(help_behavior_hint="", metavar="[RUN]", help="the folder of a training run, whose checksums are compared"),
    ] = None
    all: Annotated[bool, arg(help="a line for every file of the run; else one for all good files of a folder")] = False
    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Print a line for each thing looked at; the exit code says whether all is well."""
        with progress("looking") as say:
            findings = examine(say) if self.run_folder is None else examined_run(self.run_folder)
        shown = findings if self.run_folder is None or self.all else in_short(findings, games_of(self.run_folder))
        healthy = not any(finding.status == "fail" for finding in findings)
        if self.json:
            print_json({"healthy": healthy, "findings": [asdict(finding) for finding in findings]})
        else:
            print_table(("state", "what", "found"), [(finding.status, finding.what, finding.text) for finding in shown])
            print("all is well" if healthy else "something is wrong: see what is marked fail")
        return GOOD if healthy else BAD_DATA


def examined_run(folder: Path) -> list[Finding]:
    """Return a finding for every file of a run."""
    from anabranch.learn.run_folder import examine as examine_run

    return [
        Finding(name, "fail" if wrong else "ok", wrong or "as it was written") for name, wrong in examine_run(folder)
    ]


def games_of(folder: Path) -> dict[str, int]:
    """Return how many games each file of games has, by its row; none where rows cannot be read."""
    from anabranch.learn.run_folder import RunFolder

    try:
        with RunFolder.look(folder) as run:
            return {row["file"]: len(row["ids"]) for row in run.ledger.rows["shards"]}
    except DataError:
        return {}


def in_short(findings: Sequence[Finding], games: Mapping[str, int]) -> list[Finding]:
    """Return findings about files with one for all good files of a folder; what is wrong stays as it is."""
    wrong = {_file_of(finding) for finding in findings if finding.status != "ok"}
    good: dict[str, list[str]] = {}
    for name in dict.fromkeys(map(_file_of, findings)):
        if name not in wrong and "/" in name:
            good.setdefault(name.partition("/")[0], []).append(name)
    made = [finding for finding in findings if finding.status != "ok" or "/" not in finding.what]
    return made + [_together(folder, names, games) for folder, names in good.items()]


def _file_of(finding: Finding) -> str:
    return finding.what.removeprefix(GAMES_IN)


def _together(folder: str, names: Sequence[str], games: Mapping[str, int]) -> Finding:
    """Return the finding for good files of a folder."""
    text = "as it was written" if len(names) == 1 else "as they were written"
    played = sum(games.get(name, 0) for name in names)
    return Finding(
        f"{plural(len(names), 'file')} in {folder}", "ok", text + (f", with {plural(played, 'game')}" if played else "")
    )
