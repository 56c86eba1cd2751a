"""The folder of a run: what is written when, so that at every moment there is a run to go on from.

    run.toml                  all settings
    run.sqlite                what there is (`ledger.py`); a copy from the last checkpoint beside it
    replay/000001.npz         games
    models/000001.safetensors networks as self-play used them
    states/000001.safetensors the learner at a checkpoint; the last two are kept

A file gets its name when it is whole and durable; then its row is committed, with its SHA-256. A game counts from that
commit on, once. Files of games without a row are of a crash in between: they are whole, so they are taken in. A commit
that failed may still be found done after a crash, so its files stay until another one has taken its place: one of the
same bytes, tried again, uses them; no name gets other ones. What has no name of a run's files is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anabranch.errors import DataError, FileError, MissingFileError, UsageError, suggestion
from anabranch.files import LockedFile, create_file, make_folder, read_file, remove_file, replace_file
from anabranch.learn.ledger import Ledger
from anabranch.learn.records import MOST_BYTES, GameRecord, read_shard, write_shard
from anabranch.learn.settings import TrainConfig
from anabranch.learn.toml import to_toml
from anabranch.search.settings.config import SearchConfig
from anabranch.search.settings.mapping import from_toml, to_mapping

SETTINGS, LEDGER, COPY, LOCK = "run.toml", "run.sqlite", "run.sqlite.copy", "run.lock"
REPLAY, MODELS, STATES = "replay", "models", "states"
LARGEST = 2**31
KEPT_STATES = 2
NO_STATE = "no state of the learner is left"
_OWN = re.compile(r"[0-9]{6,}\.(npz|safetensors)")  # names of files in a run's folders


def passed(step: str) -> None:
    """Named moments between two things that are written; tests end the process there."""


class RunFolder:
    """A run on disk, open for writing by this process alone."""

    def __init__(self, folder: Path, ledger: Ledger, lock: LockedFile | None, say: Callable[[str], None]) -> None:
        self.folder, self.ledger, self._lock, self.say = folder, ledger, lock, say
        self.said: list[str] = []
        self.ids = {number for row in ledger.rows["shards"] for number in row["ids"]}
        self._left: dict[str, str] = {}  # files whose commit has failed, and their SHA-256

    # Beginning, and going on

    @classmethod
    def create(
        cls, folder: Path, game: Mapping[str, Any], config: TrainConfig, say: Callable[[str], None] = lambda words: None
    ) -> Self:
        """Make the folder of a new run; `game` is what makes the game again."""
        if cls.begun(folder):
            raise UsageError(f"{folder} has a run already; name another folder")
        make_folder(folder)
        lock = _locked(folder)
        try:
            for part in (REPLAY, MODELS, STATES):
                make_folder(folder / part)
            text = to_toml(to_mapping(config), "Settings of a training run; anabranch train goes on with them.")
            replace_file(folder / SETTINGS, text.encode())
            passed("settings written")
            ledger = Ledger(folder / LEDGER, create=True)
            passed("ledger made")
            if not ledger.rows["runs"]:
                ledger.add([("runs", {"game": dict(game), "settings": _sha(text.encode())})])
            passed("run committed")
            made = cls(folder, ledger, lock, say)
            made._copy_ledger()
            passed("first copy made")
            return made
        except BaseException:
            lock.close()
            raise

    @classmethod
    def open(cls, folder: Path, say: Callable[[str], None] = lambda words: None) -> Self:
        """Open the folder of a run that was begun, to go on with it; what a crash left undone is done."""
        if not (folder / LEDGER).exists() and not (folder / COPY).exists():
            raise UsageError(_no_run(folder))
        lock = _locked(folder)
        try:
            made = cls(folder, _readable(folder, say), lock, say)
            made._settle()
            return made
        except BaseException:
            lock.close()
            raise

    @classmethod
    def look(cls, folder: Path, say: Callable[[str], None] = lambda words: None) -> Self:
        """Open a run to read it as it is at this moment, whoever is at work on it; nothing is written."""
        if not (folder / LEDGER).exists():
            raise UsageError(_no_run(folder))
        return cls(folder, _looked_at(folder / LEDGER), None, say)

    @staticmethod
    def begun(folder: Path) -> bool:
        """Whether there is a run to go on with: its first row was committed."""
        if not (folder / LEDGER).exists():
            return (folder / COPY).exists() or _has_files(folder)
        try:
            ledger = Ledger(folder / LEDGER)
        except DataError:
            return (folder / COPY).exists() or _has_files(folder)
        try:
            return bool(ledger.rows["runs"])
        finally:
            ledger.close()

    def _settle(self) -> None:
        """Take in games whose files are whole and have no row, and remove what belongs to no row at all."""
        for part in ("", REPLAY, MODELS, STATES):
            make_folder(self.folder / part)  # games and models of one that somebody has removed are told when read
            for path in self.folder.joinpath(part).glob(".anabranch-*.tmp"):
                remove_file(path)
        known = {row["file"] for row in self.ledger.rows["shards"]}
        for path in _own_files(self.folder / REPLAY):
            if f"{REPLAY}/{path.name}" not in known:
                self._take_in(path, f"{REPLAY}/{path.name}")
        models = {row["file"] for row in self.ledger.rows["models"]}
        states = {row["state"] for row in self.ledger.rows["models"][-KEPT_STATES:]}
        for part, names in ((MODELS, models), (STATES, states)):
            for path in _own_files(self.folder / part):
                if f"{part}/{path.name}" not in names:
                    remove_file(path)

    def _take_in(self, path: Path, name: str) -> None:
        try:
            data = read_file(path, MOST_BYTES)
            games = [game for game in read_shard(data, name) if game.id not in self.ids]
        except DataError as error:
            if isinstance(error, FileError):
                raise
            games = []
        if len(games) == 0:
            remove_file(path)
            return
        self._commit(name, data, games)
        self.warn(f"{name} was written before a crash and had no row: {len(games)} games taken in")

    @property
    def game(self) -> dict[str, Any]:
        """What makes the game again."""
        found: dict[str, Any] = self.ledger.rows["runs"][0]["game"]
        return found

    @property
    def config(self) -> TrainConfig:
        """The settings."""
        path = self.folder / SETTINGS
        if _sha(read_file(path, LARGEST)) != self.ledger.rows["runs"][0]["settings"]:
            raise DataError(
                f"{path} is not as it was written: damaged, or edited; settings of a run stay as they are, "
                f"and anabranch fork begins another run with other ones"
            )
        # What is None is not written, so it is read over settings in which all that may be None is.
        return from_toml(path, base=TrainConfig(search=SearchConfig()))

    def close(self) -> None:
        """Let others have the run."""
        self.ledger.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Games

    def commit_games(self, games: Sequence[GameRecord], players: int) -> list[GameRecord]:
        """Write games that are not there yet and commit them; return those that count from now on."""
        fresh = list({game.id: game for game in games if game.id not in self.ids}.values())
        if not fresh:
            return []
        data = write_shard(fresh, players)
        (name,), there = self._names("shards", {f"{REPLAY}/*.npz": data})
        if not there:
            with self._writing({name: data}):
                if not create_file(self.folder / name, data):
                    raise FileError(f"{self.folder / name} is there already, without a row; open the run anew", name)
        passed("shard written")
        self._commit(name, data, fresh)
        passed("shard committed")
        self._clear(name)
        return fresh

    def _names(self, table: str, files: Mapping[str, bytes]) -> tuple[list[str], bool]:
        """Return names for files, whose numbers are to stand for `*`, and whether they are there already.

        They are if a commit of the same bytes has failed; else no row has their number, and no file.
        """
        marks = [_sha(data) for data in files.values()]
        for left in self._left:
            names = [pattern.replace("*", Path(left).stem) for pattern in files]
            if [self._left.get(name) for name in names] == marks:
                return names, True
        taken = [int(Path(row["file"]).stem) for row in self.ledger.rows[table]]
        for part in {Path(pattern).parent for pattern in files}:
            taken += [int(path.stem) for path in (self.folder / part).iterdir() if path.stem.isdecimal()]
        return [pattern.replace("*", f"{max(taken, default=0) + 1:06d}") for pattern in files], False

    @contextlib.contextmanager
    def _writing(self, files: Mapping[str, bytes]) -> Iterator[None]:
        """Write files that a row is to have: if that fails no row was tried, and they go at once to make room.

        What cannot be removed now is tried again after the next commit; why the write failed is what users are told.
        """
        try:
            yield
        except FileError:
            for name in files:
                try:
                    remove_file(self.folder / name)
                except FileError:
                    self._left[name] = ""  # nobody knows what it holds
            raise
        self._left |= {name: _sha(data) for name, data in files.items()}

    def _clear(self, *committed: str) -> None:
        """Remove the files of commits that have failed: the one that was made now has taken their place."""
        left, self._left = [name for name in self._left if name not in committed], {}
        for name in left:
            self._afterwards(partial(remove_file, self.folder / name))

    def _afterwards(self, act: Callable[[], None]) -> None:
        """Do what is not needed for a commit to hold; trouble with it is told."""
        try:
            act()
        except FileError as error:
            self.warn(str(error))

    def _commit(self, name: str, data: bytes, games: Sequence[GameRecord]) -> None:
        ids = [game.id for game in games]
        row = {
            "file": name,
            "sha256": _sha(data),
            "bytes": len(data),
            "ids": ids,
            "positions": sum(game.recorded for game in games),
            "decisions": sum(len(game.decisions) for game in games),
            "returns": [list(game.returns) for game in games],
        }
        self.ledger.add([("shards", row)])
        self.ids.update(ids)

    def games(self, row: Mapping[str, Any]) -> list[GameRecord]:
        """Return the games of a shard; one that is not as it was written is told and left out."""
        try:
            ids = set(row["ids"])
            return [game for game in read_shard(self.read(row["file"], row["sha256"]), row["file"]) if game.id in ids]
        except (DataError, MissingFileError) as error:
            self.warn(f"{error}; its {len(row['ids'])} games are left out")
            return []

    @property
    def positions(self) -> int:
        """How many positions to learn from were ever committed."""
        return sum(row["positions"] for row in self.ledger.rows["shards"])

    # Models

    def commit_model(self, weights: bytes, state: bytes, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Write a network and the learner's state, and commit both; older states go."""
        version = len(self.ledger.rows["models"]) + 1
        files = {f"{MODELS}/*.safetensors": weights, f"{STATES}/*.safetensors": state}
        (model, kept), there = self._names("models", files)
        if not there:
            with self._writing({model: weights, kept: state}):
                replace_file(self.folder / model, weights)
                passed("weights written")
                replace_file(self.folder / kept, state)
                passed("state written")
        row = {"version": version, "file": model, "sha256": _sha(weights), "state": kept, "state_sha256": _sha(state)}
        row |= facts
        self.ledger.add([("models", row)])
        passed("model committed")
        self._afterwards(self._copy_ledger)
        passed("ledger copied")
        self._clear(model, kept)
        for old in self.ledger.rows["models"][:-KEPT_STATES]:
            if (self.folder / old["state"]).exists():
                self._afterwards(partial(remove_file, self.folder / old["state"]))
        passed("old states removed")
        return row

    def _copy_ledger(self) -> None:
        """Copy the database as it is between two transactions, for the day on which it is damaged."""
        wal = self.folder / f"{LEDGER}-wal"
        if not wal.exists() or wal.stat().st_size == 0:
            replace_file(self.folder / COPY, read_file(self.folder / LEDGER, LARGEST))

    def newest_state(self) -> tuple[dict[str, Any], bytes | None, bytes] | None:
        """Return the newest checkpoint whose files are as they were written: its row, weights and learner.

        If there is none, a learner alone will do, which has the weights too: None stands for them then.
        """
        rows = self.ledger.rows["models"][-KEPT_STATES:]
        for row in reversed(rows):
            try:
                return row, self.read(row["file"], row["sha256"]), self.read(row["state"], row["state_sha256"])
            except (DataError, MissingFileError) as error:
                before = "; going on from the checkpoint before it" if row is not rows[0] else ""
                self.warn(f"{error}{before}")
        for row in reversed(rows):
            with contextlib.suppress(DataError, MissingFileError):
                state = self.read(row["state"], row["state_sha256"])
                self.warn(f"no checkpoint is whole, but the learner of one is: going on from {row['state']}")
                return row, None, state
        if rows:
            self.warn(NO_STATE)
        return None

    def is_whole(self, model: Mapping[str, Any]) -> bool:
        """Whether the file of a model is as it was written; if not, that is said."""
        try:
            self.read(model["file"], model["sha256"])
        except (DataError, MissingFileError) as error:
            self.warn(str(error))
            return False
        return True

    def newest_weights(self) -> tuple[dict[str, Any], bytes] | None:
        """Return the row and the weights of the newest model whose file is as it was written."""
        for row in reversed(self.ledger.rows["models"]):
            if self.is_whole(row):
                return row, self.read(row["file"], row["sha256"])
        return None

    # Everything

    def read(self, name: str, sha256: str) -> bytes:
        """Return a file of the run, which must be as it was written."""
        data = read_file(self.folder / name, LARGEST)
        if _sha(data) != sha256:
            raise DataError(f"{self.folder / name} is damaged: its SHA-256 is not that of its row")
        return data

    def warn(self, words: str) -> None:
        """Say something that the user should know, and remember that it was said."""
        if words not in self.said:
            self.said.append(words)
            self.say(words)

    def add(self, table: str, row: Mapping[str, Any]) -> None:
        """Commit a row of a table that has no files."""
        self.ledger.add([(table, row)])


def _no_run(folder: Path) -> str:
    if folder.exists():
        return f"{folder} is not the folder of a run: it has no {LEDGER}"
    try:
        there = [each.name for each in folder.parent.iterdir() if (each / LEDGER).exists()]
    except OSError:
        there = []
    near = suggestion(folder.name, there) if there else ""
    return f"{folder} is not the folder of a run: there is no such folder.{near}"


def examine(folder: Path) -> list[tuple[str, str]]:
    """Return of every file of a run what is wrong with it, "" if nothing is; the run is left as it is."""
    if not (folder / LEDGER).exists():
        raise UsageError(_no_run(folder))
    found: list[tuple[str, str]] = []

    def look(name: str, read: Callable[[], Any]) -> Any:
        try:
            made = read()
        except (DataError, UsageError) as error:
            found.append((name, str(error)))
            return None
        found.append((name, ""))
        return made

    whole = look(LEDGER, lambda: RunFolder.look(folder))
    if whole is None:
        return found
    ledger = whole.ledger
    try:
        look(SETTINGS, lambda: whole.config)
        if (folder / COPY).exists():
            look(COPY, lambda: _looked_at(folder / COPY).close())
        for row in ledger.rows["shards"]:
            data = look(row["file"], partial(whole.read, row["file"], row["sha256"]))
            if data is not None:
                look(f"games in {row['file']}", partial(read_shard, data, row["file"]))
        for row in ledger.rows["models"]:
            look(row["file"], partial(whole.read, row["file"], row["sha256"]))
        for row in ledger.rows["models"][-KEPT_STATES:]:
            look(row["state"], partial(whole.read, row["state"], row["state_sha256"]))
    finally:
        ledger.close()
    return found


def _readable(folder: Path, say: Callable[[str], None]) -> Ledger:
    """Return the database, or its copy if it is damaged."""
    try:
        return Ledger(folder / LEDGER)
    except DataError as error:
        if isinstance(error, FileError) or not (folder / COPY).exists():
            raise
        Ledger(folder / COPY).close()
        say(f"{error}; going on from its copy of the last checkpoint, games since then are read from their files")
        for ending in ("-wal", "-shm"):
            remove_file(folder / f"{LEDGER}{ending}")
        replace_file(folder / LEDGER, read_file(folder / COPY, LARGEST))
        return Ledger(folder / LEDGER)


def _looked_at(path: Path) -> Ledger:
    """Return a database to read, also one in a folder that cannot be written to, where nobody else writes either."""
    try:
        return Ledger(path)
    except FileError:
        log = path.with_name(f"{path.name}-wal")
        if not path.exists() or (log.exists() and log.stat().st_size):
            raise  # what lies in the log would be missing
        return Ledger(path, frozen=True)


def _own_files(folder: Path) -> list[Path]:
    """Return the files that a run has written; whatever else somebody keeps there is not a run's to look at."""
    return sorted(path for path in folder.iterdir() if _OWN.fullmatch(path.name) and path.is_file())


def _has_files(folder: Path) -> bool:
    return any((folder / REPLAY).glob("*.npz"))


def _locked(folder: Path) -> LockedFile:
    return LockedFile(folder / LOCK, f"{folder}: another process is at work on this run; wait for it, or end it")


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
