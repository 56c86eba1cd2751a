"""`anabranch doctor`: whether everything is as it should be on this machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import BAD_DATA, GOOD
from anabranch.cli.progress import progress
from anabranch.cli.show import print_json, print_table
from anabranch.search.diagnosis.health import Finding, examine


@dataclass(frozen=True)
class Command:
    """Look at versions, machine, cache and engine, or at all files of a run, and say what is wrong."""

    run_folder: Annotated[
        Positional[Path | None],
        arg(help_behavior_hint="", metavar="[RUN]", help="the folder of a training run, whose checksums are compared"),
    ] = None
    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Print a line for each thing looked at; the exit code says whether all is well."""
        with progress("looking") as say:
            findings = examine(say) if self.run_folder is None else examined_run(self.run_folder)
        healthy = not any(finding.status == "fail" for finding in findings)
        if self.json:
            print_json({"healthy": healthy, "findings": [asdict(finding) for finding in findings]})
        else:
            print_table(
                ("state", "what", "found"), [(finding.status, finding.what, finding.text) for finding in findings]
            )
            print("all is well" if healthy else "something is wrong: see what is marked fail")
        return GOOD if healthy else BAD_DATA


def examined_run(folder: Path) -> list[Finding]:
    """Return a finding for every file of a run."""
    from anabranch.learn.run_folder import examine as examine_run

    return [
        Finding(name, "fail" if wrong else "ok", wrong or "as it was written") for name, wrong in examine_run(folder)
    ]
