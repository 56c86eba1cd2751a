"""What may be asked and what is answered: requests as typed records, errors with a type, everything as one line."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec

from anabranch.cli import GAME
from anabranch.cli.failure import failure
from anabranch.errors import AnabranchError, GameError, UnknownNameError, UsageError, fault_of, reason

PROTOCOL = 1
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
LONGEST_ID = 200  # characters

Id: TypeAlias = str | int
Written: TypeAlias = str | int | list[str | int]


class MalformedError(UsageError):
    """A line that is no request: not JSON, not UTF-8, too long, nested too deeply, without an id."""


class DuplicateIdError(UsageError):
    """A request with the id of one that is still in flight."""


class BusyError(AnabranchError):
    """More requests are waiting than are kept; send it again when some were answered."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op"):
    """What every request has."""

    id: Id


class Position(Request, frozen=True, kw_only=True):
    """A game, where it begins, and the moves played in it."""

    game: str
    options: dict[str, Any] = {}
    interpreted: bool = False
    position: str | None = None
    moves: list[Written] = []
    seed: int | None = None


class State(Position, frozen=True, kw_only=True, tag="state"):
    """Whose turn it is, what can be played, the board."""


class Search(Position, frozen=True, kw_only=True, tag="search"):
    """A search, with a report every so many seconds if wanted."""

    simulations: int | None = None
    visits: int | None = None
    seconds: float | None = None
    evaluator: str = "rollout"
    config: dict[str, Any] = {}
    every: float | None = None


class Games(Request, frozen=True, kw_only=True, tag="games"):
    """The built-in games."""


class Cancel(Request, frozen=True, kw_only=True, tag="cancel"):
    """End another request early."""

    request: Id


class Ping(Request, frozen=True, kw_only=True, tag="ping"):
    """Whether anybody is there."""


class Quit(Request, frozen=True, kw_only=True, tag="quit"):
    """Cancel what is in flight and leave."""


OPERATIONS: dict[str, type[Request]] = {
    str(kind.__struct_config__.tag): kind for kind in (Search, State, Games, Cancel, Ping, Quit)
}


def read_line(line: bytes) -> dict[str, Any]:
    """Return the object in a line; a line that holds none, or one without an id, is a MalformedError."""
    try:
        given = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise MalformedError(f"not JSON: {reason(error)}") from None
    except RecursionError:
        raise MalformedError("nested too deeply") from None
    if not isinstance(given, dict):
        raise MalformedError(f"a request is an object, found {_kind(given)}")
    if "id" not in given:
        raise MalformedError('a request needs an id, e.g. {"id": 1, "op": "ping"}')
    known = given["id"]
    if isinstance(known, bool) or not isinstance(known, (str, int)):
        raise MalformedError(f"an id is a text or a whole number, found {_kind(known)}")
    if (len(known) > LONGEST_ID) if isinstance(known, str) else (abs(known) >= 2**63):
        raise MalformedError(f"an id is a text of at most {LONGEST_ID} characters or a whole number of 64 bits")
    return given


def read_request(given: dict[str, Any]) -> Request:
    """Return the request in an object; what is wrong with it is a UsageError that names it."""
    operation = given.get("op")
    if not isinstance(operation, str):
        raise UsageError(f"a request needs an op, one of: {', '.join(sorted(OPERATIONS))}")
    if operation not in OPERATIONS:
        raise UnknownNameError("op", operation[:LONGEST_ID], OPERATIONS)
    kind = OPERATIONS[operation]
    fields = [field.encode_name for field in msgspec.structs.fields(kind)]
    for name in given:
        if name not in fields and name != "op":
            raise UnknownNameError(f"field of {operation}", name[:LONGEST_ID], [*fields, "op"])
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise UsageError(_reworded(str(error), operation)) from None
    except RecursionError:
        raise UsageError("nested too deeply") from None


def described(error: BaseException) -> dict[str, Any]:
    """Return what went wrong as plain data; a fault of the library itself is raised again."""
    message, code = failure(error)
    others = {"evaluator": "EvaluatorError", "agent": "AgentError"}.get(fault_of(error), "GameError")
    others = others if code == GAME else "DataError"
    kind = type(error).__name__ if isinstance(error, AnabranchError) else others
    facts: dict[str, Any] = {"type": kind, "message": writable(message.removeprefix("error: "))}
    if isinstance(error, UnknownNameError):
        facts["nearest"] = None if error.nearest is None else writable(error.nearest)
    return facts


def write_line(answer: dict[str, Any]) -> bytes:
    """Return an answer as a line; a text in it that is no Unicode can only come from a game."""
    try:
        return msgspec.json.encode(answer) + b"\n"
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise GameError(
            f"a name or text of the game is no valid Unicode: {wrong!r} at place {error.start} of "
            f"{error.object[:LONGEST_ID]!r}; look at its action_name, outcome_name and text"
        ) from None


def writable(text: str) -> str:
    """Return a text that every line can hold: what is no Unicode is spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _reworded(said: str, operation: str) -> str:
    """Return what the reader of requests said, in plain words."""
    wrong = re.fullmatch(r"Expected `([^`]*)`, got `([^`]*)`(?: - at `\$\.?([^`]*)`)?", said)
    if wrong:
        wanted, found, place = wrong.groups()
        either = " or ".join(WORDS.get(word, word) for word in wanted.split(" | "))
        return f"{place or 'the request'} must be {either}, found {WORDS.get(found, found)}"
    missing = re.fullmatch(r"Object missing required field `([^`]*)`", said)
    if missing:
        return f"{operation} needs the field {missing[1]!r}"
    return said.replace("$.", "").replace("$", "the request").replace("`", "")


def _kind(value: Any) -> str:
    words = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return words.get(type(value), "a number")
