"""Everything in the package that parses: how to let it read, and words that mean something to it."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import anabranch as ab
from anabranch.cli.stdio.lines import lines
from anabranch.cli.stdio.protocol import OPERATIONS, Search
from anabranch.cli.stdio.server import Server
from anabranch.evaluate import load as evaluators
from anabranch.evaluate.external import check_whole
from anabranch.evaluate.seal import check_seal, sealed
from anabranch.game.moves import play_moves
from anabranch.play.match import Series
from anabranch.play.names import as_agent
from anabranch.search.engine import saved
from anabranch.search.settings.mapping import from_json, from_pairs, from_toml, known_settings, to_mapping

Read = Callable[[bytes], object]
Prepared = tuple[Read, Sequence[bytes]]  # what reads an input, and inputs to begin with beside the corpus

SETTINGS = sorted({word for setting in known_settings() for word in (setting.key, *setting.key.split("."))})
KINDS = [
    "Puct",
    "Ucb1",
    "RegretMatching",
    "MatrixGame",
    "Exp3",
    "parent",
    "reduced",
    "lowest",
    "constant",
    "kind",
    "amount",
]


@dataclass(frozen=True)
class Target:
    """A parser: `prepare` gets an empty folder, in which the parser then reads; slow ones get fewer inputs."""

    name: str
    prepare: Callable[[Path], Prepared]
    words: Sequence[bytes] = ()
    share: float = 1.0


def bytes_of(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


def text_of(data: bytes) -> str:
    """Return a text as the command line hands it on: what is no UTF-8 comes as surrogates."""
    return data.decode("utf-8", "surrogateescape")


# Settings


def toml(folder: Path) -> Prepared:
    path = folder / "settings.toml"

    def read(data: bytes) -> object:
        path.write_bytes(data)
        return from_toml(path)

    return read, []


def settings_as_json(folder: Path) -> Prepared:
    return from_json, [json.dumps(to_mapping(ab.SearchConfig())).encode()]


def pairs(folder: Path) -> Prepared:
    return lambda data: from_pairs(text_of(data).split("\n")), []


# Requests


GAMES = ("tic_tac_toe", "take_away", "matrix", "pig")


def tamed(line: bytes) -> bytes:
    """Return a line that compiles nothing and plays small games only: what games do with their options is theirs."""
    try:
        given = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return line
    if not isinstance(given, dict) or "game" not in given or given.get("interpreted") is True:
        return line
    if given["game"] == "tic_tac_toe" and not given.get("options"):
        return line
    return msgspec.json.encode({**given, "interpreted": True})


def stdio(folder: Path) -> Prepared:
    """A session: every line is answered once, last, by a result or an error that is not of the library itself."""

    def read(data: bytes) -> None:
        heard: list[Any] = []
        server = Server(lambda line: heard.append(json.loads(line)), workers=1)
        asked = 0
        chunks = iter([data])
        for number, line in enumerate(lines(lambda: next(chunks, b"")), 1):
            line = None if line is None else tamed(line)
            asked += line is None or bool(line.strip())
            if not server.take(line, number):
                break
        if not server.over.wait(0.02):  # or it searches for as long as it was told to
            server.stop()
        assert server.over.wait(120), "it does not end"
        last = [answer for answer in heard if answer["done"]]
        assert len(last) == asked, f"{asked} requests and {len(last)} answers"
        for answer in last:
            assert ("error" in answer) != ("result" in answer), answer
            if "error" in answer:
                assert answer["error"]["type"] != "InternalError", answer["error"]
                assert 0 < len(answer["error"]["message"]) < 3000, answer["error"]
        assert server.join(120)

    return read, []


# Matches


def series() -> Series:
    return Series(ab.games.load("tic_tac_toe", compiled=False), ("random", "random"), games=4, abreast=2)


def written_match(folder: Path) -> bytes:
    path = folder / "made.jsonl"
    begun = series()
    with begun.open(path) as journal:
        begun.play()
        journal.append_begun([(1, 0, [4, 0]), (1, 1, [2])])
    return path.read_bytes()


def open_match(folder: Path) -> Read:
    path = folder / "match.jsonl"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        match = series()
        with match.open(path):
            match.play()

    return read


def journal(folder: Path) -> Prepared:
    return open_match(folder), [written_match(folder)]


def journal_sealed(folder: Path) -> Prepared:
    """Lines of any kind, with checksums as if they had been written so."""
    read = open_match(folder)
    whole = [json.dumps(json.loads(line)["line"]).encode() for line in written_match(folder).splitlines()]

    def read_lines(data: bytes) -> object:
        made = [b'{"crc32":"%08x","line":%b}\n' % (zlib.crc32(line), line) for line in data.split(b"\n")]
        return read(b"".join(made))

    return read_lines, [b"\n".join(whole), b"\n".join([whole[0], whole[-1]])]


# Saved roots


def root(folder: Path, name: str, evaluator: Any) -> tuple[bytes, Read]:
    game = ab.games.load(name)
    searcher = ab.Searcher(game, evaluator, threads=1)
    made = searcher.root(game.start())
    searcher.run(made, simulations=12)
    path = made.save(folder / f"{name}.npz")

    def read(data: bytes) -> None:
        path.write_bytes(data)
        loaded = searcher.load(path)
        loaded.graph.check()
        searcher.run(loaded, simulations=3)
        str(loaded.result)

    return path.read_bytes(), read


def saved_root(folder: Path) -> Prepared:
    data, read = root(folder, "tic_tac_toe", ab.Uniform())
    return read, [data]


def saved_root_sealed(folder: Path) -> Prepared:
    """An archive of any kind, with its checksum right."""
    data, read = root(folder, "tic_tac_toe", ab.Uniform())
    body = data[: -saved.DIGITS - len(saved.MARK)]

    def read_body(body: bytes) -> object:
        body += saved.MARK
        return read(body + hashlib.sha256(body).hexdigest().encode())

    return read_body, [body]


def saved_root_patched(folder: Path) -> Prepared:
    """An archive in which all is right but its columns: an input is a list of changes to these."""
    searches = [root(folder, "tic_tac_toe", ab.Uniform()), root(folder, "pig", ab.Hashing())]

    def read_changes(data: bytes) -> object:
        whole, read = searches[data[0] % 2 if data else 0]
        columns = patched(saved.unpack(whole, Path("made.npz")), data[1:])
        return read(saved.pack(columns))

    return read_changes, [
        bytes([game, column, kind, 0, 1, *b"\x01\0\0\0\0\0\0\0"])
        for game in (0, 1)
        for column in range(18)
        for kind in range(6)
    ]


def patched(columns: dict[str, Any], changes: bytes) -> dict[str, Any]:
    """Return columns with changes made to them, of twelve bytes each: which column, what, where, with what number."""
    columns = dict(columns)
    for start in range(0, len(changes) - 11, 12):
        which, what, (high, low), number = (
            changes[start],
            changes[start + 1],
            changes[start + 2 : start + 4],
            changes[start + 4 : start + 12],
        )
        name = sorted(columns)[which % len(columns)]
        column, at = columns[name], high * 256 + low
        raw = bytearray(column.tobytes())
        if what % 6 == 0 and raw:  # a number
            size = column.itemsize
            place = at * size % len(raw)
            raw[place : place + size] = number[:size]
        elif what % 6 == 1 and raw:  # a bit
            raw[at % len(raw)] ^= number[0]
        elif what % 6 == 2:  # shorter
            raw = raw[: at % (len(raw) // column.itemsize + 1) * column.itemsize]
        elif what % 6 == 3:  # longer
            raw += raw[: column.itemsize * (1 + number[0] % 4)] or bytes(column.itemsize)
        elif what % 6 == 4 and raw:  # a number of another place
            size = column.itemsize
            place, other = at * size % len(raw), int.from_bytes(number[:2], "little") * size % len(raw)
            raw[place : place + size] = raw[other : other + size]
        else:  # of another kind
            columns[name] = np.frombuffer(bytes(raw), np.uint8)
            continue
        made = np.frombuffer(bytes(raw), column.dtype)
        columns[name] = (
            made.reshape(-1, *column.shape[1:]) if made.size % max(1, int(np.prod(column.shape[1:]))) == 0 else made
        )
    return columns


# Networks


def network(folder: Path) -> tuple[Any, Path]:
    import torch

    torch.manual_seed(0)
    net = ab.nets.make("mlp", ab.games.load("tic_tac_toe", compiled=False), width=4, layers=1)
    return net, ab.nets.save(folder / "made.safetensors", net)


def safetensors(folder: Path) -> Prepared:
    _, made = network(folder)
    path, data = folder / "net.safetensors", made.read_bytes()

    def read(given: bytes) -> object:
        path.write_bytes(given)
        return ab.nets.load(path)

    return read, [data]


def safetensors_sealed(folder: Path) -> Prepared:
    """A header of any kind around right weights, with its checksum."""
    import safetensors.torch as library

    from anabranch.nets import files

    net, made = network(folder)
    path, tensors = folder / "net.safetensors", dict(net.state_dict())
    header = files._text(made.read_bytes())

    def read(data: bytes) -> object:
        text = data.decode("utf-8", "replace")
        said = {files.KEY: text, files.CHECKSUM: files.checksum(text, tensors)}
        path.write_bytes(library.save(tensors, metadata=said))
        return ab.nets.load(path)

    return read, [header.encode()]


def onnx(folder: Path) -> Prepared:
    """What is read of a model before a runtime sees it: whether it is whole, and its checksum."""
    model = b"\x08\x08\x3a\x1c\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu\x2a\x0c\x08\x01\x10\x01\x42\x01w\x22\x03abc"

    def read(data: bytes) -> None:
        check_whole(data, "model.onnx")
        check_seal(data, "model.onnx")

    return read, [model, sealed(model), b"\x3a\x14\x2a\x12\x6a\x0e\x0a\x08location\x12\x02ab\x70\x01"]


# Names


def moves(folder: Path) -> Prepared:
    """A game on the first line, a move on every other: a number or a list in JSON, or a text."""
    known = {
        "tic_tac_toe": ab.games.load("tic_tac_toe", compiled=False),
        "pig": ab.games.load("pig", compiled=False),
        "goofspiel": ab.games.load("goofspiel", cards=4, compiled=False),
        "matrix": ab.games.load("matrix", payoffs="rock_paper_scissors", compiled=False),
        "go": ab.games.load("go", size=5, compiled=False),
    }

    def read(data: bytes) -> object:
        name, *written = text_of(data).split("\n")
        game = known.get(name) or next(iter(known.values()))
        return play_moves(game.start(), [as_written(each) for each in written])

    return read, []


def positions(folder: Path) -> Prepared:
    """A game on the first line, the text of a position on the others; what is read is printed and read again."""
    options: dict[str, dict[str, Any]] = {
        "tic_tac_toe": {},
        "connect_four": {},
        "othello": {"size": 4},
        "go": {"size": 5},
        "n_in_a_row": {"size": 5, "line": 4},
        "take_away": {},
        "pig": {},
        "goofspiel": {"cards": 4},
        "pyrat": {},
        "2048": {"rows": 3},
        "dice_race": {},
        "yahtzee": {"jokers": "forced"},
        "yatzy": {"players": 2},
    }
    known = {name: ab.games.load(name, compiled=False, **given) for name, given in options.items()}
    known["window"] = ab.games.load("n_in_a_row", size=23, line=5, compiled=False)

    def read(data: bytes) -> object:
        name, _, text = text_of(data).partition("\n")
        game = known.get(name) or next(iter(known.values()))
        state = game.position(text)
        assert game.position(str(state)) == state, text
        return state

    return read, bytes_of(*(f"{name}\n{game.start()}" for name, game in known.items()))


def as_written(text: str) -> Any:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return text
    plain = isinstance(given, list) and all(type(each) in (int, str) for each in given)
    return given if type(given) is int or plain else text


PYTHON = """
import numpy as np
import anabranch as ab

def zeros(batch):
    return None, np.zeros((len(batch), 2))

def first(state, seat):
    return state.legal(seat)[0]

class Plays(ab.RandomAgent):
    pass

number = 3
"""


def agents(folder: Path) -> Prepared:
    (folder / "mine.py").write_text(PYTHON)
    return lambda data: as_agent(text_of(data)), []


def evaluator_names(folder: Path) -> Prepared:
    game = ab.games.load("tic_tac_toe", compiled=False)
    (folder / "mine.py").write_text(PYTHON)
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "folder.onnx").mkdir()
    network(folder)
    return lambda data: evaluators.load(text_of(data), game), []


def game_names(folder: Path) -> Prepared:
    (folder / "mine.py").write_text(PYTHON)
    return lambda data: ab.games.load(text_of(data)), []


REQUESTS = bytes_of(
    *OPERATIONS, *(field.name for field in msgspec.structs.fields(Search)), *GAMES, "roll", "b2", "uniform"
)
TOML = bytes_of(
    *SETTINGS,
    *KINDS,
    '"""',
    "'''",
    "[[",
    "]]",
    "[selector]",
    "\\u0000",
    "\\UFFFFFFFF",
    "1979-05-27T07:32:00Z",
    "=\n",
    "#",
)
NAMES = bytes_of(
    *("random", "search", "human", "open_spiel", "mcts", "rollout", "uniform", "hashing", "count", "max_depth", "seed"),
    *("simulations", "visits", "seconds", "evaluator", "rule", "lcb", "keep", "graph", "threads", "sha256", "view"),
    *("mine.py", "zeros", "first", "Plays", "number", "made.safetensors", "empty.onnx", "folder.onnx", "no.onnx"),
    *(".", "..", "/", "~", "anabranch", "anabranch.play", "c", "=", ",", ":", "+", "%00", "a" * 300),
    *SETTINGS,
)

TARGETS = [
    Target("toml", toml, TOML),
    Target("settings_json", settings_as_json, bytes_of(*SETTINGS, *KINDS, "{", "}", ":", ",")),
    Target("pairs", pairs, bytes_of(*SETTINGS, *KINDS, "=", "\n", "{", "[")),
    Target("stdio", stdio, REQUESTS, share=0.1),
    Target("journal", journal, bytes_of("crc32", "line", "\n"), share=0.1),
    Target(
        "journal_sealed",
        journal_sealed,
        bytes_of("begun", "pair", "games", "returns", "seats", "moves", "\n"),
        share=0.1,
    ),
    Target("saved_root", saved_root, bytes_of("header.npy", "PK\x01\x02", "PK\x03\x04"), share=0.5),
    Target("saved_root_sealed", saved_root_sealed, bytes_of("header.npy", "PK\x01\x02", "PK\x03\x04"), share=0.5),
    Target("saved_root_patched", saved_root_patched, [b"\xff" * 8, b"\0" * 12, b"\0\0\0\0\0\0\xf8\x7f"], share=0.3),
    Target(
        "safetensors",
        safetensors,
        bytes_of("__metadata__", "anabranch", "sha256", "dtype", "F32", "data_offsets", "shape"),
        share=0.5,
    ),
    Target(
        "safetensors_sealed",
        safetensors_sealed,
        bytes_of("mlp", "tower", "resnet", "sizes", "shape", "width", "layers", "game", "format"),
        share=0.5,
    ),
    Target("onnx", onnx, [b"location", b"\x3a", b"\x2a", b"\x6a", b"\x70\x01", b"\xff" * 10]),
    Target(
        "moves",
        moves,
        bytes_of(
            "a1",
            "b2",
            "roll",
            "hold",
            "pass",
            "rock",
            "tic_tac_toe",
            "pig",
            "goofspiel",
            "matrix",
            "go",
            "\n",
            ",",
            " ",
        ),
    ),
    Target(
        "positions",
        positions,
        bytes_of("x", "o", ".", "/", "\n", "x to move", "black passed, white to move", "over", "12", "points", "none"),
        share=0.3,
    ),
    Target("agents", agents, NAMES, share=0.5),
    Target("evaluator_names", evaluator_names, NAMES, share=0.5),
    Target(
        "game_names",
        game_names,
        bytes_of(*GAMES, "open_spiel", "mine.py", "Rules", "chess", ".py", ":", "go"),
        share=0.5,
    ),
]
