"""`anabranch doctor`: whether everything is as it should be on this machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from tyro.conf import arg

from anabranch.cli import BAD_DATA, GOOD
from anabranch.cli.progress import progress
from anabranch.cli.show import print_json, print_table
from anabranch.search.diagnosis.health import examine


@dataclass(frozen=True)
class Command:
    """Look at versions, machine, cache and engine, and say what is wrong."""

    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Print a line for each thing looked at; the exit code says whether all is well."""
        with progress("looking") as say:
            findings = examine(say)
        healthy = not any(finding.status == "fail" for finding in findings)
        if self.json:
            print_json({"healthy": healthy, "findings": [asdict(finding) for finding in findings]})
        else:
            print_table(
                ("state", "what", "found"), [(finding.status, finding.what, finding.text) for finding in findings]
            )
            print("all is well" if healthy else "something is wrong: see what is marked fail")
        return GOOD if healthy else BAD_DATA
