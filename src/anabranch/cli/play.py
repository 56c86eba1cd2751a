"""`anabranch play`: a game at the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

from anabranch.cli import GOOD
from anabranch.cli.options import GameFlags
from anabranch.cli.positions import POSITION, given_position
from anabranch.cli.progress import loading, progress
from anabranch.cli.search_flags import EVALUATORS, with_evaluators
from anabranch.cli.show import print_json
from anabranch.errors import UnknownNameError, UsageError
from anabranch.game.game import Game
from anabranch.game.players import seat_named
from anabranch.play.agent import Agent, name_of
from anabranch.play.human_agent import HumanAgent
from anabranch.play.names import agent_by_name
from anabranch.play.search_agent import SearchAgent
from anabranch.play.session import Session

SEARCH = "search:simulations=2000"  # who plays where no network comes with the package


@dataclass(frozen=True)
class Command(GameFlags):
    """Play a game against an agent, with hints and moves taken back."""

    agent: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="NAME",
            help="who plays the other seats: best, search, search:seconds=1, oracle, random, human, or "
            "path/to/file.py:Name; if not given it is best, where a network comes with the package, else "
            "search:simulations=2000",
        ),
    ] = None
    evaluator: Annotated[
        str | None,
        arg(
            help_behavior_hint="",
            metavar="NAME",
            help=f"who evaluates positions for an agent that searches and names nobody: {EVALUATORS}",
        ),
    ] = None
    seat: Annotated[
        str,
        arg(metavar="PLAYER", help="who you are: a number, 0 moves first in most games, or a name such as x or black"),
    ] = "0"
    position: Annotated[
        str | None, arg(help_behavior_hint="", metavar="TEXT|FILE", help=f"where the game begins: {POSITION}")
    ] = None
    seed: Annotated[
        int | None,
        arg(
            help_behavior_hint="",
            metavar="INT",
            help="decides the start, the dice, and what agents draw; another one each time if not given",
        ),
    ] = None

    def run(self) -> int:
        """Hold the conversation; with --json it goes to stderr, and the game to stdout at the end."""
        with progress(loading(self.game), at_once=False):
            game = self.load()
            str(game.start())
        try:
            own = seat_named(game, self.seat)
        except UnknownNameError as error:
            raise error.placed("--seat") from None
        if self.position == "-":
            raise UsageError(
                "--position -: moves are typed on standard input; write the position to a file and name it"
            )
        position = None if self.position is None else given_position(game, self.position)
        if position is not None and position.over:
            raise UsageError(f"--position: that game is over, so there is nothing to play\n{position}")
        seed = int.from_bytes(os.urandom(4)) if self.seed is None else self.seed
        asked = self._agent(game)
        agent = agent_by_name(asked, game)
        agent.check(game)
        hint = agent if isinstance(agent, SearchAgent) else None
        writing = sys.stderr if self.json else None
        human = HumanAgent(hint, writing=writing, can_undo=True, waiting=waiting)
        other: Agent = human if isinstance(agent, HumanAgent) else agent
        agents = [human if seat == own else other for seat in range(game.players)]
        session = Session(game, agents, seed, position)
        called = f"best, which is {name_of(other)}" if asked == "best" else name_of(other)
        against = f": you are {game.player_name(own)}, against {called}" if other is not human else ""
        human.say(f"{game}{against if game.players > 1 else ''}. Type help for the commands.")
        human.say(f"The seed is {seed}; with --seed {seed} the same moves meet the same dice and answers.")
        session.run()
        if self.json:
            print_json(session.facts())
        return GOOD

    def _agent(self, game: Game) -> str:
        """Return the name of who plays: the one given, the game's ready model, or a search."""
        from anabranch.evaluate.ready import ready_model

        if self.agent is not None or self.evaluator is not None:
            return with_evaluators([self.agent or SEARCH], self.evaluator)[0]
        ready = ready_model(game)
        return "best" if ready is not None and ready.log.default else SEARCH


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show that somebody is thinking."""
    with progress(words, at_once=False):
        yield
