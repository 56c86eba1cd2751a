"""`anabranch regret`: what an agent's choices lose against exact play, over a fixed set of positions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import GOOD
from anabranch.cli.options import GameFlags
from anabranch.cli.output import say
from anabranch.cli.progress import loading, progress
from anabranch.cli.search_flags import EVALUATORS, with_evaluators
from anabranch.cli.show import print_json
from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.play.fixed_set import FixedSet, fixed_set
from anabranch.play.names import agent_by_name
from anabranch.play.regret import as_oracle, regret

DECISIONS = re.compile(r"(\d{1,9})(-(\d{1,9})?)?")


@dataclass(frozen=True, kw_only=True)
class Command(GameFlags):
    """Say how much an agent loses to exact play over a fixed set of states."""

    agent: Annotated[
        Positional[str],
        arg(metavar="AGENT", help="who is measured: random, search:simulations=800, or path/to/file.py:Name"),
    ]
    set: Annotated[
        Path | None,
        arg(metavar="FILE", help="the positions; if there is no such file, they are drawn and written there"),
    ] = None
    states: Annotated[int, arg(metavar="N", help="how many positions are drawn, each from a game of its own")] = 500
    decisions: Annotated[
        str,
        arg(metavar="N|N-|N-M", help="how many decisions of players came before each: 42-44 in Yatzy is its last turn"),
    ] = "0-"
    choices: Annotated[int, arg(metavar="N", help="how many choices each has at least")] = 2
    made_by: Annotated[str, arg(metavar="AGENT", help="who plays the games they are from")] = "random"
    set_seed: Annotated[int, arg(metavar="SEED", help="decides which positions are drawn")] = 0
    evaluator: Annotated[
        str | None,
        arg(help_behavior_hint="", metavar="NAME", help=f"who evaluates positions for the agent: {EVALUATORS}"),
    ] = None
    seed: Annotated[int, arg(help="decides everything random about the agent's choices")] = 0

    def run(self) -> int:
        """Print the share of choices that lose nothing, and the mean regret."""
        with progress(loading(self.game), at_once=False) as show:
            game = self.load()
            agent = agent_by_name(with_evaluators([self.agent], self.evaluator)[0], game)
            show(f"drawing {self.states} positions of {self.game}")
            positions = self._positions(game)
            show(f"solving {self.game}")
            oracle = as_oracle(None, positions)
        with progress(f"asking {self.agent} about {len(positions)} positions", at_once=False) as show:
            found = regret(
                agent,
                positions,
                oracle,
                seed=self.seed,
                progress=lambda done, all_: show(f"{done} of {all_} positions"),
            )
        if self.json:
            print_json(found.facts())
        else:
            print(found)
        return GOOD

    def _positions(self, game: Game) -> FixedSet:
        """Read the set, or draw it."""
        if self.set is not None and self.set.exists():
            return FixedSet.load(self.set, game)
        given = DECISIONS.fullmatch(self.decisions)
        if given is None:
            raise UsageError(f"--decisions is N, N- or N-M, e.g. 42-44, found {self.decisions!r}")
        least = int(given[1])
        most = int(given[3]) if given[3] else None if given[2] else least
        made = fixed_set(
            game,
            self.states,
            seed=self.set_seed,
            agent=self.made_by,
            decisions=(least, most),
            choices=self.choices,
        )
        if self.set is not None:
            say(f"{len(made)} positions are in {made.save(self.set)}")
        return made
