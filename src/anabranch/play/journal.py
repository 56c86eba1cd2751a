"""The file of a match: one line of JSON per finished pair, each with a checksum, appended and made durable.

The first line says which match it is. An interruption adds a line with the games that were under way. A line that was
torn by a crash is ignored, as its games are simply played again, and come out the same; damage anywhere else is an
error, and so is a file of another match.
"""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from anabranch.errors import DataError, reason, shown
from anabranch.evaluate.identity import Identity
from anabranch.files import GrowingFile, check_target, create_file
from anabranch.play.agent import Move
from anabranch.play.identity import check_agents_same
from anabranch.play.record import GameRecord

FORMAT = 1
LARGEST = 2**34  # bytes of a file
KIND = "anabranch match"
Begun = tuple[int, int, list[Move]]  # an unfinished game: its pair, its number in it, what the agents played so far
_LINE = re.compile(rb'\{"crc32":"([0-9a-f]{8})","line":(.*)\}', re.DOTALL)


class Journal:
    """A match's file, open for more pairs; `finished` holds those it had, `begun` the games it had of others."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        header: dict[str, Any],
        agents: Sequence[Identity],
        *,
        same_agents: bool = False,
    ) -> None:
        self.path = Path(path)
        self._agents = agents
        self.finished: dict[int, list[GameRecord]] = {}
        self.begun: list[Begun] = []
        first = _sealed({"kind": KIND, "format": FORMAT, **header})
        self._same_agents = same_agents
        if check_target(self.path) is None and create_file(self.path, first):
            self._same_agents = True  # they wrote it
        self._file = GrowingFile(self.path)
        try:
            self._file.cut(self._read(header))
            if not self._file.length:  # made by somebody else, for us to fill
                self._file.append(first)
        except BaseException:
            self._file.close()
            raise

    def append(self, pairs: Sequence[Sequence[GameRecord]]) -> None:
        """Add finished pairs; when this returns they are on disk."""
        self._write([{"pair": records[0].pair, "games": [asdict(record) for record in records]} for records in pairs])

    def append_begun(self, games: Sequence[Begun]) -> None:
        """Add the games that are under way; they take the place of those that were before."""
        if games:
            self._write([{"begun": games}])

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, lines: Sequence[dict[str, Any]]) -> None:
        self._file.append(b"".join(map(_sealed, lines)))

    def _read(self, header: dict[str, Any]) -> int:
        """Take in what the file has and return how many of its bytes are good."""
        data = self._file.read(LARGEST)
        if not data:
            return 0
        lines = data.split(b"\n")
        torn = lines.pop()  # nothing, if the last line is complete
        good = 0
        for number, line in enumerate(lines, 1):
            body = _unsealed(line)
            if body is None:
                if number == len(lines) and not torn and number > 1:
                    break
                raise DataError(
                    f"{self.path}: line {number} is damaged or no line of a match"
                    + ("; delete it, and its games are played again" if number > 1 else "; name another file")
                )
            try:
                plain = json.loads(body)
            except (ValueError, RecursionError) as error:  # right as it was written, and written by something else
                raise DataError(f"{self.path}: line {number} is not JSON that can be read: {reason(error)}") from None
            if number == 1:
                self._compare(plain, header)
            else:
                self._take(plain, number)
            good += len(line) + 1
        if not good and not torn.startswith(b'{"crc32":"'[: len(torn)]):
            raise DataError(f"{self.path} is no file of a match; it is left as it is. Name another file")
        return good

    def _compare(self, plain: Any, header: dict[str, Any]) -> None:
        if not isinstance(plain, dict) or plain.get("kind") != KIND:
            raise DataError(f"{self.path} is no file of a match; it is left as it is. Name another file")
        if plain.get("format") != FORMAT:
            raise DataError(f"{self.path} has format {shown(plain.get('format'))}, this version reads {FORMAT}")
        for name, value in header.items():
            if name == "agents":
                check_agents_same(plain.get(name), self._agents, self.path, promised=self._same_agents)
            elif plain.get(name) != value:
                raise DataError(
                    f"{self.path} is of another match: its {name} is {shown(plain.get(name))}, this one's {value!r}. "
                    f"Name another file, or repeat the match the file was made with"
                )

    def _take(self, plain: Any, number: int) -> None:
        try:
            if "begun" in plain:
                self.begun = msgspec.convert(plain["begun"], list[Begun])
                wrong = next((f"game {game} of pair {pair}" for pair, game, _ in self.begun if min(pair, game) < 0), "")
            else:
                records = msgspec.convert(plain["games"], list[GameRecord])
                pair = records[0].pair
                self.finished[pair] = records
                wrong = f"pair {pair}" if pair < 0 or plain["pair"] != pair else ""
                if not all(math.isfinite(value) for record in records for value in record.returns):
                    wrong = "returns that are no numbers"
        except (KeyError, TypeError, IndexError, msgspec.ValidationError) as error:
            raise DataError(f"{self.path}: line {number} is no pair of games: {reason(error)}") from None
        if wrong:
            raise DataError(f"{self.path}: line {number} is no pair of games of a match: it has {wrong}")


def _sealed(plain: dict[str, Any]) -> bytes:
    body = json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
    return b'{"crc32":"%08x","line":%b}\n' % (zlib.crc32(body), body)


def _unsealed(line: bytes) -> bytes | None:
    """Return what a line says, or None if its checksum is wrong."""
    found = _LINE.fullmatch(line)
    if found is None or zlib.crc32(found[2]) != int(found[1], 16):
        return None
    return found[2]
