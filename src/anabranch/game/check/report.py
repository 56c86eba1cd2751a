"""What `check` found: violations with their lines of play, and how often each law was tested."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.errors import CheckFailedError
from anabranch.game.check.subject import Row

WIDTH = 100  # characters of a line where there is no terminal
SHOWN = 40  # moves of a line that are printed; `sequence` holds them all


@dataclass(frozen=True)
class Violation:
    """A broken law, what was seen, and the shortest line of play found that shows it.

    To see it again: `state = game.start(seed)`, then `state, rewards = state.step(move)` for each move of `sequence`.
    """

    law: str
    sentence: str
    seen: str
    seed: int
    sequence: tuple[int | Row, ...]
    names: tuple[str, ...] = field(repr=False)

    def __str__(self) -> str:
        count = len(self.sequence)
        moves = (
            "at the start" if not count else f"after {count} {'move' if count == 1 else 'moves'}: {_elided(self.names)}"
        )
        replay = f"seed {self.seed}, sequence [{_elided([str(move) for move in self.sequence])}]"
        return f"{self.law}: {self.sentence}\n    seen    {self.seen}\n    where   {moves}\n    replay  {replay}"

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        sequence = [move if isinstance(move, int) else list(move) for move in self.sequence]
        return {"law": self.law, "sentence": self.sentence, "seen": self.seen, "seed": self.seed,
                "sequence": sequence, "names": list(self.names)}  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The result of `check`; prints itself."""

    game: str
    violations: tuple[Violation, ...]
    laws: dict[str, int]  # law → how often it was tested; 0 where the game has nothing it speaks of
    games: int
    states: int
    plies: int
    seconds: float
    unmet: tuple[str, ...] = ()  # laws that play never came to test because others were broken
    broken_off: int = 0  # of the random games: those that could not be played to their end, as the rules failed

    @property
    def ok(self) -> bool:
        """Whether no law was seen broken."""
        return not self.violations

    def raise_if_failed(self) -> None:
        """Raise `CheckFailedError` with the whole report if a law is broken."""
        if self.violations:
            raise CheckFailedError(str(self))

    def __str__(self) -> str:
        broken = {violation.law for violation in self.violations}
        tested = [name for name, times in self.laws.items() if times]
        idle = [name for name, times in self.laws.items() if not times and name not in (*self.unmet, *broken)]
        name, games = self.game.removesuffix("()"), _count(self.games, "random game")
        if self.broken_off:
            games += " begun, " + ("all" if self.broken_off == self.games else f"{self.broken_off:,}") + " broken off"
        effort = f"{games}, {_count(self.states, 'state')}, {_count(self.plies, 'move')}, {self.seconds:.1f} s"
        if self.ok:
            lines = [f"{name}: all {len(tested)} laws hold ({effort})"]
        else:
            count = len(self.violations)
            lines = [f"{name}: {count} {'law' if count == 1 else 'laws'} broken ({effort})"]
        lines += [f"  ✗ {violation}" for violation in self.violations]
        for title, words in (
            ("tested", [f"{name} {self.laws[name]:,}×" for name in tested]),
            ("nothing to test for", idle),
            ("could not be tested", self.unmet),
        ):
            lines += _wrapped(f"  {title}  ", words) if words else []
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"game": self.game, "ok": self.ok, "violations": [violation.to_json() for violation in self.violations],
                "laws": self.laws, "games": self.games, "states": self.states, "plies": self.plies,
                "seconds": self.seconds, "unmet": list(self.unmet), "broken_off": self.broken_off}  # fmt: skip


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def _wrapped(title: str, words: Sequence[str]) -> list[str]:
    """Return words in lines as wide as the terminal, the later ones indented; no word is torn from its number."""
    width = max(40, shutil.get_terminal_size((WIDTH, 24)).columns)
    text = title + ", ".join(word.replace(" ", "\xa0") for word in words)
    lines = textwrap.wrap(text, width, subsequent_indent=" " * 10, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def _elided(words: list[str] | tuple[str, ...]) -> str:
    if len(words) <= SHOWN:
        return ", ".join(words)
    half = SHOWN // 2
    return ", ".join([*words[:half], f"… {len(words) - SHOWN} more …", *words[-half:]])
