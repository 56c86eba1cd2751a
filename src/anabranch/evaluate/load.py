"""Find an evaluator by name: a built-in one with its settings, `package.module:Name`, or `path/to/file.py:Name`."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from anabranch.errors import UnknownNameError, UsageError
from anabranch.evaluate.batch import Evaluator, as_evaluator
from anabranch.evaluate.native import Hashing, Rollout, Uniform
from anabranch.game.load import load_module

BUILT_IN: dict[str, type] = {"hashing": Hashing, "rollout": Rollout, "uniform": Uniform}


def load(text: str) -> Evaluator:
    """Return the evaluator a text names: `uniform`, `rollout:count=4,max_depth=200`, or a name in a module or file.

    A class found there is called without arguments; an object with `evaluate` or a function of a batch is taken as is.
    """
    name, separator, rest = text.partition(":")
    if name in BUILT_IN:
        return _built_in(name, rest) if rest or not separator else _built_in(name, "")
    where, separator, member = text.rpartition(":")
    if not separator:
        if text.endswith(".py"):
            raise UsageError(f"which evaluator of {text}? Name it too, e.g. {text}:evaluate")
        raise UnknownNameError("evaluator", text, BUILT_IN)
    if where.partition(":")[0].isidentifier() and "=" in member:  # a built-in one, misspelt
        raise UnknownNameError("evaluator", where.partition(":")[0], BUILT_IN)
    module = load_module(where)
    found = getattr(module, member, None)
    if found is None:
        known = [key for key, value in vars(module).items() if hasattr(value, "evaluate") or _is_function(value)]
        raise UnknownNameError(f"evaluator in {where}", member, known)
    return as_evaluator(found() if isinstance(found, type) else found)


def _built_in(name: str, rest: str) -> Evaluator:
    kind: Any = BUILT_IN[name]
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    options: dict[str, Any] = {}
    for pair in filter(None, rest.split(",")):
        key, separator, text = pair.partition("=")
        if not separator:
            raise UsageError(f"{pair!r} is not of the form key=value, e.g. rollout:count=4,max_depth=200")
        if key not in defaults:
            raise UnknownNameError(f"setting of {name}", key, defaults)
        options[key] = _number(f"{name}:{key}", text, type(defaults[key]))
    return as_evaluator(kind(**options))


def _number(key: str, text: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, (int, kind)):
        raise UsageError(f"{key} must be a {'whole ' if kind is int else ''}number, found {text!r}")
    return value


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)
