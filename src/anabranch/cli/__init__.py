"""The command line: find the command, run it, turn errors into one line and an exit code.

Exit codes: 0 good, 2 usage, 3 bad data, or a file or standard output that cannot be written, 4 an error in the user's
game, 130 interrupted.
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # as in `anabranch`
if TYPE_CHECKING:
    from collections.abc import Sequence

GOOD, USAGE, BAD_DATA, GAME, INTERRUPTED = 0, 2, 3, 4, 130

# Kept here so that --help imports nothing; a test compares it with the commands' own docstrings.
COMMANDS = {
    "games": "List the built-in games, or describe one.",
    "analyze": "Search a position and show what was found.",
    "play": "Play a game against an agent, with hints and moves taken back.",
    "match": "Play agents against each other, seats swapped, and say who is stronger.",
    "gate": "Play pairs until it is known whether one agent is better than another.",
    "regret": "Say how much an agent loses to exact play over a fixed set of states.",
    "train": "Train a network for a game by self-play; the same command goes on where it stopped.",
    "rate": "Rate the models of a training run against fixed agents, with 95 % intervals.",
    "stats": "Say what a training run has done: games, losses, best moves and ratings over time.",
    "fork": "Begin a training run with a model of another one, and other settings if wanted.",
    "exploit": "Say how much an agent leaves to be gained: exactly, or at least.",
    "oracle": "Solve a game exactly, or ask what a position and its choices are worth.",
    "check": "Play a game at random and say which laws its rules break.",
    "new": "Write the file of a small complete game to start from.",
    "perft": "Count lines of play and distinct states by depth.",
    "doctor": "Look at versions, machine, cache and engine, or at all files of a run, and say what is wrong.",
    "bench": "Say how fast the engine searches on this machine, or sign what it does.",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without arguments this is the program, and Ctrl-C its own affair."""
    program = argv is None
    words = list(sys.argv[1:] if argv is None else argv)
    if program:
        try:
            from anabranch.cli import interrupt

            interrupt.leave_at_once()
        except KeyboardInterrupt:  # meanwhile
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
    from anabranch.cli import output

    try:
        if program:
            output.own()
        code = begin(words)
        sys.stdout.flush()  # a reader that has gone shows here, not at exit
    except (Exception, KeyboardInterrupt) as error:
        from anabranch.cli.failure import failure

        message, code = failure(error)
        if message:
            output.say(message)
    if program and code == INTERRUPTED:
        interrupt.leave()
    return code


def begin(words: Sequence[str]) -> int:
    """Print help or the version, or run a command."""
    if not words or words[0] in ("-h", "--help", "help"):
        if len(words) > 1 and words[0] == "help":
            return run(words[1], ["--help"])
        print(usage())
        return GOOD
    if words[0] in ("--version", "version"):
        from anabranch import __version__

        print(f"anabranch {__version__}")
        return GOOD
    return run(words[0], words[1:])


def run(name: str, arguments: Sequence[str]) -> int:
    """Run one command; errors come out as exceptions."""
    if name not in COMMANDS:
        from anabranch.errors import UnknownNameError

        raise UnknownNameError("command", name, COMMANDS)
    from anabranch.cli.parse import parse

    command = importlib.import_module(f"anabranch.cli.{name}").Command
    parsed = parse(command, f"anabranch {name}", arguments)
    if parsed is None:  # it was --help
        return GOOD
    from anabranch.cli.interrupt import raise_again

    raise_again()
    code: int = parsed.run()
    return code


def usage() -> str:
    """Return what --help prints."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: anabranch COMMAND …",
            "",
            "Monte-Carlo graph search for games of every kind.",
            "",
            *lines,
            "",
            "anabranch COMMAND --help says more; --json makes any command print for machines.",
        ]
    )
