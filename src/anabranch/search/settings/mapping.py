"""Settings as plain data: a `SearchConfig` from a mapping, TOML, JSON or `key=value` texts, and back to a mapping.

All of it is read off the one declaration in `search/settings/config.py`; other settings declared like these, frozen
dataclasses made of such parts, are read the same way if one of them is given as `base`. A part is a table: `[selector]`
with the settings of its kind. Where a part may be of several kinds, `kind` names one of them; a bare word instead of a
table is a kind too:

    simultaneous = "RegretMatching"

    [selector]
    kind = "Puct"
    c_init = 2.0
    first_play = {kind = "constant", amount = 0.5}
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import json
import math
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints, overload

from anabranch.errors import DataError, UnknownNameError, UsageError, reason, shortened, shown
from anabranch.files import read_file
from anabranch.search.settings.bounds import DEEPEST, MOST_BYTES, check_json, statements
from anabranch.search.settings.config import FirstPlay, SearchConfig, no_word

Key: TypeAlias = tuple[str, ...]
Place: TypeAlias = Callable[[Key], str]  # says where a key was written, e.g. "search.toml:3"
Settings = TypeVar("Settings")

LARGEST = 10**300  # of a whole number
KIND = "kind"
NOTHING = "none"  # of a setting that may be left empty
PLAIN = (FirstPlay.auto(), FirstPlay.parent(), FirstPlay.reduced(0.2), FirstPlay.lowest())  # need no amount


@dataclasses.dataclass(frozen=True)
class Setting:
    """One thing that can be set: its dotted key, what it takes, its default, what it says, the part it belongs to."""

    key: str
    takes: str
    default: Any
    text: str
    part: str


@overload
def from_mapping(given: Mapping[str, Any], *, base: None = None, place: Place | None = None) -> SearchConfig: ...
@overload
def from_mapping(given: Mapping[str, Any], *, base: Settings, place: Place | None = None) -> Settings: ...
def from_mapping(given: Mapping[str, Any], *, base: Any = None, place: Place | None = None) -> Any:
    """Return the settings in plain data; what it leaves out is as in `base`, or the default.

    A key or a word nobody knows is an UnknownNameError with the nearest one; a value of the wrong type or out of range
    is a UsageError. Both name the key, and with `place` where it was written.
    """
    base = SearchConfig() if base is None else base
    return _part((type(base),), given, base, (), place or _nowhere)


@overload
def from_toml(path: str | os.PathLike[str], *, base: None = None) -> SearchConfig: ...
@overload
def from_toml(path: str | os.PathLike[str], *, base: Settings) -> Settings: ...
def from_toml(path: str | os.PathLike[str], *, base: Any = None) -> Any:
    """Return the settings in a TOML file; errors name the file and the line."""
    path = Path(path)
    data = read_file(path, MOST_BYTES)
    try:
        text = data.decode("utf-8")
        statements(text, str(path))
        given = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(f"{path}:{line}: not UTF-8: {error.reason}") from None
    except (ValueError, RecursionError) as error:  # also numbers with more digits than Python reads
        raise DataError(f"{path}: not TOML: {reason(error)}") from None
    return from_mapping(given, base=base, place=lambda key: f"{path}:{line_of(text, key)}")


@overload
def from_json(text: str | bytes, *, base: None = None) -> SearchConfig: ...
@overload
def from_json(text: str | bytes, *, base: Settings) -> Settings: ...
def from_json(text: str | bytes, *, base: Any = None) -> Any:
    """Return the settings in a JSON text."""
    try:
        check_json(text if isinstance(text, str) else text.decode("utf-8"), "settings")
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"settings that are not JSON: {reason(error)}") from None
    return from_mapping(given, base=base)


@overload
def from_pairs(pairs: Sequence[str], *, base: None = None, flag: str = "--set") -> SearchConfig: ...
@overload
def from_pairs(pairs: Sequence[str], *, base: Settings, flag: str = "--set") -> Settings: ...
def from_pairs(pairs: Sequence[str], *, base: Any = None, flag: str = "--set") -> Any:
    """Return the settings in texts like `selector.c_init=2.0`; a value is JSON, or else a word.

    A part as a whole is set by its kind, `selector=Ucb1`; its settings may be given before or after.
    """
    tree: dict[str, Any] = {}
    written: dict[Key, str] = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        key = tuple(name.strip().split("."))
        if not separator or not all(key):
            raise UsageError(f"{flag} {_shown(pair)} is not of the form key=value, e.g. {flag} selector.c_init=2.0")
        if len(key) > DEEPEST:
            raise UsageError(f"{flag} {_shown(pair)}: no setting has more than {DEEPEST} parts, e.g. selector.c_init")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text.strip()
        written[key] = f"{flag} {shortened(pair)}"
        _plant(tree, key, value, written[key])

    def place(key: Key) -> str:
        return next(
            (text for end in range(len(key), 0, -1) for known, text in written.items() if known[:end] == key[:end]), ""
        )

    return from_mapping(tree, base=base, place=place)


def to_mapping(config: Any) -> dict[str, Any]:
    """Return settings as plain data that `from_mapping` reads back; settings that are None are left out, as in TOML."""
    return _plain(config)


def known_settings(kind: type = SearchConfig) -> list[Setting]:
    """Return everything that can be set, of every kind of every part."""
    return list(_settings(kind, ()))


def line_of(text: str, key: Key) -> int:
    """Return the line of a TOML text on which a key, or the part of it that is there, is written.

    It is that of the first statement that a beginning of the text needs for TOML to find the key in it.
    """
    begins, whole = statements(text, "settings"), tomllib.loads(text)
    while key and not _has(whole, key):
        key = key[:-1]

    def written(count: int) -> bool:
        return count == len(begins) or _has(tomllib.loads(text[: begins[count]]), key)

    first = bisect.bisect_left(range(1, len(begins)), True, key=written)
    return text.count("\n", 0, begins[first]) + 1


# Reading


def _part(kinds: tuple[Any, ...], given: Any, base: Any, key: Key, place: Place) -> Any:
    """Return one part: of the kind it names, else of the base's kind; settings left out are the base's if it fits."""
    if isinstance(given, str) and (len(kinds) > 1 or kinds == (FirstPlay,)):
        given = {KIND: given}
    if not isinstance(given, Mapping):
        raise UsageError(_at(place, key) + f"{_dotted(key)} must be a table of settings, found {_shown(given)}")
    given = dict(given)
    if kinds == (FirstPlay,):
        return _first_play(given, base, key, place)
    kind: Any = type(base) if isinstance(base, kinds) else kinds[0] if len(kinds) == 1 else None
    if KIND in given:
        kind = _kind(kinds, given.pop(KIND), (*key, KIND), place)
    if kind is None:
        names = ", ".join(sorted(each.__name__ for each in kinds))
        raise UsageError(_at(place, key) + f"{_dotted(key)} needs a kind, one of: {names}")
    base = base if type(base) is kind else kind()
    hints, values = _hints(kind), {}
    for name, value in given.items():
        if name not in hints:
            _unknown(kind, name, hints, key, place)
        values[name] = _value(hints[name], value, getattr(base, name), (*key, name), place)
    return _made(functools.partial(dataclasses.replace, base), values, key, place)


def _first_play(given: dict[str, Any], base: FirstPlay, key: Key, place: Place) -> FirstPlay:
    """Return a FirstPlay: the base's kind if none is named, and the amount that kind is known by."""
    hints = _hints(FirstPlay)
    for name in given:
        if name not in hints:
            _unknown(FirstPlay, name, hints, key, place)
    kind = given.get(KIND, "reduced" if base.kind == "auto" and "amount" in given else base.kind)
    usual = [base, *PLAIN] if KIND not in given or kind == base.kind else PLAIN
    amount = given.get("amount", next((known.amount for known in usual if known.kind == kind), None))
    if amount is None and kind in get_args(hints[KIND]):
        raise UsageError(_at(place, key) + f"{_dotted(key)} of kind {kind!r} needs an amount, e.g. 0.2")
    values = {KIND: _value(hints[KIND], kind, None, (*key, KIND), place)}
    if amount is not None:
        values["amount"] = _value(hints["amount"], amount, None, (*key, "amount"), place)
    made = _made(FirstPlay, values, key, place)
    assert isinstance(made, FirstPlay)
    return made


def _kind(kinds: tuple[Any, ...], name: Any, key: Key, place: Place) -> Any:
    by_name = {kind.__name__.lower(): kind for kind in kinds}
    found = (
        by_name.get(name.lower().replace("_", "")) if isinstance(name, str) else None
    )  # regret_matching is meant too
    if found is None:
        parts = ((part, each) for part, hint in _hints(SearchConfig).items() for each in _kinds(hint))
        meant = [
            f"{_dotted((*key[:-2], part))}={name}" for part, each in parts if getattr(each, "__name__", "") == name
        ]
        known = [kind.__name__ for kind in kinds]
        raise UnknownNameError(_dotted(key), str(name), known, where=place(key), meant=meant)
    return found


def _value(hint: Any, value: Any, base: Any, key: Key, place: Place) -> Any:
    """Return a value as its setting takes it; other types are refused here, ranges by the part itself."""
    kinds = _kinds(hint)
    if value is None:
        if NoneType in kinds:
            return None
        raise UsageError(_at(place, key) + f"{_dotted(key)} cannot be left empty")
    optional = NoneType in kinds and str not in kinds
    if optional and isinstance(value, str) and value.lower() == NOTHING:  # TOML has no other word for it
        return None
    also = f", or {NOTHING}" if optional else ""
    parts = tuple(kind for kind in kinds if dataclasses.is_dataclass(kind))
    if parts:
        if NoneType in kinds and isinstance(value, str):  # what may be missing is there as soon as it is named
            value = {KIND: value}
        return _part(parts, value, base, key, place)
    if bool in kinds:
        if not isinstance(value, bool):
            raise UsageError(_at(place, key) + f"{_dotted(key)} must be true or false{also}, found {_shown(value)}")
    elif float in kinds:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _finite(value):
            raise UsageError(_at(place, key) + f"{_dotted(key)} must be a finite number{also}, found {_shown(value)}")
        return float(value)
    elif int in kinds:
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(_at(place, key) + f"{_dotted(key)} must be a whole number{also}, found {_shown(value)}")
        if abs(value) > LARGEST:
            raise UsageError(_at(place, key) + f"{_dotted(key)} is a number of more than 300 digits")
    elif str in kinds:
        if not isinstance(value, str):
            raise UsageError(_at(place, key) + f"{_dotted(key)} must be a text, found {_shown(value)}")
    elif not isinstance(value, str) or value not in get_args(hint):
        raise no_word(_dotted(key), value, get_args(hint), where=place(key))
    return value


def _made(make: Callable[..., Any], values: dict[str, Any], key: Key, place: Place) -> Any:
    """Make a part; what its own checks refuse gets the place of the setting they name."""
    try:
        return make(**values)
    except UnknownNameError:
        raise
    except UsageError as error:
        name = next((name for name in values if str(error).partition(" ")[0].endswith(name)), None)
        inner = (*key, name) if name else key
        raise UsageError(_at(place, inner) + (f"{_dotted(key)}: " if key else "") + str(error)) from None


def _unknown(kind: type, name: Any, hints: Mapping[str, Any], key: Key, place: Place) -> None:
    """Refuse a key: the nearest one here, or the place where exactly this key would be known."""
    known = [*hints, *([KIND] if len(_siblings(kind)) > 1 else [])]
    if not key:
        known = sorted({each.key for each in known_settings(kind) if each.key.endswith(f".{name}")}) or known
    what = f"setting of {_dotted(key)} ({kind.__name__})" if key else "setting"
    error = UnknownNameError(what, str(name), known, where=place((*key, str(name))))
    kinds: tuple[Any, ...] = _kinds(_hints(SearchConfig).get(key[-1], NoneType)) if key else ()
    others = [each.__name__ for each in kinds if kind in kinds and each is not NoneType and name in _hints(each)]
    if others:
        error.args = (f"{error} {_dotted(key)}={others[0]} has it.",)
    raise error


def _plant(tree: dict[str, Any], key: Key, value: Any, words: str) -> None:
    """Put a value under a dotted key of nested tables; a part set to a word keeps it as its kind."""
    for name in key[:-1]:
        below = tree.setdefault(name, {})
        if isinstance(below, str):
            below = tree[name] = {KIND: below}
        if not isinstance(below, dict):
            raise UsageError(f"{words}: {name} was set to {_shown(below)} before")
        tree = below
    below = tree.get(key[-1])
    if isinstance(below, dict) and isinstance(value, str):
        below[KIND] = value
    else:
        tree[key[-1]] = value


# Writing, and the list of all settings


def _plain(part: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    kind: Any = type(part)
    for name, hint in _hints(kind).items():
        value = getattr(part, name)
        if dataclasses.is_dataclass(value):
            several = sum(dataclasses.is_dataclass(kind) for kind in _kinds(hint)) > 1
            value = ({KIND: type(value).__name__} if several else {}) | _plain(value)
        if value is not None:
            plain[name] = value
    return plain


def _settings(part: type, key: Key) -> Iterable[Setting]:
    made = part()
    for name, hint in get_type_hints(part, include_extras=True).items():
        text = hint.__metadata__[0] if get_origin(hint) is Annotated else ""
        inner, default, kinds = (*key, name), getattr(made, name), _kinds(_hints(part)[name])
        parts = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
        takes = " or ".join(_takes(kind) for kind in kinds if kind is not NoneType)
        yield Setting(_dotted(inner), takes, None if parts else default, text, part.__name__)
        for kind in parts:
            assert isinstance(kind, type)
            yield from _settings(kind, inner)


def _takes(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(map(str, get_args(kind)))
    words: dict[Any, str] = {float: "number", int: "whole number", bool: "true or false", str: "text"}
    return words.get(kind) or kind.__name__


# Small things


@functools.cache
def _hints(part: Any) -> dict[str, Any]:
    return get_type_hints(part)


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if isinstance(hint, UnionType) else (hint,)


def _siblings(kind: type) -> set[Any]:
    """Return the kinds that may stand where this one does."""
    found = {kind}
    for hint in _hints(SearchConfig).values():
        kinds = set(_kinds(hint)) - {NoneType}
        found |= kinds if kind in kinds else set()
    return found


def _has(tree: Any, key: Key) -> bool:
    for name in key:
        if not isinstance(tree, Mapping) or name not in tree:
            return False
        tree = tree[name]
    return True


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def _nowhere(key: Key) -> str:
    return ""


def _at(place: Place, key: Key) -> str:
    where = place(key)
    return f"{where}: " if where else ""


def _dotted(key: Key) -> str:
    return ".".join(key) or "settings"


def _shown(value: Any) -> str:
    return shown(value, 60)
