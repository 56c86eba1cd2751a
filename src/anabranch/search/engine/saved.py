"""A root on disk: everything its search found, so that it can go on as if it had never stopped.

The file is an .npz of plain columns (`numpy.load` reads it) with a JSON header and, as the archive's comment, a SHA-256
of every byte before it. Nothing in it is trusted: the checksum tells damage, the header another game or other settings,
and the engine rebuilds the graph by playing every edge again, which tells everything else.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

import anabranch
from anabranch import _native
from anabranch.errors import DataError, UsageError, reason, shown
from anabranch.evaluate.identity import check_same
from anabranch.evaluate.identity import identity as evaluator_identity
from anabranch.files import read_file, replace_file
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.state import State

if TYPE_CHECKING:
    from anabranch.search.engine.root import Root
    from anabranch.search.engine.searcher import Searcher

FORMAT = 3
MARK = b"sha256:"
DIGITS = 64
LARGEST_HEADER = 1_000_000
LARGEST = 2**37  # bytes of a file: more than 2^32 nodes need

# Columns and their types; the engine knows which lengths go together.
COLUMNS = {
    "visits": "<u4",
    "parents": "<u4",
    "edge_counts": "<u4",
    "has_rows": "|u1",
    "records": "<u8",
    "means": "<f8",
    "evaluations": "<f8",
    "edge_visits": "<u4",
    "children": "<u4",
    "moves": "<u4",
    "edge_values": "<f8",
    "frozen": "|u1",
    "low": "<f8",
    "high": "<f8",
    "free": "<u4",
    "link_parents": "<u4",
    "link_children": "<u4",
}
RUN = {"run": "<u8", "run_before": "<u4"}  # in files of a Gumbel search that was run
OPTIONAL = {**_native.saved_columns(), **RUN}  # the first in files where the settings keep them
FILES = {"header": "|u1", "root": "|u1", **COLUMNS, **OPTIONAL}


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself."""

    format: int
    written_by: str
    game: str
    identity: str  # a SHA-256 of the instance: what its __init__ stored, and the layout of its states
    stream: int  # which random numbers the root has
    root_number: int  # how often it moved on
    config: dict[str, Any]
    evaluator: str
    nodes: int
    edges: int
    ruled: bool = False  # whether noise or forced visits held at the root


def save(root: Root, path: str | os.PathLike[str]) -> Path:
    """Write a root to a file, which is replaced whole or not at all."""
    game = root.state.game
    if not isinstance(game, CompiledGame):
        raise UsageError(
            f"{game.name} is an object game: its states are Python objects, which are not written to files; "
            "searches of games over records (ab.CompiledGame) can be saved"
        )
    if root.native.in_flight:
        raise UsageError("this root waits for answers: tell them, or drop the search, before it is saved")
    if game.has("key") and root.root_number > 0:
        raise UsageError(
            f"{game.name} merges states by a key, and a root of such a game that has moved on cannot be saved yet: its "
            f"nodes may hold states that other ways led to"
        )
    if root.searcher.config.chance.draw == "in_transition" and root.root_number > 0:
        raise UsageError(
            "a root that has moved on cannot be saved where dice are rolled inside the transition: its draws go by "
            "edges that are gone; choose another chance.draw, or save it before it moves on"
        )
    columns = {name: np.asarray(column) for name, column in _native.snapshot(root.native).items()}
    header = Header(
        format=FORMAT,
        written_by=f"anabranch {anabranch.__version__}",
        game=game.name,
        identity=identity(game),
        stream=root.stream,
        root_number=root.root_number,
        config=described(root.searcher.config),
        evaluator=str(evaluator_identity(root.searcher.evaluator)),
        nodes=len(columns["visits"]),
        edges=len(columns["children"]),
        ruled=bool(root.native.ruled),
    )
    columns["header"] = np.frombuffer(json.dumps(msgspec.to_builtins(header)).encode(), np.uint8)
    columns["root"] = np.frombuffer(root.state.data, np.uint8)
    replace_file(Path(path), pack(columns))
    return Path(path)


def load(
    searcher: Searcher, path: str | os.PathLike[str], game: Game | None = None, same_evaluator: bool = False
) -> Root:
    """Return the root in a file, made for this searcher: its game (or another instance), evaluator and settings."""
    from anabranch.search.engine.root import Root

    game = searcher.game if game is None else game
    path = Path(path)
    columns = unpack(read_file(path, LARGEST), path)
    header = _read_header(columns.pop("header"), path)
    if not isinstance(game, CompiledGame) or header.game != game.name:
        raise DataError(f"{path} is a search of {header.game}, this searcher plays {game.name}")
    if game is not searcher.game:
        searcher.check_instance(game)
    _compare(header, searcher, game, path, same_evaluator)
    data = columns.pop("root").tobytes()
    if len(data) != game.state.itemsize:
        raise DataError(f"{path}: a state of {game.name} has {game.state.itemsize} bytes, the root has {len(data)}")
    if (header.nodes, header.edges) != (len(columns["visits"]), len(columns["children"])):
        raise DataError(f"{path}: the header promises {header.nodes} nodes and {header.edges} edges; there are others")
    try:
        root = Root(searcher, State(game, data), header.stream)
        root.native.root_number = header.root_number  # what its noise is drawn by
        _native.restore(root.native, {**columns})
        if header.ruled:
            searcher.let_explore([root], [0])  # draws the noise that it had; a Gumbel run was planned by `restore`
    except _native.Damaged as error:
        raise DataError(f"{path} is no search of {game!r} by these rules: {error}") from None
    except _native.SearchFailed as failure:
        raise _rules_refuse(path, game, failure.args[0]["exception"]) from None
    except Exception as error:  # whatever a verb raises on a root that play never reaches
        raise _rules_refuse(path, game, error) from error
    return root


def evaluator_in(path: str | os.PathLike[str]) -> str:
    """Return the name of the evaluator that a saved search was made with."""
    columns = unpack(read_file(path, LARGEST), Path(path))
    return _read_header(columns["header"], Path(path)).evaluator


def _rules_refuse(path: Path, game: Game, error: BaseException | None) -> BaseException:
    if error is not None and not isinstance(error, Exception):
        return error  # Ctrl-C is no fault of the file
    return DataError(f"{path}: the rules of {game!r} fail on what it holds" + (f": {error!r}" if error else ""))


# Bytes


def pack(columns: dict[str, npt.NDArray[Any]]) -> bytes:
    """Return columns as an .npz archive that ends with its own checksum."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, kind in FILES.items():
            if name not in columns and name in OPTIONAL:
                continue
            member = io.BytesIO()
            np.lib.format.write_array(member, columns[name].astype(kind, copy=False), allow_pickle=False)
            # A fixed date: equal searches make equal files.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), member.getbuffer())
        archive.comment = MARK + b"0" * DIGITS
    data = buffer.getvalue()[:-DIGITS]
    return data + hashlib.sha256(data).hexdigest().encode()


def unpack(data: bytes, path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of an archive; damage anywhere is a DataError."""
    body = memoryview(data)[:-DIGITS]
    if len(data) < DIGITS or bytes(body[-len(MARK) :]) != MARK:
        raise DataError(f"{path} is not a saved search, or its end is missing")
    if hashlib.sha256(body).hexdigest().encode() != data[-DIGITS:]:
        raise DataError(f"{path} is damaged: its checksum is not that of its contents")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            found = {member.filename.removesuffix(".npy") for member in members}
            if len(members) != len(found) or not set(FILES) - set(OPTIONAL) <= found <= set(FILES):
                raise DataError(f"{path} is not a saved search: it holds other columns")
            return {member.filename[: -len(".npy")]: _read_column(archive, member, path) for member in members}
    except DataError:
        raise
    except Exception as error:  # made by hand: whatever the parsers say of it
        raise DataError(f"{path} cannot be read: {reason(error)}") from error


def _read_column(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> npt.NDArray[Any]:
    """Return one array. It is stored as it is, so it cannot be larger than the file."""
    name = member.filename[: -len(".npy")]
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise DataError(f"{path}: the column {name} is compressed")
    data = archive.read(member)
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise DataError(f"{path}: the column {name} is of another version")
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(stream)
    rest = len(data) - stream.tell()
    if kind != np.dtype(FILES[name]) or by_columns or len(shape) > 2 or math.prod(shape) * kind.itemsize != rest:
        raise DataError(f"{path}: the column {name} is not of the right kind")
    return np.frombuffer(data, kind, offset=stream.tell()).reshape(shape).astype(kind.newbyteorder("="), copy=False)


# What was searched, and how


def identity(game: CompiledGame) -> str:
    """Return a checksum of what makes an instance the game it is; the code of its rules is told apart by replaying."""
    declared = (game.instance.dtype.descr, game.state.descr, game.returns, game.discount, game.cycles)
    mark = hashlib.sha256()
    for part in (repr(declared).encode(), game.instance.tobytes()):
        mark.update(len(part).to_bytes(8, "little"))
        mark.update(part)
    return mark.hexdigest()


def described(value: Any) -> Any:
    """Return settings as plain data: a dict for each part, with its kind."""
    if not dataclasses.is_dataclass(value):
        return value
    parts = {part.name: described(getattr(value, part.name)) for part in dataclasses.fields(value)}
    return {"kind": type(value).__name__, **parts}


def _read_header(column: npt.NDArray[Any], path: Path) -> Header:
    if column.size > LARGEST_HEADER:
        raise DataError(f"{path}: the header is too long")
    try:
        plain = json.loads(column.tobytes())
        if isinstance(plain, dict) and plain.get("format") != FORMAT:
            raise DataError(f"{path} has format {shown(plain.get('format'))}, this version reads {FORMAT}")
        header = msgspec.convert(plain, Header)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise DataError(f"{path}: the header cannot be read: {reason(error)}") from None
    for name in ("stream", "root_number"):
        if not 0 <= getattr(header, name) < 2**63:
            raise DataError(f"{path}: the header cannot be read: {name} {getattr(header, name)}")
    return header


def _compare(header: Header, searcher: Searcher, game: CompiledGame, path: Path, same_evaluator: bool) -> None:
    """Refuse a file of another instance, evaluator or way of searching, naming what differs."""
    if header.identity != identity(game):
        raise DataError(f"{path} is a search of {header.game} made with other parameters than {game!r}")
    check_same(
        header.evaluator,
        evaluator_identity(searcher.evaluator),
        f"{path} was searched with",
        advice="Load it with that evaluator, or search anew",
        promised=same_evaluator,
        promise="same_evaluator=True, or --same-evaluator",
    )
    there, ours = _flat(header.config), _flat(described(searcher.config))
    for name in sorted(there.keys() | ours.keys()):
        if there.get(name) != ours.get(name):
            raise DataError(
                f"{path} was searched with {name} = {shown(there.get(name))}, this searcher has {shown(ours.get(name))}"
            )


def _flat(settings: Any, name: str = "config") -> dict[str, Any]:
    if not isinstance(settings, dict):
        return {name: settings}
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        flat |= _flat(value, f"{name}.{key}")
    return flat
