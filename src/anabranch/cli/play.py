"""`anabranch play`: a game at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

from anabranch.cli import GOOD
from anabranch.cli.options import GameFlags
from anabranch.cli.progress import progress
from anabranch.cli.search_flags import EVALUATORS, with_evaluators
from anabranch.cli.show import print_json
from anabranch.errors import UsageError
from anabranch.play.agent import Agent, name_of
from anabranch.play.human_agent import HumanAgent
from anabranch.play.names import agent_by_name
from anabranch.play.search_agent import SearchAgent
from anabranch.play.session import Session


@dataclass(frozen=True)
class Command(GameFlags):
    """Play a game against an agent, with hints and moves taken back."""

    agent: Annotated[
        str,
        arg(
            metavar="NAME",
            help="who plays the other seats: search, search:seconds=1, random, human, or path/to/file.py:Name",
        ),
    ] = "search:simulations=2000"
    evaluator: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="NAME",
            help=f"who evaluates positions for an agent that searches and names nobody: {EVALUATORS}",
        ),
    ] = None
    seat: Annotated[int, arg(help="where you sit; 0 moves first in most games")] = 0
    seed: Annotated[int, arg(help="decides the start, the dice, and what agents draw")] = 0

    def run(self) -> int:
        """Hold the conversation; with --json it goes to stderr, and the game to stdout at the end."""
        with progress(f"loading {self.game}", at_once=False):  # which may compile
            game = self.load()
            str(game.start(self.seed))
        if not 0 <= self.seat < game.players:
            raise UsageError(f"--seat {self.seat}: {game.name} has seats 0 to {game.players - 1}")
        agent = agent_by_name(with_evaluators([self.agent], self.evaluator)[0])
        hint = agent if isinstance(agent, SearchAgent) else None
        writing = sys.stderr if self.json else None
        human = HumanAgent(hint, writing=writing, can_undo=True, waiting=waiting)
        other: Agent = human if isinstance(agent, HumanAgent) else agent
        agents = [human if seat == self.seat else other for seat in range(game.players)]
        session = Session(game, agents, self.seed)
        against = f": you are player {self.seat}, against {name_of(other)}" if other is not human else ""
        human.say(f"{repr(game).removesuffix('()')}{against if game.players > 1 else ''}. Type help for the commands.")
        session.run()
        if self.json:
            print_json(session.facts())
        return GOOD


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show that somebody is thinking."""
    with progress(words, at_once=False):
        yield
