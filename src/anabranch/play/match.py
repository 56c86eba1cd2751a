"""Matches: many games between agents, abreast, in pairs that differ only in who sits where."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import anabranch
from anabranch.errors import DataError, IllegalActionError, UsageError
from anabranch.evaluate.identity import Identity
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game, instead_of_a_game
from anabranch.game.state import State
from anabranch.play.agent import Move, Turn, ask, check_agents, name_of
from anabranch.play.identity import agent_identity
from anabranch.play.journal import Begun, Journal
from anabranch.play.match_result import Match
from anabranch.play.names import as_agent
from anabranch.play.opening import given_openings, opened, usual_plies
from anabranch.play.played import PlayedGame
from anabranch.play.record import GameRecord, rotations
from anabranch.play.seeds import Purpose, seed_for
from anabranch.search.engine.saved import identity
from anabranch.search.settings.arguments import check_whole

NEWS = 4.0  # seconds an agent may choose before moves are played and told, if it can be asked for fewer games at once
FIRST_SLICE = max(2, os.cpu_count() or 1)  # games an agent is asked for at once at first, and at least: one per thread


@dataclass(frozen=True)
class Progress:
    """How far a match has come: games done of all games, those of this run, and its time."""

    done: int
    games: int
    played: int
    moves: int  # of this run, openings and rolls not counted
    under_way: float  # what the unfinished games amount to, in games, going by how long finished ones were
    seconds: float
    score: float | None  # the first agent's so far

    @property
    def left(self) -> float | None:
        """Seconds still to go at the rate so far."""
        if not self.played:
            return None
        return self.seconds / (self.played + self.under_way) * (self.games - self.done - self.under_way)


def match(
    game: Game,
    first: Any,
    second: Any,
    *others: Any,
    games: int = 200,
    openings: int | Sequence[str | State] | None = None,
    seed: int = 0,
    abreast: int = 64,
    file: str | os.PathLike[str] | None = None,
    same_agents: bool = False,
    progress: Callable[[Progress], None] | None = None,
    longest: int = 10_000,
) -> Match:
    """Play a match and return who won how often, with 95 % intervals, and every game.

    Games come in pairs: one random opening, played with each agent in each seat and the same dice. `games` is rounded
    up to whole pairs. Agents are ab.Agent instances, functions of (state, seat), or names such as "search:seconds=0.1".
    A game of more than two players takes as many agents, or two: then the first plays one seat against all others.

        openings    random plies each pair begins with; None: four, but at most a tenth of a game. Or positions, as
                    texts or states, with which pairs begin in turn
        seed        decides everything random; the same call gives the same games, whatever `abreast` is
        abreast     how many games run at once, so that agents choose for many of them in one go
        file        where finished pairs are written; the same call goes on with what the file has
        same_agents a promise that agents of the same names are those of the file, where their code differs or cannot be
                    told apart, as of functions that were typed in
        progress    called with a Progress whenever moves were played
        longest     moves after which a game is cut off and scored by what was got until then
    """
    series = Series(
        game, (first, second, *others), games=games, openings=openings, seed=seed, abreast=abreast, longest=longest
    )
    if file is None:
        series.play(progress)
    else:
        with series.open(file, same_agents=same_agents):
            series.play(progress)
    return series.result()


class Series:
    """A match in progress: `open` a file if it shall have one, `play`, and take the `result`, also halfway."""

    def __init__(
        self,
        game: Game,
        agents: Sequence[Any],
        *,
        games: int = 200,
        openings: int | Sequence[str | State] | None = None,
        seed: int = 0,
        abreast: int = 64,
        longest: int = 10_000,
    ) -> None:
        if not isinstance(game, Game):
            raise UsageError(f"a match is played on a game, {instead_of_a_game(game)}")
        for name, value, least in (("games", games, 1), ("abreast", abreast, 1), ("longest", longest, 1)):
            check_whole(name, value, least)
        check_whole("seed", seed, None)
        if not isinstance(openings, (list, tuple)) and openings is not None:
            check_whole("openings", openings, 0)
        if game.players < 2:
            raise UsageError(
                f"{game.name} is for one player; a match needs two or more. What an agent loses there against exact "
                "play, `anabranch regret` says (ab.regret)"
            )
        if len(agents) not in (2, game.players):
            wanted = "2" if game.players == 2 else f"2 or {game.players}"
            raise UsageError(f"{game.name} has {game.players} players: give {wanted} agents, found {len(agents)}")
        self.game = game
        self.agents = [as_agent(agent, game) for agent in agents]
        check_agents(self.agents, game)
        self.seed, self.abreast, self.longest = seed, abreast, longest
        self.positions: tuple[State, ...] = ()  # with which pairs begin in turn, if any were given
        self.plies = 0  # random ones with which they begin
        if isinstance(openings, (list, tuple)):
            self.positions = given_openings(game, openings)
        else:
            assert openings is None or isinstance(openings, int)
            self.plies = usual_plies(game) if openings is None else openings
        self.tables = rotations(game.players, len(agents))  # who sits where in the games of a pair
        self.pairs = -(-games // len(self.tables))
        self.finished: dict[int, list[GameRecord]] = {}
        self.begun: dict[tuple[int, int], list[Move]] = {}  # what agents played in games that were interrupted
        self.seconds, self.played = 0.0, 0
        self.moves = 0  # by agents, of this run
        self._slices: dict[int, int] = {}  # agent → for how many games it is asked at once
        self._points = 0.0  # of the first agent, in finished pairs
        self._journal: Journal | None = None

    @property
    def games(self) -> int:
        """How many games the whole match has."""
        return self.pairs * len(self.tables)

    def header(self) -> dict[str, Any]:
        """Return what must be the same for a match to be the same; its length is not among it."""
        return {
            "written_by": f"anabranch {anabranch.__version__}",
            "game": repr(self.game),
            "rules": identity(self.game) if isinstance(self.game, CompiledGame) else None,
            "agents": [str(each) for each in self.identities],
            "openings": list(map(str, self.positions)) if self.positions else self.plies,
            "seed": self.seed,
            "longest": self.longest,
        }

    @cached_property
    def identities(self) -> list[Identity]:
        """Which agents they are, before any of them has played."""
        return [agent_identity(agent) for agent in self.agents]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What agents are called; two bots of one name in different folders, by what they are."""
        names = tuple(name_of(agent) for agent in self.agents)
        if len(set(names)) < len(names):
            told = {str(each): name for name, each in zip(names, self.identities, strict=True)}
            if len(told) > len(set(names)):
                names = tuple(map(str, self.identities))
        return names

    def open(self, path: str | os.PathLike[str], *, same_agents: bool = False) -> Journal:
        """Read the pairs a file has, and write to it those that are played from now on; the caller closes it.

        `same_agents` says that agents of the same names are the same, where that cannot be told or their code differs.
        """
        self._journal = Journal(path, self.header(), self.identities, same_agents=same_agents)
        self.begun = {(pair, number): moves for pair, number, moves in self._journal.begun}
        for pair, records in self._journal.finished.items():
            paid = {len(record.returns) for record in records}
            seats, pairs = [record.seats for record in records], {record.pair for record in records}
            if seats != list(self.tables) or pairs != {pair} or paid != {self.game.players}:
                self._journal.close()
                raise DataError(f"{path}: the games of pair {pair} do not belong to this match")
            if 0 <= pair < self.pairs:
                self._finish(records)
        return self._journal

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was played to a file which `open` reads, unless it has it."""
        with Journal(path, self.header(), self.identities, same_agents=True) as journal:  # its name is its header's
            journal.append([records for pair, records in self.finished.items() if pair not in journal.finished])
            journal.append_begun(self._unfinished())

    def result(self) -> Match:
        """Return the match as far as its pairs are finished."""
        records = tuple(record for pair in sorted(self.finished) for record in self.finished[pair])
        openings = tuple(map(str, self.positions)) if self.positions else self.plies
        return Match(repr(self.game), self.names, self.seed, openings, records, self.seconds, self.played)

    def play(
        self, progress: Callable[[Progress], None] | None = None, *, enough: Callable[[], bool] | None = None
    ) -> None:
        """Play all pairs that are not finished, or until there are `enough`, asked whenever a pair is.

        Interrupted, it keeps what was played, and may be called again.
        """
        began, before = time.perf_counter(), self.seconds
        waiting, live = self._tables(), list[_Table]()
        halves: dict[int, list[_Table]] = {}  # games that are over, of pairs that are not
        self.moves, over, moves = 0, 0, 0
        try:
            while not (enough is not None and enough()):
                for table in waiting:
                    live.append(table)
                    if len(live) >= self.abreast:
                        break
                if not live:
                    break
                length = moves / over if over else math.inf

                def tell(live: list[_Table] = live, over: int = over, length: float = length) -> None:
                    self.seconds = before + time.perf_counter() - began
                    if progress is not None:
                        progress(self._progress(live, over, length))

                self._move([table for table in live if not table.ended(self.longest)], tell)
                for table in live:
                    if table.ended(self.longest):
                        halves.setdefault(table.pair, []).append(table)
                        over, moves = over + 1, moves + len(table.decisions)
                live = [table for table in live if not table.ended(self.longest)]
                whole = [pair for pair, tables in halves.items() if len(tables) == len(self.tables)]
                self._keep([sorted(halves.pop(pair), key=lambda table: table.number) for pair in whole])
                self.seconds = before + time.perf_counter() - began
                if progress is not None:
                    progress(self._progress(live, over, moves / over if over else math.inf))
        except KeyboardInterrupt:
            begun = [*live, *(table for tables in halves.values() for table in tables)]
            self.begun |= {(table.pair, table.number): table.decisions for table in begun if table.decisions}
            if self._journal is not None:
                self._journal.append_begun(self._unfinished())
            raise
        finally:
            self.seconds = before + time.perf_counter() - began

    def _unfinished(self) -> list[Begun]:
        return [(*place, moves) for place, moves in sorted(self.begun.items()) if place[0] not in self.finished]

    def _tables(self) -> Iterator[_Table]:
        """Yield the games still to be played, in order; openings are drawn as their pairs come up."""
        for pair in range(self.pairs):
            if pair not in self.finished:
                position = self._position(pair)
                for number, seats in enumerate(self.tables):
                    played = opened(self.game, self.seed, pair, self.plies, position)
                    table = _Table(pair, number, seats, played)
                    self._catch_up(table)
                    yield table

    def _position(self, pair: int) -> State | None:
        """Return where a pair begins, if positions were given."""
        return self.positions[pair % len(self.positions)] if self.positions else None

    def _catch_up(self, table: _Table) -> None:
        """Play what was played in a game before it was interrupted; a move that cannot be is the file's fault."""
        for move in self.begun.get((table.pair, table.number), ()):
            try:
                table.play(move)
            except (IllegalActionError, UsageError) as error:
                where = f"{self._journal.path}: " if self._journal is not None else ""
                raise DataError(
                    f"{where}the game that was begun of pair {table.pair} is none of this match: {error}"
                ) from None

    def _move(self, live: Sequence[_Table], tell: Callable[[], None]) -> None:
        """Let every agent choose for all games it is to move in; a move is played once all its seats have chosen."""
        acting = [table.acting for table in live]  # now: as soon as a move is played, it is somebody else's turn
        choices: list[dict[int, int]] = [{} for _ in live]
        for number, agent in enumerate(self.agents):
            asked = [
                (index, seat)
                for index, table in enumerate(live)
                for seat in acting[index]
                if table.seats[seat] == number
            ]
            turns = [self._turn(live[index], seat) for index, seat in asked]
            answers = iter(asked)
            for actions in self._ask(number, agent, turns):
                for action, (index, seat) in zip(actions, answers, strict=False):
                    choices[index][seat] = action
                    if len(choices[index]) == len(acting[index]):
                        chosen = [choices[index][seat] for seat in acting[index]]
                        live[index].play(chosen[0] if len(chosen) == 1 else tuple(chosen))
                        self.moves += 1
                tell()

    def _ask(self, number: int, agent: Any, turns: Sequence[Turn]) -> Iterator[list[int]]:
        """Yield an agent's choices in slices that take about as long as people wait for news."""
        at = 0
        while at < len(turns):
            size, began = self._slices.setdefault(number, FIRST_SLICE), time.perf_counter()
            yield ask(agent, turns[at : at + size])
            at += size
            spent = time.perf_counter() - began
            self._slices[number] = (
                2 * size if spent < NEWS / 2 else max(FIRST_SLICE, size // 2) if spent > NEWS else size
            )

    def _turn(self, table: _Table, seat: int) -> Turn:
        played = table.played
        return Turn(
            state=played.state,
            seat=seat,
            seed=seed_for(self.seed, Purpose.CHOICE, table.pair, len(played.moves), seat),
            moves=tuple(played.moves),
            start=played.start,
            opening=table.opening,
            game_seed=seed_for(self.seed, Purpose.GAME, table.pair, seat),
            memory=table.memories[seat],
        )

    def _keep(self, pairs: Sequence[Sequence[_Table]]) -> None:
        records = [[self._record(table) for table in tables] for tables in pairs]
        if records and self._journal is not None:
            self._journal.append(records)
        for games in records:
            self._finish(games)
            self.played += len(games)

    def _finish(self, records: list[GameRecord]) -> None:
        self.finished[records[0].pair] = records
        self._points += sum(record.score(0) for record in records)

    def _record(self, table: _Table) -> GameRecord:
        played = table.played
        return GameRecord(
            pair=table.pair,
            seats=table.seats,
            start=seed_for(self.seed, Purpose.START, table.pair),
            dice=played.dice,
            opening=table.opening,
            moves=tuple(played.moves),
            returns=tuple(float(value) for value in played.returns),
            finished=played.state.over,
            position=None if (position := self._position(table.pair)) is None else str(position),
        )

    def _progress(self, live: Sequence[_Table], over: int, length: float) -> Progress:
        """Say how far the match is; in this run so many games came to an end, after so many moves on average."""
        done = len(self.finished) * len(self.tables)
        return Progress(
            done=done + over - self.played,  # games whose pairs are unfinished count too
            games=self.games,
            played=over,
            moves=self.moves,
            under_way=sum(min(0.9, len(table.decisions) / max(1.0, length)) for table in live),
            seconds=self.seconds,
            score=self._points / done if done else None,
        )


class _Table:
    """One game of a pair, being played."""

    def __init__(self, pair: int, number: int, seats: tuple[int, ...], played: PlayedGame) -> None:
        self.pair, self.number, self.seats, self.played = pair, number, seats, played
        self.opening = len(played.moves)
        self.memories: list[dict[Any, Any]] = [{} for _ in seats]  # what agents keep of this game, seat by seat
        self.decisions: list[Move] = []  # of the agents: the moves without opening and dice

    @property
    def acting(self) -> tuple[int, ...]:
        """The seats that choose now."""
        turn = self.played.state.turn
        assert isinstance(turn, tuple)
        return turn

    def play(self, move: Move) -> None:
        """Play the agents' move."""
        self.played.play(move)
        self.decisions.append(move)  # only now, so that an interruption inside a move leaves none of it

    def ended(self, longest: int) -> bool:
        """Whether nothing more is played here."""
        return self.played.state.over or len(self.played.moves) >= longest
