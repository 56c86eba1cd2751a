"""Which evaluator it is, so that files can tell: in words for people, and with hashes of code, weights and state.

`Searcher.load`, the files of matches and the names of agents all ask here. An evaluator is the same if its text is the
same: `rollout:count=4`, `model.onnx:sha256=…`, `evaluates.py:zeros:sha256=…`. Where nobody can tell what something is
made of, the hash is `unknown` and `doubt` says why; such a text is equal to nothing, unless the user says that it is.

An evaluator that knows better says so itself, by an attribute `identity`: a text that tells all that decides its
answers, such as a hash of its weights.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import dataclass, fields
from typing import Any

from anabranch.errors import DataError, shown
from anabranch.evaluate.asked import Asked
from anabranch.evaluate.batch import Evaluator, Function, as_evaluator
from anabranch.evaluate.cached import Cached
from anabranch.evaluate.contents import DIGITS, contents, origin
from anabranch.evaluate.mixed import Mixed
from anabranch.evaluate.native import BUILT_IN
from anabranch.evaluate.network import Network, NetworkEvaluator
from anabranch.evaluate.onnx import Onnx
from anabranch.evaluate.ready import Best
from anabranch.evaluate.sources import DoubtError
from anabranch.evaluate.symmetric import Symmetric
from anabranch.evaluate.torch import Torch

UNKNOWN = "sha256=unknown"
_HASH = re.compile(r"[:,]?sha256=(?:[0-9a-f]+|unknown)")


@dataclass(frozen=True)
class Identity:
    """What something is called in files; `doubt` says why nobody can tell whether it is the same as another."""

    text: str
    doubt: str = ""

    def __str__(self) -> str:
        return self.text


def identity(evaluator: Any) -> Identity:
    """Return which evaluator it is."""
    evaluator = as_evaluator(evaluator)
    kind = type(evaluator)
    for name, known in BUILT_IN.items():
        if kind is known:
            return Identity(_with_settings(name, evaluator))
    if isinstance(evaluator, Asked) and kind is Asked:
        if evaluator.identity:
            return Identity(f"asked:identity={evaluator.identity}")
        return Identity(f"asked:{UNKNOWN}", "ab.Asked() does not say who answered; ab.Asked(identity=…) does")
    if isinstance(evaluator, (Onnx, Best)) and kind in (Onnx, Best):
        return Identity(evaluator.name)
    if isinstance(evaluator, Torch) and kind is Torch:
        name = evaluator.name
        return Identity(name, evaluator.doubt if UNKNOWN in name else "")
    if isinstance(evaluator, Cached) and kind is Cached:  # remembered answers are the same
        return identity(evaluator.evaluator)
    if isinstance(evaluator, Symmetric) and kind is Symmetric:
        inside = identity(evaluator.evaluator)
        return Identity(f"symmetric({inside};mode={evaluator.mode};seed={evaluator.seed})", inside.doubt)
    if isinstance(evaluator, Mixed) and kind is Mixed:
        inside, played = identity(evaluator.evaluator), identity(evaluator.rollouts)
        return Identity(f"mixed({inside};{played};share={evaluator.share:g})", inside.doubt)
    if isinstance(evaluator, Function) and kind is Function:
        return code_identity(evaluator.function)
    if isinstance(evaluator, Network) and kind is Network:
        inside = code_identity(evaluator.function)
        return Identity(f"network({inside};view={evaluator.view})", inside.doubt)
    return code_identity(evaluator, skip={"_checked"} if isinstance(evaluator, NetworkEvaluator) else frozenset())


def code_identity(
    thing: Any,
    *more: Any,
    known: Callable[[Any], str | None] | None = None,
    skip: Set[str] = frozenset(),
) -> Identity:
    """Return which function or object of the user's own it is: where its code is, and a hash of all it is made of.

    An `identity` of its own takes the place of the hash.
    """
    where, said = origin(thing), getattr(thing, "identity", None)
    if isinstance(said, str):
        return Identity(f"{where}:identity={said}")
    try:
        mark = contents(thing, *more, known=_known if known is None else known, skip=skip)[:DIGITS]
    except DoubtError as doubt:
        return Identity(f"{where}:{UNKNOWN}", f"{where}: {doubt}")
    return Identity(f"{where}:sha256={mark}")


def check_same(there: Any, here: Identity, what: str, *, advice: str, promised: bool, promise: str) -> None:
    """Raise a DataError unless a file's text names the same thing; `promise` is how users say that it does.

    What was promised to be the same may differ in its hashes, and not in its name and settings.
    """
    if not isinstance(there, str):
        raise DataError(f"{what} {shown(there)}, which is no name")
    if promised and _HASH.sub("", there) == _HASH.sub("", here.text):
        return
    if _HASH.sub("", there) == _HASH.sub("", here.text):
        if here.doubt or UNKNOWN in there:
            why = here.doubt or "when the file was written, nobody could tell what it was made of"
            raise DataError(
                f"{what} {there}, and nobody can tell whether this one is the same ({why}). Put its code into a file, "
                f"give it an `identity`, or, if it is the same, say so: {promise}"
            )
        if there != here.text:
            raise DataError(
                f"{what} {there}, and this one, of the same name, is {here}: its code, weights or state are others. "
                f"{advice}; or, if that makes no difference, say so: {promise}"
            )
    if there != here.text:
        raise DataError(f"{what} {there}, this one is {here}. {advice}")


def _known(thing: Any) -> str | None:
    """Return the text of an evaluator inside of another thing, where it has one that is sure."""
    if not isinstance(thing, Evaluator) or type(thing).__module__.partition(".")[0] != "anabranch":
        return None
    found = identity(thing)
    if found.doubt:
        raise DoubtError(found.doubt)
    return found.text


def _with_settings(name: str, evaluator: Any) -> str:
    told = [f"{field.name}={getattr(evaluator, field.name)}" for field in fields(evaluator)]
    usual = [f"{field.name}={field.default}" for field in fields(evaluator)]
    changed = [pair for pair in told if pair not in usual]
    return name + (":" + ",".join(changed) if changed else "")
