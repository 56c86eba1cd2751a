"""Everything in the package that writes files: how to let it write, twice and differently."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.evaluate import quantise as quantising
from anabranch.game.native import cache as object_cache
from anabranch.play.match import Series

GAME = "tic_tac_toe"


@dataclass(frozen=True)
class Writer:
    """One that writes: the modules it does it in, how its files end, and what to call with a path and version 0 or 1.

    One that keeps what is there has no second version; of one that grows, the second version begins with the first; one
    that is `silent` warns instead of raising.
    """

    modules: tuple[str, ...]
    ending: str
    write: Callable[[Path, int], Any]
    read: Callable[[bytes], Any] = bytes  # what two files have in common that say the same
    keeps: bool = False
    grows: bool = False
    silent: bool = False


@cache
def root(version: int) -> ab.Root:
    game = ab.games.load(GAME)
    searcher = ab.Searcher(game, ab.Uniform(), threads=1)
    made = searcher.root(game.start())
    searcher.run(made, simulations=10 + 10 * version)
    return made


@cache
def net(version: int) -> Any:
    import torch

    torch.manual_seed(version)
    return ab.nets.make("mlp", ab.games.load(GAME), width=4, layers=1)


def weights(data: bytes) -> Any:
    from anabranch.nets.files import read

    return {key: tensor.tolist() for key, tensor in read("a network", data).state_dict().items()}


def lines(data: bytes) -> Any:
    """The lines of a match; one is added whenever it is interrupted."""
    return list(dict.fromkeys(data.splitlines(keepends=True)))


@cache
def program(version: int) -> Any:
    """What torch exports of a network, once: it takes seconds."""
    import torch

    made: list[Any] = []
    real = torch.onnx.export

    def kept(*arguments: Any, **options: Any) -> Any:
        made.append(real(*arguments, **options))
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.onnx, "export", kept)
        patch.setattr("anabranch.evaluate.export.replace_file", lambda path, data: made.append(data))
        ab.to_onnx(net(version), ab.games.load(GAME), "nowhere.onnx")
    return made


def export(path: Path, version: int) -> None:
    import torch

    exported = program(version)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.onnx, "export", lambda *a, **o: exported)
        ab.to_onnx(net(version), ab.games.load(GAME), path)


@cache
def quantised(version: int) -> tuple[bytes, Any]:
    made: list[Any] = []
    real = quantising._convert

    def kept(*arguments: Any) -> Any:
        made.append(real(*arguments))
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantising, "_convert", kept)
        patch.setattr(quantising, "read_file", lambda path, most: program(version)[1])
        patch.setattr(quantising, "replace_file", lambda path, data: None)
        report = ab.quantise("x", "y", ab.games.load(GAME), positions=16, bound=LOOSE)
    return made[0], report


LOOSE = ab.Bound(policy_kl_mean=9, policy_kl_max=9, value_error_mean=9, value_error_max=9, top1=0)


def write_quantised(path: Path, version: int) -> None:
    data, report = quantised(version)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantising, "_convert", lambda *a: data)
        patch.setattr(quantising, "_compare", lambda *a: report)
        patch.setattr(quantising, "read_file", lambda path, most: program(version)[1])
        ab.quantise(__file__, path, ab.games.load(GAME), positions=16, bound=LOOSE)


@cache
def picture(version: int) -> ab.Picture:
    return ab.games.load(GAME).start().step(version)[0].picture()


def write_png(path: Path, version: int) -> None:
    data = rendered(version)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anabranch.draw.png.png", lambda svg, scale: data)
        picture(version).save(path)


@cache
def rendered(version: int) -> bytes:
    from anabranch.draw.png import png

    return png(picture(version).svg)


def new(path: Path, version: int) -> None:
    from anabranch.cli.new import write_template

    write_template(path.stem, path.parent, objects=bool(version))


def keep_code(path: Path, version: int) -> None:
    unit = object_cache.ObjectCode({"entry": "symbol"}, (), b"code" * (100 + version))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANABRANCH_CACHE", str(path.parent))
        patch.setattr(object_cache, "_warned", False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            object_cache.write(path.stem, unit)


def keep_values(path: Path, version: int) -> None:
    import numpy as np

    from anabranch.search.exact import kept_values

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANABRANCH_CACHE", str(path.parent))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            kept_values.write(path.stem, np.arange(100.0) + version)


def probe(path: Path, version: int) -> None:
    """The doctor's look at the cache writes a file and takes it away again: what is wrong is a finding."""
    from anabranch.search.diagnosis import health

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANABRANCH_CACHE", str(path.parent))
        list(health.cache_folder())


def journal(path: Path, version: int) -> None:
    series = Series(ab.games.load(GAME), ("random", "random"), games=4 + 4 * version, abreast=2)
    with series.open(path):
        series.play()


def fixed_positions(path: Path, version: int) -> None:
    ab.fixed_set(ab.games.load(GAME), 5, seed=version).save(path)


def journal_of_interrupted(path: Path, version: int) -> None:
    series = Series(ab.games.load(GAME), ("random", "random"), games=4 + 4 * version, abreast=2)
    series.play()
    series.begun[9, 0] = [0]
    series.save(path)


def write_page(path: Path, version: int) -> None:
    from anabranch.learn.report import write_report
    from anabranch.learn.statistics import Statistics

    course = ({"seconds": 60.0, "games": 1, "positions": 2, "step": 3, "window": 2, "losses": None, "score": None},)
    figures = Statistics("a game", version, 1, 2, 3, 1.0, 1, 9, 1.0, (0.5, 0.5), 0.0, 1.0, 0.1, 0.0, 0.0, course)
    write_report(path, figures, None)


def write_events(path: Path, version: int) -> None:
    from anabranch.learn import tensorboard

    tensorboard.write_events(path, ({"seconds": 60.0, "step": 3, "games": version},))


WRITERS = {
    "a root": Writer(("search/engine/saved.py",), ".npz", lambda path, version: root(version).save(path)),
    "a network": Writer(
        ("nets/files.py",), ".safetensors", lambda path, version: ab.nets.save(path, net(version)), weights
    ),
    "an export": Writer(("evaluate/export.py",), ".onnx", export),
    "a network in eight bits": Writer(("evaluate/quantise.py",), ".onnx", write_quantised),
    "an SVG": Writer(("draw/picture.py",), ".svg", lambda path, version: picture(version).save(path)),
    "a PNG": Writer(("draw/picture.py",), ".png", write_png),
    "a template": Writer(("cli/new.py",), ".py", new, keeps=True),
    "compiled code": Writer(("game/native/cache.py",), ".object", keep_code, silent=True),
    "a fixed set": Writer(("play/fixed_set.py",), ".json", fixed_positions),
    "the page of a run": Writer(("learn/report.py",), ".html", write_page),
    "figures for TensorBoard": Writer(("learn/tensorboard.py",), ".anabranch", write_events),
    "solved values": Writer(("search/exact/kept_values.py",), ".values", keep_values, silent=True),
    "a match": Writer(("play/journal.py",), ".jsonl", journal, lines, grows=True),
    "a match that was interrupted": Writer(("play/journal.py",), ".jsonl", journal_of_interrupted, lines, grows=True),
}
REFUSED = (UsageError, ab.errors.FileError)
