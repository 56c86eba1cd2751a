"""Read flags into a command's dataclass; what cannot be read is a `UsageError` in plain words."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import tyro

from anabranch.errors import UnknownNameError, UsageError, shown, suggestion

Command = TypeVar("Command")
READERS: dict[Any, tuple[str, Callable[[str], Any]]] = {int: ("a whole number", int), float: ("a number", float)}
CONFIG = (tyro.conf.FlagCreatePairsOff, tyro.conf.DisallowNone)  # `--json` alone; no `--seconds None`


def parse(command: type[Command], name: str, arguments: Sequence[str]) -> Command | None:
    """Return the command with its flags, or None when only help was wanted."""
    _refuse_unknown(command, name, arguments)
    _refuse_values(command, arguments)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(command, prog=name, args=list(arguments), config=CONFIG)
    except SystemExit as stop:
        if not stop.code:
            return None
        raise UsageError(_reworded(_plain(said.getvalue()), command, name)) from None


@dataclasses.dataclass(frozen=True)
class _Argument:
    """What a command takes: a flag, or a word by its place; with its type, and what help calls and says of it."""

    flag: str  # "" if it goes by its place
    hint: Any
    metavar: str
    help: str
    required: bool


def flags_of(command: type) -> list[str]:
    """Return the flags of a command, with their dashes."""
    return [argument.flag for argument in _arguments(command) if argument.flag]


def _arguments(command: type) -> list[_Argument]:
    hints, plain = get_type_hints(command, include_extras=True), get_type_hints(command)
    fields: Any = command
    found = []
    for field in dataclasses.fields(fields):
        marks = _marks(hints[field.name])
        said = {
            key: next((getattr(mark, key) for mark in marks if getattr(mark, key, None)), "")
            for key in ("name", "metavar", "help")
        }
        flag = "" if tyro.conf.Positional in marks else "--" + (said["name"] or field.name).replace("_", "-")
        required = field.default is dataclasses.MISSING
        found.append(_Argument(flag, plain[field.name], said["metavar"], said["help"], required))
    return found


def _marks(hint: Any) -> list[Any]:
    """Return what a type is annotated with, at any depth: `Positional[int]` is an annotation inside."""
    if get_origin(hint) is not Annotated:
        return []
    inner, *marks = get_args(hint)
    return [*marks, *_marks(inner)]


def _refuse_unknown(command: type, name: str, arguments: Sequence[str]) -> None:
    """Name the nearest flag for one nobody knows, before anything else is complained about; abbreviations are none.

    A setting that was taken for a flag is answered with the flag that sets it.
    """
    known = flags_of(command)
    for at, word in enumerate(arguments):
        if word == "--":
            return
        flag, given, value = word.partition("=")
        if flag.startswith("--") and flag.replace("_", "-") not in known and flag != "--help":
            value = value if given else next(iter(arguments[at + 1 : at + 2]), "")
            raise UnknownNameError(f"flag of {name}", flag, known, meant=_settings_meant(command, flag, value))


def _settings_meant(command: type, flag: str, value: str) -> list[str]:
    """Return how the settings that a flag is called like are set, by commands that know settings."""
    settings: Callable[[], list[str]] = getattr(command, "setting_names", list)
    name = flag.removeprefix("--").replace("-", "_")
    value = "VALUE" if not value or value.startswith("--") else value
    keys = [key for key in settings() if key == name or key.endswith(f".{name}")]
    return [f"--set {key}={value}" for key in sorted(dict.fromkeys(keys), key=len)[:2]]


def _refuse_values(command: type, arguments: Sequence[str]) -> None:
    """Say in one line what a flag takes, if it was given nothing or something else."""
    flags = {argument.flag: argument for argument in _arguments(command) if argument.flag}
    for at, word in enumerate(arguments):
        if word in ("--", "--help", "-h"):
            return
        flag, given, value = word.partition("=")
        argument = flags.get(flag.replace("_", "-"))
        if argument is None or argument.hint is bool or argument.metavar.endswith("…"):  # any number of words, or none
            continue
        kinds = get_args(argument.hint) if get_origin(argument.hint) in (Union, UnionType) else (argument.hint,)
        what, read = next((words for kind, words in READERS.items() if kind in kinds), ("", str))
        if not given:
            value = arguments[at + 1] if at + 1 < len(arguments) else ""
            if at + 1 == len(arguments) or value.startswith("--"):
                raise UsageError(f"{flag} needs {what or argument.metavar or 'a value'} after it: {argument.help}")
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if choices and value not in choices:
            raise UnknownNameError(f"value of {flag}", value, choices)
        try:
            read(value)
        except ValueError:
            raise UsageError(f"{flag} must be {what}, found {value!r}") from None


def _reworded(said: str, command: type, name: str) -> str:
    """Return what the parser said, in plain words and with the usage line where it is about words by their place."""
    places = [argument for argument in _arguments(command) if not argument.flag]
    usage = f"usage: {' '.join([name, *(argument.metavar for argument in places)])} [OPTIONS]; {name} --help says more"
    lines = [line.strip() for line in said.splitlines()]
    if any(line.startswith("Missing from") for line in lines):
        missing = [argument for argument in places if argument.required and argument.metavar in lines]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            names = " and ".join(argument.metavar for argument in missing)
            told = f": {missing[0].help}" if len(missing) == 1 else ""
            return f"{names} {verb} missing{told}\n{usage}"
    wrong = re.search(r"invalid choice '(.*?)' for argument '\w+'. Expected one of \((.*?)\)", " ".join(lines))
    if wrong:
        known = re.findall(r"'(\w+)'", wrong[2])
        return f"unknown word {shown(wrong[1])}.{suggestion(wrong[1], known)}\n{usage}"
    for line in lines:
        if line.startswith("Unrecognized options: "):
            return f"{name} does not take {line.partition(': ')[2]!r}\n{usage}"
    return said


def _plain(box: str) -> str:
    """Return the words inside a drawn box, its title left out (the text says it again)."""
    lines = [line.strip("│| ") for line in box.splitlines() if not line.startswith(("╭", "╰"))]
    return "\n  ".join(line for line in lines if line.strip("─-+"))  # dashes where the terminal has no lines
