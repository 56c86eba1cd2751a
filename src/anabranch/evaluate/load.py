"""Find an evaluator by name.

A name is a built-in evaluator with its settings, `best` for the network that comes with the package for a game, a
network's file with its options, `package.module:Name`, or `path/to/file.py:Name`.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import re
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from anabranch.errors import DataError, UnknownNameError, UsageError, shortened
from anabranch.evaluate.batch import Evaluator, as_evaluator
from anabranch.evaluate.identity import identity
from anabranch.evaluate.mixed import Mixed
from anabranch.evaluate.native import BUILT_IN
from anabranch.evaluate.onnx import Onnx
from anabranch.evaluate.ready import Best
from anabranch.evaluate.torch import Torch
from anabranch.game.game import Game
from anabranch.game.load import load_module, refuse_pythons_own

AN_EVALUATOR = "an evaluator is a function of a batch that returns (logits, values), or has evaluate(batch)"
NETWORK = re.compile(r"(?P<path>.+\.(?:onnx|safetensors))(?::(?P<options>[^:]*))?", re.DOTALL)
# Options of networks' files and their kinds; `sha256` is the beginning of a hash, as the names of evaluators tell it.
OPTIONS: dict[str, dict[str, type]] = {
    ".onnx": {"threads": int, "view": str, "sha256": str, "rollouts": int, "share": float},
    ".safetensors": {
        "threads": int,
        "device": str,
        "autocast": str,
        "channels_last": bool,
        "sha256": str,
        "rollouts": int,
        "share": float,
    },
}
OPEN: dict[str, bool | None] = {"none": None, "null": None, "true": True, "false": False}  # what is no number


def load(text: str, game: Game | None = None) -> Evaluator:
    """Return the evaluator a text names: `uniform`, `rollout:count=4,max_depth=200`, `model.onnx:threads=2`, or others.

    A network's file, .onnx or .safetensors, is compared with the game if one is given, else with that of its first
    batch. In a module or a file of Python, a class is called without arguments; an object with `evaluate` or a function
    of a batch is taken as is. A name that ends in `:sha256=…`, as evaluators are called in files, is of that one alone.
    """
    if network := NETWORK.fullmatch(text):
        return _network(Path(network["path"]), network["options"] or "", game)
    text, _, mark = text.partition(":sha256=")
    if text == "best":
        best = Best(mark or None)
        if game is not None:
            best.check(game)
        return best
    name, separator, rest = text.partition(":")
    if name in BUILT_IN:
        return _built_in(name, rest) if rest or not separator else _built_in(name, "")
    where, separator, member = text.rpartition(":")
    if not separator:
        if text.endswith(".py"):
            raise UsageError(f"which evaluator of {shortened(text)}? Name it too, e.g. {shortened(text)}:evaluate")
        if text and (weights := newest_weights(Path(text))) is not None:
            raise UsageError(f"{shortened(text)} is no evaluator but a run; its newest is evaluator={weights}")
        raise UnknownNameError("evaluator", text, [*BUILT_IN, "best"])
    if where.partition(":")[0].isidentifier() and "=" in member:  # a built-in one, misspelt
        raise UnknownNameError("evaluator", where.partition(":")[0], BUILT_IN)
    module = load_module(where)
    found = getattr(module, member, None)
    if found is None:
        refuse_pythons_own(where, module, AN_EVALUATOR)
        known = [key for key, value in vars(module).items() if not key.startswith("_") and _may_be_meant(module, value)]
        raise UnknownNameError(f"evaluator in {where}", member, known)
    _refuse_others(text, found)
    made = as_evaluator(_made(text, found) if isinstance(found, type) else found)
    if mark and not identity(made).text.endswith(f":sha256={mark}"):
        raise DataError(f"{text} is another evaluator than the one named: it is {identity(made)}, not :sha256={mark}")
    return made


def newest_weights(run: Path) -> Path | None:
    """Return the newest model's file in the folder of a run; None where there is none."""
    return max(run.glob("models/*.safetensors"), default=None) if os.path.isdir(run) else None  # whatever it is named


def _refuse_others(text: str, found: Any) -> None:
    """Refuse what cannot be an evaluator, before it is called: what is Python's own, functions of no or many things."""
    refuse_pythons_own(text, found, AN_EVALUATOR)
    if isinstance(found, type) and not _evaluates(found):
        raise UsageError(f"{text} is a class without evaluate(batch); {AN_EVALUATOR}")
    if not isinstance(found, type) and not callable(getattr(found, "evaluate", None)) and not callable(found):
        raise UsageError(f"{text}: {AN_EVALUATOR}; found {type(found).__name__}")
    if isinstance(found, FunctionType):
        try:
            inspect.signature(found).bind(None)
        except TypeError as error:
            raise UsageError(f"{text} cannot be called with a batch alone ({error}); {AN_EVALUATOR}") from None


def _evaluates(kind: type) -> bool:
    """Whether instances of a class have evaluate, or can be called."""
    return callable(getattr(kind, "evaluate", None)) or any("__call__" in vars(each) for each in kind.__mro__)


def _made(text: str, kind: type) -> Any:
    """Make an evaluator of a class that needs nothing for it."""
    try:
        inspect.signature(kind).bind()
    except (TypeError, ValueError) as error:  # the latter of classes in C, which tell no signature
        raise UsageError(
            f"{text} is a class that cannot be made without arguments ({error}); make one in the file, under a name of "
            f"its own, and name that"
        ) from None
    return kind()


def _network(path: Path, text: str, game: Game | None) -> Evaluator:
    """Return the evaluator in a network's file."""
    known = OPTIONS[path.suffix]
    options: dict[str, Any] = {}
    for pair in filter(None, text.split(",")):
        key, separator, value = pair.partition("=")
        if key not in known:
            raise UnknownNameError(f"option of {path.suffix} files", key, known)
        if not separator:
            raise UsageError(f"{shortened(pair)!r} is not of the form key=value, e.g. model{path.suffix}:threads=2")
        options[key] = value if known[key] is str else _number(f"{shortened(path.name)}:{key}", value, known[key])
    expected = options.pop("sha256", None)
    mixed = {name: options.pop(name) for name in ("rollouts", "share") if name in options}
    made: Onnx | Torch
    if path.suffix == ".onnx":
        made = Onnx(path, **options)
    else:
        from anabranch import nets

        made = Torch(nets.load(path, game), **options, file=path.name)
    found = made.sha256
    if expected is not None and expected != found:
        raise DataError(f"{path.name} is another network than the one named: its hash is {found}, not {expected}")
    if game is not None:
        made.check(game)
    return Mixed(made, **mixed) if mixed else made


def _built_in(name: str, rest: str) -> Evaluator:
    kind: Any = BUILT_IN[name]
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    options: dict[str, Any] = {}
    for pair in filter(None, rest.split(",")):
        key, separator, text = pair.partition("=")
        if not separator:
            raise UsageError(f"{shortened(pair)!r} is not of the form key=value, e.g. rollout:count=4,max_depth=200")
        if key not in defaults:
            raise UnknownNameError(f"setting of {name}", key, defaults)
        options[key] = _setting(f"{name}:{key}", text, defaults[key])
    return as_evaluator(kind(**options))


def _setting(key: str, text: str, default: Any) -> Any:
    """Return a setting of a built-in evaluator as its name tells it: a word, a number, or what may be left open."""
    if isinstance(default, str):
        return text
    if default is not None:
        return _number(key, text, type(default))
    if text.lower() in OPEN:
        return OPEN[text.lower()]
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{key} must be true, false, none or a whole number, found {shortened(text)!r}") from None


def _number(key: str, text: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if kind is bool and not isinstance(value, bool):
        raise UsageError(f"{key} must be true or false, found {shortened(text)!r}")
    if isinstance(value, bool) != (kind is bool) or not isinstance(value, (int, kind)):
        raise UsageError(f"{key} must be a {'whole ' if kind is int else ''}number, found {shortened(text)!r}")
    return value


def _may_be_meant(module: ModuleType, value: Any) -> bool:
    """Whether something in a module may be an evaluator of its own, or one that was made there."""
    if isinstance(value, (type, FunctionType)):
        own = value.__module__ == module.__name__
        return own and (isinstance(value, FunctionType) or _evaluates(value))
    return callable(getattr(value, "evaluate", None))
