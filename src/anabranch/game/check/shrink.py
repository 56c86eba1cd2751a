"""Shorten a line of play that breaks a law: breadth first, then by leaving moves out, then by short random games."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from anabranch.errors import blame, foreign_frames
from anabranch.game.check.law import Finding, Law, kinds
from anabranch.game.check.subject import Broken, Position, Row, Subject, Unplayable
from anabranch.game.random import Random, key_of

REACH = 20_000  # positions looked at breadth first
SHORT_GAMES = 1000  # random games played in search of a shorter line


@dataclass(frozen=True)
class Case:
    """A broken law (`name`), the test that saw it, and a line that shows it."""

    name: str
    tester: Law
    seen: str
    seed: int
    line: tuple[Row, ...]
    minimal: bool  # whether nothing shorter can show it


def examine(subject: Subject, tester: Law, position: Position) -> Case | None:
    """Run one test at one position; a verb that breaks another law on the way is a case of that law."""

    def case(name: str, finding: Finding, where: Position = position) -> Case:
        line = where.line()[: finding.at]
        return Case(name, tester, finding.seen, where.seed, (*line, *([finding.row] if finding.row else [])), False)

    try:
        for finding in tester.test(subject, position):
            return case(tester.name, finding)
    except Broken as broken:
        return case(broken.law, Finding(broken.seen, row=broken.row), broken.position or position)
    except Unplayable:
        return case("function", Finding("moves that were legal are not legal when the line is played again"))
    except Exception as error:  # states, keys or names that cannot be hashed or compared
        if not isinstance(error, (TypeError, ValueError)) and not foreign_frames(error):
            raise
        return case("answers", Finding(f"comparing answers raised {type(error).__name__}: {error} ({blame(error)})"))
    return None


def shrink(subject: Subject, case: Case, seconds: float) -> Case:
    """Return the case with the shortest line found in the time given."""
    deadline = time.perf_counter() + seconds

    def late() -> bool:
        return time.perf_counter() > deadline

    best = case
    if best.line and not best.minimal:
        best = _breadth_first(subject.fresh(), best, late)
    if best.line and not best.minimal:
        best = _leave_out(subject, best, late)
    if best.line and not best.minimal:
        best = _play_short(subject.fresh(), best, late)
    return best


def _shorter(subject: Subject, case: Case, position: Position) -> Case | None:
    """Return a shorter case of the same law seen at `position`, if there is one."""
    try:
        fits = any(kind in case.tester.at for kind in kinds(subject, position))
    except Broken as broken:
        if broken.law != case.name:
            return None
        return replace(case, seen=broken.seen, line=tuple(position.line()))
    found = examine(subject, case.tester, position) if fits else None
    if found is None or found.name != case.name or len(found.line) >= len(case.line):
        return None
    return found


def _breadth_first(subject: Subject, case: Case, late: Callable[[], bool]) -> Case:
    def merge(position: Position) -> object:
        return (position.data, tuple(position.total)) if case.tester.whole_line else position.data

    for looked, (position, new) in enumerate(subject.breadth_first(subject.start(case.seed), merge)):
        if position.depth >= len(case.line):
            return replace(case, minimal=True)  # everything shorter was looked at
        if new or case.tester.every_way:
            found = _shorter(subject, case, position)
            if found is not None:
                return replace(found, minimal=len(found.line) == position.depth)
        if late() or looked > REACH:
            return case
    return case


def _leave_out(subject: Subject, case: Case, late: Callable[[], bool]) -> Case:
    """Leave out ever smaller pieces of the line, as long as the law stays broken (Zeller and Hildebrandt 2002)."""
    size = max(1, len(case.line) // 2)
    while size:
        first = 0
        while first + size <= len(case.line) and not late():
            line = case.line[:first] + case.line[first + size :]
            found = _at_end_of(subject, case, line)
            if found is None:
                first += size
            else:
                case = found
        size //= 2
    return case


def _at_end_of(subject: Subject, case: Case, line: tuple[Row, ...]) -> Case | None:
    try:
        position = subject.replay(subject.start(case.seed), line)
    except Unplayable:
        return None
    except Broken as broken:
        # The last move itself may be what fails.
        return replace(case, seen=broken.seen, line=line) if broken.law == case.name else None
    return _shorter(subject, case, position)


def _play_short(subject: Subject, case: Case, late: Callable[[], bool]) -> Case:
    number = 0
    while case.line and not late() and number < SHORT_GAMES:
        number += 1
        random = Random(key_of((case.seed, number)))
        last, _ = subject.play(subject.start(case.seed), random, len(case.line) - 1, lambda depth: not late())
        positions = [last] if case.tester.whole_line else last.ancestors()
        for position in positions:
            found = _shorter(subject, case, position)
            if found is not None:
                case = found
                break
    return case
