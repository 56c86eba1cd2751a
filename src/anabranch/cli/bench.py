"""`anabranch bench`: how fast the engine is here, and the number that signs what it does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from tyro.conf import arg

from anabranch.cli import GOOD
from anabranch.cli.show import busy, print_json, print_table
from anabranch.errors import UsageError
from anabranch.search.diagnosis.signature import signature
from anabranch.search.diagnosis.speed import speeds


@dataclass(frozen=True)
class Command:
    """Say how fast the engine searches on this machine, or sign what it does."""

    signature: Annotated[
        bool, arg(help="run a fixed set of searches and print one number made of all their visits")
    ] = False
    simulations: Annotated[int, arg(help="simulations of one search")] = 800
    seconds: Annotated[float, arg(help="how long to search each game")] = 0.2
    threads: Annotated[int, arg(help="how many threads; the signature does not depend on it")] = 1
    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Print a table of speeds, or the signature."""
        if self.threads < 1 or self.simulations < 1 or not self.seconds >= 0:
            raise UsageError("threads and simulations must be at least 1, seconds at least 0")
        if self.signature:
            return self._sign()
        with busy("searching a few games"):
            rows = speeds(simulations=self.simulations, seconds=self.seconds, threads=self.threads)
        if self.json:
            print_json([asdict(row) for row in rows])
        else:
            columns = ("game", "evaluator", "simulations", "simulations/s")
            print_table(columns, [(row.game, row.evaluator, row.simulations, round(row.per_second)) for row in rows])
        return GOOD

    def _sign(self) -> int:
        with busy("searching every kind of game"):
            signed = signature(threads=self.threads)
        if self.json:
            print_json(asdict(signed))
        else:
            print(f"Signature: {signed}")
        return GOOD
