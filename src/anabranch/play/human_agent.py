"""An agent that asks whoever sits at the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TextIO

from anabranch.errors import AgentError, UsageError, suggestion
from anabranch.game.game import Game
from anabranch.game.moves import action_name, read_action
from anabranch.play.agent import Agent, Turn
from anabranch.play.search_agent import SearchAgent

COMMANDS = {
    "hint": "what the search thinks of this position",
    "moves": "what can be played here",
    "undo": "take your last move back",
    "board": "show the board again",
    "help": "this list",
    "quit": "leave the game (so does Ctrl-D)",
}
FEW = 16  # moves that are listed without being asked for
PLAIN, BOLD, DIM, RESET = "", "\x1b[1m", "\x1b[2m", "\x1b[0m"
Waiting = Callable[[str], AbstractContextManager[None]]  # shows that something takes its time


class HumanLeftError(AgentError):
    """The human has left the game."""


class TakeBackError(AgentError):
    """The human wants the last move back."""


@contextmanager
def in_silence(words: str) -> Iterator[None]:
    """Show nothing."""
    del words
    yield


class HumanAgent(Agent):
    """Shows the state, reads a move by its name, and answers `hint`, `moves`, `help` and `quit`.

    `hint` is an agent that searches. Input and output are the terminal's unless streams are given; without a terminal
    what was read is printed too, so that a scripted game reads like one that was typed.
    """

    def __init__(
        self,
        hint: SearchAgent | None = None,
        *,
        reading: TextIO | None = None,
        writing: TextIO | None = None,
        can_undo: bool = False,
        waiting: Waiting = in_silence,
    ) -> None:
        self.hint = hint or SearchAgent(simulations=2000)
        self.reading, self.writing = reading, writing
        self.can_undo = can_undo
        self.waiting = waiting

    @property
    def name(self) -> str:
        return "human"

    def check(self, game: Game) -> None:
        """Refuse a game that hints cannot be given for."""
        self.hint.check(game)

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        return [self.choose_one(turn) for turn in turns]

    def choose_one(self, turn: Turn) -> int:
        """Ask for one move until a legal one is given."""
        self.say(f"\n{turn.state}")
        self._show_moves(turn, at_most=FEW)
        while True:
            text = self.ask(f"{turn.state.game.player_name(turn.seat)}, your move> ")
            action = read_action(turn.state, turn.seat, text)
            if action is not None:
                return action
            command = text.removeprefix(":").lower()
            if command == "hint":
                self._show_hint(turn)
            elif command == "moves":
                self._show_moves(turn)
            elif command == "board":
                self.say(str(turn.state))
            elif command == "undo":
                if self.can_undo:
                    raise TakeBackError("a move is taken back")
                self.say("moves cannot be taken back here")
            elif command in ("help", "?"):
                self._show_help(turn)
            elif command in ("quit", "exit"):
                raise HumanLeftError("the human has left the game")
            elif text:
                self._refuse(turn, text)

    def ask(self, prompt: str) -> str:
        """Return the next line without the blanks around it; the end of the input is a farewell."""
        typed = self.reading is None and self.writing is None and sys.stdin.isatty() and sys.stdout.isatty()
        if typed:
            with suppress(ImportError):
                import readline  # noqa: F401  (gives input() arrow keys and a history, where there is one)

            try:
                return input(prompt).strip()
            except EOFError:
                self.say("")
                raise HumanLeftError("the human has left the game") from None
        print(prompt, end="", file=self.writing or sys.stdout, flush=True)
        line = (self.reading or sys.stdin).readline()
        self.say(line.rstrip("\n"))
        if not line:
            raise HumanLeftError("the human has left the game")
        return line.strip()

    def say(self, words: str, style: str = PLAIN) -> None:
        """Print a line; its style shows on terminals only, and not where NO_COLOR is set."""
        writing = self.writing or sys.stdout
        styled = style and words and writing.isatty() and not os.environ.get("NO_COLOR")
        print(f"{style}{words}{RESET}" if styled else words, file=writing, flush=True)

    def _show_help(self, turn: Turn) -> None:
        legal = turn.state.legal(turn.seat)
        self.say(f"a move is written by its name, e.g. {action_name(turn.state, turn.seat, legal[0])}; commands are")
        for name, text in COMMANDS.items():
            if name != "undo" or self.can_undo:
                self.say(f"  {name:6} {text}")
        if any(action_name(turn.state, turn.seat, action).lower() in COMMANDS for action in legal):
            self.say("  :NAME  the command of that name where a move has it too")

    def _show_moves(self, turn: Turn, at_most: int | None = None) -> None:
        names = [action_name(turn.state, turn.seat, action) for action in turn.state.choices(turn.seat)]
        if at_most is not None and len(names) > at_most:
            return
        self.say("moves: " + " ".join(names), DIM)

    def _show_hint(self, turn: Turn) -> None:
        with self.waiting("the search is thinking"):
            (result,) = self.hint.afresh([turn])
        self.say(str(result))
        best = max(turn.state.choices(turn.seat), key=lambda action: result.policy[turn.seat, action])
        share = result.policy[turn.seat, best]
        together = " (to mix, as several choose at once)" if turn.state.turn != (turn.seat,) and share < 0.99 else ""
        self.say(f"the search prefers {action_name(turn.state, turn.seat, best)}{together}", BOLD)

    def _refuse(self, turn: Turn, text: str) -> None:
        game = turn.state.game
        try:
            known = game.action_name(game.parse_action(text))
        except UsageError:
            names = [action_name(turn.state, turn.seat, action) for action in turn.state.legal(turn.seat)]
            near = suggestion(text, [*names, *COMMANDS])
            self.say(f"{text!r} is neither a move nor a command." + (near if "mean" in near else " Try moves or help."))
        else:
            self.say(f"{known} is not possible here; moves lists what is")
