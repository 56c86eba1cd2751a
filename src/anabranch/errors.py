"""Every exception of the library; each says what happened, where, and what to do."""

from __future__ import annotations

import difflib
import os
import sysconfig
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

LISTED = 60  # known names that a message lists; nobody reads thousands
LONGEST_NAME = 120  # letters of a name that a message repeats


class AnabranchError(Exception):
    """Root of everything the library raises on purpose."""


class UsageError(AnabranchError, ValueError):
    """A call, flag, config key or name that cannot be right, whatever the data."""


class UnknownNameError(UsageError, KeyError):
    """A name nobody knows; the message offers the nearest one that exists."""

    def __init__(
        self, what: str, name: str, known: Iterable[str], *, where: str = "", meant: Sequence[str] = ()
    ) -> None:
        known = sorted(known)
        near = did_you_mean(meant) if meant else suggestion(name, known)
        super().__init__((f"{where}: " if where else "") + f"unknown {what} {shortened(name)!r}.{near}")
        self.nearest = next(iter(meant or nearest(name, known)), None)

    def placed(self, where: str) -> UnknownNameError:
        """Return the same error with the place in front."""
        self.args = (f"{where}: {self.args[0]}",)
        return self

    def __str__(self) -> str:  # KeyError would show the repr of its argument
        return str(self.args[0])


class UnknownArgumentError(UnknownNameError, TypeError):
    """An argument that a call does not take, as Python's own TypeError, with the nearest one it does take."""


class UnsupportedGameError(UsageError):
    """A game of another library that this search cannot play soundly; the message says why."""


class TooManyStatesError(UsageError):
    """A game has more states than were to be written out: what was found, and what to do about it."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(f"{found}. {advice}")
        self.found = found


class GameError(AnabranchError):
    """The rules of a game broke a promise: a lie, a size that does not fit, nonsense returned."""


class IllegalActionError(GameError, ValueError):
    """An action that is not legal in the state it was given to; the state is unchanged."""


class CompileError(GameError):
    """A verb that runs interpreted but cannot be compiled; the message names the verb and the cause."""


class MismatchError(GameError):
    """Compiled and interpreted play disagree: the compiled call failed where the same source, interpreted, did not."""


class CycleError(GameError):
    """A game that declared no cycles came back to a state of the same playout; the message prints the loop."""


class CheckFailedError(GameError):
    """`check` found violations; the message lists them."""


class EvaluatorError(AnabranchError):
    """An evaluator returned something that is not (logits, values) for the rows it was asked."""


class ModelError(AnabranchError):
    """A learned model answered something that cannot be used; the message names the row and the actions to it."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row  # of what the model was asked, where one is to blame


class EvaluatorWarning(RuntimeWarning):
    """An evaluator's values lie outside of what the game declares; the search goes on, and may be misled."""


class AgentError(AnabranchError):
    """An agent raised, or chose what is not legal; the message has the moves that led there."""


class DataError(AnabranchError):
    """A file that cannot be used: damaged, of another version, or of something else than what it is opened for."""


class FileError(DataError, OSError):
    """A file that the system does not let us read or write, or that is no ordinary file; the message names it.

    `errno` and `strerror` are the system's, where it has said something; `filename` is the file.
    """

    def __init__(self, message: str, path: str | os.PathLike[str] | None = None, cause: OSError | None = None) -> None:
        super().__init__(message)
        self.filename = None if path is None else os.fspath(path)
        self.errno = None if cause is None else cause.errno
        self.strerror = message if cause is None else cause.strerror

    def __str__(self) -> str:  # OSError would show a number
        return str(self.args[0])


class OutputError(FileError):
    """Standard output cannot be written to: it is closed, or what it goes to is full."""


class MissingFileError(UsageError, FileNotFoundError):
    """A file that is not there; the message names it."""

    def __str__(self) -> str:
        return str(self.args[0])


class AccuracyError(AnabranchError):
    """A network in fewer digits is too far from the one it was made of; `report` has the numbers."""

    def __init__(self, message: str, report: object) -> None:
        super().__init__(message)
        self.report = report


class MissingExtraError(AnabranchError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, module: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {module}; install it with: pip install 'anabranch[{extra}]'")


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """Return a text that somebody wrote as a message repeats it: as it is, or its beginning."""
    return text if len(text) <= most else f"{text[:most]}…"


def shown(value: object, most: int = LONGEST_NAME) -> str:
    """Return a value as a message repeats it: its repr, or the beginning of that."""
    try:
        return shortened(repr(value), most)
    except (ValueError, RecursionError):  # a number of too many digits, lists in lists without end
        return f"a {type(value).__name__} too large to show"


def reason(error: BaseException) -> str:
    """Return what another library's error says, as a message repeats it: parsers may quote all they were given."""
    return shortened(str(error), 300)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return at most two known names that a name may have been meant for, the nearer first; `c` may mean `part.c`."""
    known = list(known)
    return [word for word in known if word.endswith(f".{name}")][:2] or difflib.get_close_matches(name, known, 2, 0.5)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ' Did you mean …?' with the nearest known names, or the list of them all."""
    known = sorted(known)
    near = nearest(name, known)
    if near:
        return did_you_mean(near)
    more = f", … ({len(known)} in all)" if len(known) > LISTED else ""
    return " Known: " + ", ".join(known[:LISTED]) + f"{more}." if known else ""


def did_you_mean(words: Iterable[str]) -> str:
    """Return ' Did you mean …?' with some words."""
    return " Did you mean " + " or ".join(shown(word) for word in words) + "?"


def foreign_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback that belong to rules: neither to the library, nor to NumPy, Numba or Python."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if _owner(frame) == _FOREIGN]


def fault_of(error: BaseException) -> str:
    """Return whose code raised an error, "game", "evaluator" or "agent", by which layer of the library had called it.

    It is "" if it was nobody's but the library's own.
    """
    frames = traceback.extract_tb(error.__traceback__)
    owners = [(owner, frame) for frame in frames if (owner := _owner(frame)) is not None]
    if not isinstance(error, SyntaxError):  # of which there are no frames: the code never ran
        if owners and _called(owners[-1][1]):
            return "evaluator"
        while owners and owners[-1][0] != _FOREIGN:
            owners.pop()
        if not owners:
            return ""
    caller = next((owner for owner, _ in reversed(owners) if owner != _FOREIGN), "")
    return {"evaluate": "evaluator", "play": "agent"}.get(caller, "game")


_PACKAGE = Path(__file__).parent
_FOREIGN = "foreign"


def _owner(frame: traceback.FrameSummary) -> str | None:
    """Return the layer of the library that a frame is in, or foreign; None if it is Python's or nobody's in particular.

    The games of the library are rules like any other. Who loads a file is not asked: the layer that wanted it is.
    """
    path = Path(frame.filename)
    if path.is_relative_to(_PACKAGE):
        inside = path.relative_to(_PACKAGE).parts
        return _FOREIGN if inside[0] == "games" else None if inside == ("game", "load.py") else inside[0]
    libraries = [Path(sysconfig.get_path("purelib"), name) for name in ("numpy", "numba", "llvmlite")]
    neutral = frame.filename.startswith("<frozen") or any(path.is_relative_to(library) for library in libraries)
    return None if neutral or path.parent == Path(sysconfig.get_path("stdlib")) else _FOREIGN


def _called(frame: traceback.FrameSummary) -> bool:
    """Whether a frame is where an evaluator's function is called, which leaves none if it is not one of Python."""
    path = Path(frame.filename)
    return path.parent == _PACKAGE / "evaluate" and (path.name, frame.name) in (
        ("batch.py", "evaluate"),
        ("network.py", "run"),
    )


def blame(error: BaseException) -> str:
    """Return 'file:line, in function' of the innermost frame of the rules, else of the innermost one at all."""
    frames = foreign_frames(error) or traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}, in {frames[-1].name}" if frames else "nowhere in Python"
