"""What a run knows of itself, in SQLite: tables to which rows are added, and in which no bit can change unseen.

A row is JSON and a seal, the SHA-256 of its text and of the seal before it; a table's last seal and its length stand in
a table of their own, changed in the same transaction. So a changed, missing or doubled row is noticed when the file is
opened. A transaction is on disk when `add` returns (WAL, synchronous FULL, and written back at once: what lies in the
log would be dropped in silence were a bit of it to change).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anabranch.errors import DataError, FileError

TABLES = ("runs", "shards", "models", "gates", "ratings", "metrics", "events")
FIRST = "0" * 64  # the seal before the first row
_FULL = ("full", "disk i/o", "readonly", "unable to open")


class Ledger:
    """The database of a run; one that is `frozen` is only read, and may lie where nothing can be written."""

    def __init__(self, path: Path, *, create: bool = False, frozen: bool = False) -> None:
        self.path = path
        name = f"{path.absolute().as_uri()}?immutable=1" if frozen else path
        self.rows: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
        self._seals = dict.fromkeys(TABLES, FIRST)
        with self._naming("cannot be opened"):
            self._file = sqlite3.connect(name, isolation_level=None, timeout=5.0, uri=frozen)
            try:
                if not frozen:
                    self._file.execute("PRAGMA journal_mode=WAL")
                    self._file.execute("PRAGMA synchronous=FULL")
                self._open(create)
            except BaseException:
                self._file.close()
                raise

    def _open(self, create: bool) -> None:
        if create:
            with self._transaction():
                for table in TABLES:
                    self._file.execute(
                        f"CREATE TABLE IF NOT EXISTS {table} (number INTEGER PRIMARY KEY, body TEXT, seal TEXT)"
                    )
                self._file.execute("CREATE TABLE IF NOT EXISTS heads (name TEXT PRIMARY KEY, rows INTEGER, seal TEXT)")
                self._file.executemany(
                    "INSERT OR IGNORE INTO heads VALUES (?, 0, ?)", [(table, FIRST) for table in TABLES]
                )
        self._check_structure()
        self._file.execute("BEGIN")  # one moment for all tables, whoever writes meanwhile
        heads = {name: (rows, seal) for name, rows, seal in self._file.execute("SELECT name, rows, seal FROM heads")}
        if set(heads) != set(TABLES):
            raise DataError(f"{self.path} is damaged: it does not have the tables of a run")
        for table in TABLES:
            self._read(table, *heads[table])
        self._file.execute("COMMIT")

    def _check_structure(self) -> None:
        found = [row[0] for row in self._file.execute("PRAGMA integrity_check(3)")]
        if found != ["ok"]:
            raise DataError(f"{self.path} is damaged: {'; '.join(map(str, found))}")

    def _read(self, table: str, count: Any, last: Any) -> None:
        seal = FIRST
        for number, body, found in self._file.execute(f"SELECT number, body, seal FROM {table} ORDER BY number"):  # noqa: S608
            if not isinstance(body, str) or number != len(self.rows[table]) + 1 or found != _seal(seal, table, body):
                raise DataError(f"{self.path} is damaged: row {number} of {table} is not as it was written")
            seal = found
            self.rows[table].append(json.loads(body))
        if (len(self.rows[table]), seal) != (count, last):
            raise DataError(f"{self.path} is damaged: {table} has lost rows")
        self._seals[table] = seal

    def add(self, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Add rows to tables, all of them or none; they are on disk when this returns."""
        seals, counts = dict(self._seals), {table: len(known) for table, known in self.rows.items()}
        with self._naming("was not written to"):
            with self._transaction():
                for table, row in rows:
                    body = json.dumps(row, sort_keys=True)
                    seals[table], counts[table] = _seal(seals[table], table, body), counts[table] + 1
                    values = (counts[table], body, seals[table])
                    self._file.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", values)  # noqa: S608
                for table in {table for table, _ in rows}:
                    head = (counts[table], seals[table], table)
                    self._file.execute("UPDATE heads SET rows = ?, seal = ? WHERE name = ?", head)
            self._seals = seals
            for table, row in rows:
                self.rows[table].append(json.loads(json.dumps(row)))
            with contextlib.suppress(sqlite3.Error):  # else with the next one
                self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._file.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._file.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _naming(self, what: str) -> Iterator[None]:
        """Turn what SQLite says into an error that names the file and says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            told = str(error)
            if any(word in told.lower() for word in _FULL):
                raise FileError(
                    f"{self.path} {what}: {told}; what was there is as it was; make room on the disk, or look after it",
                    self.path,
                    OSError(errno.ENOSPC if "full" in told.lower() else errno.EIO, told),
                ) from error
            raise DataError(f"{self.path} {what}: {told}") from error

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _seal(before: str, table: str, body: str) -> str:
    return hashlib.sha256(f"{before}\n{table}\n{body}".encode()).hexdigest()
