"""The loop of `check`: every law breadth first from the start, then along random games, until the time is up."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from functools import partial

from anabranch.errors import CompileError, UsageError, blame
from anabranch.game.check import answers, identity, moves, payoffs, views
from anabranch.game.check.law import LAWS, Law, kinds
from anabranch.game.check.report import Report, Violation
from anabranch.game.check.shrink import Case, examine, shrink
from anabranch.game.check.subject import LONGEST, Broken, Position, Subject, compact
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game, instead_of_a_game
from anabranch.game.random import Random, below, key_of
from anabranch.game.words import CHANCE, IDLE, OVER

FAMILIES = (answers, moves, identity, payoffs, views)  # importing them filled the table of laws

BREADTH_SHARE, SHRINK_SHARE = 0.3, 0.25  # of the time: breadth first; shortening what was found
BREADTH = 3000  # positions tested breadth first
LAW_SHARE = 0.12  # of the time so far: what one law may take before it sits out
TEST_SHARE = 0.05  # of the time: what one test at one position may take before it stops half-way
LONG = 10_000  # moves of a random game that count as endless when half the time did not bring an end
CYCLIC_MOVES = 2000  # moves of a random game that may go round in circles
LINE_BYTES = 1 << 28  # memory of one line of play
DENSE = 24  # positions of a random game at which laws are tested
EXHAUSTED_GAMES = 200  # random games where breadth first saw everything


def check(game: Game, seconds: float = 5.0, seed: int = 0, games: int | None = None) -> Report:
    """Play a game for some seconds and report which laws its rules break.

    A violation names the law, what was seen, and the shortest line of play found. Compiled games are compared with
    their interpreted selves on the way. No violation is no proof: laws are tested where play happened to go. An
    endless loop inside a verb cannot be interrupted. With `games`, so many random games are played, no law sits out to
    save time, and the report is the same every time (as long as `seconds` suffice).
    """
    if not isinstance(game, Game):
        raise UsageError(f"check takes a game, {instead_of_a_game(game)}")
    if not seconds > 0:
        raise UsageError(f"check needs some seconds, found {seconds}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # NumPy only warns when a number overflows its type
        return Run(game, seconds, seed, games).report()


class Run:
    """One check: the clock, the tests done, the cases found."""

    def __init__(self, game: Game, seconds: float, seed: int, games: int | None) -> None:
        self.cases: dict[str, Case] = {}
        self.tested = dict.fromkeys(LAWS, 0)
        self.spent = dict.fromkeys(LAWS, 0.0)
        self.seconds, self.seed, self.limit = seconds, seed, games
        self.patience = TEST_SHARE * seconds
        self.games = self.states = self.broken_off = 0
        self.starts: set[int] = set()  # seeds whose start was tested
        self.laws: list[Law] = list(LAWS.values())  # those that speak of something the game has, once that is known
        self.left_out = False  # whether some law sat out somewhere
        self.fallback: Case | None = None  # why compiling failed, should interpreted play find nothing
        self.name = repr(game)
        self.subject = Subject(self._prepared(game))
        self.begun = time.perf_counter()

    def _prepared(self, game: Game) -> Game:
        """Compile before the clock starts; a game that cannot be compiled is tested interpreted."""
        try:
            game.rules.turn(game.rules.setup(Random(key_of((self.seed,)))))
            if game.has("observe"):
                game.rules.observe(game.rules.setup(Random(key_of((self.seed,)))), 0)
        except (Exception, SystemExit) as error:
            if not isinstance(game, CompiledGame) or not game.compiled:
                return game  # the laws will say it better
            reason = f"{type(error).__name__}: {error} ({blame(error)})"
            self.fallback = Case("compiled", LAWS["compiled"], reason, self.seed, (), True)
            if isinstance(error, CompileError):
                self._record(replace(self.fallback, seen=str(error)))
            return game.interpreted()
        return game

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.begun

    def late(self, share: float = 1.0) -> bool:
        """Whether the given share of the time is over; once something was found, some is kept to shorten it."""
        return self.elapsed > self.seconds * min(share, 1.0 - SHRINK_SHARE if self.cases else 1.0)

    def report(self) -> Report:
        """Run it all."""
        try:
            start = self.subject.start(self.seed)
            self.laws = [law for law in LAWS.values() if self._applies(law)]
            exhausted = self.breadth_first(start)
            self.random_games(exhausted)
        except Broken as broken:  # not even the start can be made
            self._record(Case(broken.law, LAWS["seeds"], broken.seen, self.seed, (), True))
        if self.fallback is not None and not self.cases:
            self._record(self.fallback)
        violations = self._shortened()
        plies = self.subject.plies
        unmet = tuple(
            law.name for law in self.laws if violations and not self.tested[law.name] + (law.name in self.cases)
        )
        seconds = round(self.elapsed, 3)
        return Report(
            self.name, violations, self.tested, self.games, self.states, plies, seconds, unmet, self.broken_off
        )

    def _applies(self, law: Law) -> bool:
        try:
            return law.applies(self.subject)
        except Broken as broken:
            self._record(Case(broken.law, law, broken.seen, self.seed, (), True))
            return False

    # Where laws are tested.

    def breadth_first(self, start: Position) -> bool:
        """Test positions by depth, so that what is found has the shortest line; return whether all were tested."""
        for position, new in self.subject.breadth_first(start, lambda position: position.data):
            self.test(position, [law for law in self.laws if new or law.every_way], shortest=not self.left_out)
            self.states += new
            if self.late(BREADTH_SHARE) or self.states >= BREADTH:
                return False
        return not self.left_out

    def random_games(self, exhausted: bool) -> None:
        """Test along random games."""
        ended = False
        limit = self.limit if self.limit is not None else EXHAUSTED_GAMES if exhausted else None
        longest = min(
            LONGEST if self.subject.game.cycles is None else CYCLIC_MOVES, LINE_BYTES // self._position_bytes()
        )
        while not self.late() and (limit is None or self.games < limit):
            seed = self.seed if self.subject.start_is_fixed else self.seed + self.games
            random = Random(key_of((self.seed, self.games)))
            until = self.elapsed + (self.seconds - self.elapsed) / (1.0 if ended else 2.0)
            in_time = partial(self._in_time, until)
            last, broken = self.subject.play(self.subject.start(seed), random, longest, in_time)
            self.games += 1
            if broken is not None:
                self.broken_off += 1
                self._record(_case_of(broken, last))
            elif self.subject.turn(last) == OVER:
                ended = True
            elif not ended and LONG <= last.depth < longest:
                self.subject.patience = last.depth
            self.test_line(last, random)
            if "termination" in self.cases:
                longest = min(longest, CYCLIC_MOVES)

    def _in_time(self, until: float, depth: int) -> bool:
        return depth % 64 > 0 or self.elapsed < until  # clocks are not free

    def test_line(self, last: Position, random: Random) -> None:
        """Test positions of a line: all of a short one, a sample of a long one, and always the end."""
        along = last.ancestors()[:-1]
        if len(along) > DENSE:
            along = [along[index] for index in sorted({below(random, len(along)) for _ in range(DENSE)})]
        self.test(last, self.laws)
        for position in along:
            if self.late():
                return
            self.test(position, [law for law in self.laws if not law.whole_line])
            self.states += 1

    def test(self, position: Position, laws: list[Law], shortest: bool = False) -> None:
        """Test laws at a position, those that had their share of the time left out."""
        try:
            here = kinds(self.subject, position)
        except Broken as broken:
            self._record(replace(_case_of(broken, position), minimal=shortest))
            return
        if position.parent is None:
            if position.seed in self.starts:
                return
            self.starts.add(position.seed)
        for law in laws:
            if law.name in self.cases or not any(kind in law.at for kind in here):
                continue
            before = self.elapsed
            if self.limit is None and self.spent[law.name] > LAW_SHARE * before + 0.05:
                self.left_out = True
                continue
            self.subject.deadline = self.begun + min(
                self.seconds, math.inf if self.limit is not None else before + self.patience
            )
            case = examine(self.subject, law, position)
            self.left_out |= self.subject.late()
            if case is not None:
                self._record(replace(case, minimal=shortest and len(case.line) <= position.depth))
            if case is None or case.name == law.name:
                self.tested[law.name] += 1
            self.spent[law.name] += self.elapsed - before

    # What was found.

    def _record(self, case: Case) -> None:
        known = self.cases.get(case.name)
        if known is None or len(case.line) < len(known.line):
            self.cases[case.name] = case

    def _shortened(self) -> tuple[Violation, ...]:
        cases = [self.cases[name] for name in LAWS if name in self.cases]
        violations = []
        for number, case in enumerate(cases):
            share = (self.seconds - self.elapsed) / (len(cases) - number)
            self.subject.deadline = math.inf
            case = shrink(self.subject, case, max(0.2, share))
            sequence = tuple(compact(row) for row in case.line)
            names = self._names(case)
            violations.append(Violation(case.name, LAWS[case.name].sentence, case.seen, case.seed, sequence, names))
        return tuple(violations)

    def _names(self, case: Case) -> tuple[str, ...]:
        """Return what people call the moves of a line; their ids where the game cannot say."""
        names: list[str] = []
        game = self.subject.game
        try:
            position = self.subject.start(case.seed)
            for number, row in enumerate(case.line):
                name = game.outcome_name if self.subject.turn(position) == CHANCE else game.action_name
                names.append(" + ".join(str(name(action)) for action in row if action != IDLE))
                if number + 1 < len(case.line):
                    position = self.subject.step(position, row)
        except Exception:
            return tuple(str(compact(row)) for row in case.line)
        return tuple(names)

    def _position_bytes(self) -> int:
        game = self.subject.game
        return 600 + (game.state.itemsize if isinstance(game, CompiledGame) else 400)


def _case_of(broken: Broken, position: Position) -> Case:
    """Return the case of a verb that failed on the way, with the law whose test will see it again."""
    line = position.line() + ([broken.row] if broken.row else [])
    tester = LAWS["step"] if broken.row else LAWS[broken.law]
    return Case(broken.law, tester, broken.seen, position.seed, tuple(line), False)
