"""Every flag, every setting and every field, misspelt once: the error names the right one, and the exit code is 2."""

from __future__ import annotations

import importlib
import json
from typing import Any

import msgspec
import pytest

from anabranch.cli import COMMANDS, USAGE, main
from anabranch.cli.parse import flags_of
from anabranch.cli.stdio.protocol import OPERATIONS, read_request
from anabranch.errors import UnknownNameError, UsageError
from anabranch.search.settings.mapping import Setting, from_mapping, from_pairs, from_toml, known_settings


def slips(word: str, others: set[str]) -> list[str]:
    """Return a word with a letter doubled, with two swapped, with one missing; none that is itself a word."""
    middle = len(word) // 2
    made = [
        word[:middle] + word[middle] + word[middle:],
        word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :] if middle else word,
        word[:middle] + word[middle + 1 :],
    ]
    return [slip for slip in dict.fromkeys(made) if slip and slip not in others and slip != word]


def flags() -> list[tuple[str, str]]:
    commands = {name: importlib.import_module(f"anabranch.cli.{name}").Command for name in COMMANDS}
    return [(name, flag) for name, command in commands.items() for flag in flags_of(command)]


@pytest.mark.parametrize(("command", "flag"), flags())
def test_a_misspelt_flag_is_named(command, flag, capsys):
    known = {flag for name, flag in flags() if name == command} | {"--help"}
    for slip in slips(flag.removeprefix("--"), {name.removeprefix("--") for name in known}):
        for words in ([f"--{slip}"], [f"--{slip}=1"], [f"--{slip}", "1"], ["tic_tac_toe", f"--{slip}"]):
            assert main([command, *words]) == USAGE
            said = capsys.readouterr()
            assert f"'--{slip}'. Did you mean '{flag}'" in said.err
            assert not said.out


@pytest.mark.parametrize(("command", "flag"), flags())
def test_an_abbreviated_flag_is_no_flag(command, flag, capsys):
    """Neither for itself nor, worse, for another one that begins alike."""
    known = {flag for name, flag in flags() if name == command} | {"--help"}
    for end in range(3, len(flag)):
        if flag[:end] not in known:
            assert main([command, flag[:end]]) == USAGE
            assert f"{flag[:end]!r}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["analyze", "train", "fork"])
def test_a_setting_is_no_flag_but_there_is_one_that_sets_it(command, capsys):
    kind = importlib.import_module(f"anabranch.cli.{command}").Command
    known = flags_of(kind)
    for key in kind.setting_names():
        flag = "--" + key.rpartition(".")[2].replace("_", "-")
        if flag not in known:
            assert main([command, "a", flag, "3"]) == USAGE
            said = capsys.readouterr().err
            assert said.startswith(f"error: unknown flag of anabranch {command} '{flag}'. Did you mean '--set "), said
            assert f"{key.rpartition('.')[2]}=3'" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--proofs", "on"], "unknown flag of anabranch analyze '--proofs'. Did you mean '--set proofs=on'?"),
        (["--proofs=off"], "unknown flag of anabranch analyze '--proofs'. Did you mean '--set proofs=off'?"),
        (["--proofs"], "unknown flag of anabranch analyze '--proofs'. Did you mean '--set proofs=VALUE'?"),
        (["--set", "proofs=true"], '--set proofs=true: proofs must be "auto", "on" or "off", found True'),
        (
            ["--set", "selector.ties=1"],
            '--set selector.ties=1: selector.ties must be "auto", "first" or "random", found 1',
        ),
    ],
)
def test_how_proofs_are_asked_for_is_told(words, said, capsys):
    assert main(["analyze", "tic_tac_toe", *words]) == USAGE
    assert capsys.readouterr().err == f"error: {said}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["analyze", "tic_tac_toe", "--simulations", "1e4"], "--simulations must be a whole number, found '1e4'"),
        (["analyze", "tic_tac_toe", "--simulations=abc"], "--simulations must be a whole number, found 'abc'"),
        (["analyze", "tic_tac_toe", "--seconds", "soon"], "--seconds must be a number, found 'soon'"),
        (["match", "pig", "random", "random", "--games", "2.5"], "--games must be a whole number, found '2.5'"),
        (["train", "pig", "--method", "muzer"], "unknown value of --method 'muzer'. Did you mean 'muzero'?"),
        (["perft", "pig", "--depth"], "--depth needs a whole number after it: how many moves"),
        (["analyze", "pig", "--save", "--json"], "--save needs FILE after it: keep all that was found in a file"),
    ],
)
def test_a_wrong_value_is_one_line(words, said, capsys):
    assert main(words) == USAGE
    assert capsys.readouterr().err == f"error: {said}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["match", "pig", "random"], "B is missing: another agent"),
        (["match"], "GAME and A and B are missing"),
        (["perft", "pig", "5"], "anabranch perft does not take '5'"),
        (["oracle", "slove", "pig"], "unknown word 'slove'. Did you mean 'solve'?"),
    ],
)
def test_words_too_few_and_too_many_are_told_with_the_usage(words, said, capsys):
    assert main(words) == USAGE
    err = capsys.readouterr().err
    assert err.count("\n") == 2, err
    first, second = err.splitlines()
    assert first == f"error: {said}"
    place = "solve|query " if words[0] == "oracle" else ""
    assert second.startswith(f"usage: anabranch {words[0]} {place}GAME")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"simulations": "x"}, "simulations must be a whole number or null, found a text"),
        ({"moves": [{}]}, "moves[0] must be a whole number or a text or a list, found an object"),
        ({"game": 1}, "game must be a text, found a whole number"),
    ],
)
def test_a_wrong_value_in_a_request_is_told_in_plain_words(fields, said):
    with pytest.raises(UsageError) as caught:
        read_request({"id": 1, "op": "search", "game": "pig", **fields})
    assert str(caught.value) == said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelt_command_is_named(command, capsys):
    for slip in slips(command, set(COMMANDS)):
        assert main([slip]) == USAGE
        assert f"'{slip}'. Did you mean '{command}'" in capsys.readouterr().err


@pytest.mark.parametrize("setting", known_settings(), ids=lambda s: f"{s.part}.{s.key}")
def test_a_misspelt_setting_is_named_everywhere(setting: Setting, tmp_path, capsys):
    """In a mapping, in TOML with its line, in --set, in --config, and in a search over JSON lines."""
    above, dot, name = setting.key.rpartition(".")
    siblings = {s.key.rpartition(".")[2] for s in known_settings() if s.part == setting.part} | {"kind"}
    for slip in slips(name, siblings)[::2]:
        pair = [f"{above}{dot}{slip}=1"]
        kinds = kinds_of(setting)
        plain = nested(above, slip)
        for key, kind in kinds.items():
            pair.append(f"{key}={kind}")
            part = plain
            for step in key.split("."):
                part = part[step]
            part["kind"] = kind
        path = tmp_path / "search.toml"
        lines = [f"{key}.kind = {json.dumps(kind)}" for key, kind in kinds.items()]
        path.write_text("\n".join([*lines, f"{above}{dot}{slip} = 1"]))
        wanted = f"{slip!r}. Did you mean {name!r}"
        with pytest.raises(UnknownNameError) as caught:
            from_mapping(plain)
        assert wanted in str(caught.value)
        assert caught.value.nearest == name
        with pytest.raises(UnknownNameError) as caught:
            from_pairs(pair)
        assert str(caught.value).startswith(f"--set {pair[0]}: ")
        assert wanted in str(caught.value)
        with pytest.raises(UnknownNameError) as caught:
            from_toml(path)
        assert str(caught.value).startswith(f"{path}:{len(lines) + 1}: ")
        assert wanted in str(caught.value)
    words = ["analyze", "tic_tac_toe", "--simulations", "1"]  # the last slip, through the command line
    assert main([*words, *(word for each in pair for word in ("--set", each))]) == USAGE
    assert wanted in capsys.readouterr().err
    assert main([*words, "--config", str(path)]) == USAGE
    assert f"{path}:{len(lines) + 1}: " in capsys.readouterr().err


def kinds_of(setting: Setting) -> dict[str, str]:
    """Return the kinds of part that must be named for a setting to be there."""
    above = setting.key.rpartition(".")[0]
    if setting.part == "FirstPlay":
        return {above.partition(".")[0]: "Puct"}
    return {above: setting.part} if above in ("selector", "simultaneous") else {}


def nested(above: str, name: str) -> dict[str, Any]:
    """Return tables inside each other with one setting in the innermost."""
    plain: dict[str, Any] = {name: 1}
    for step in reversed(above.split(".") if above else []):
        plain = {step: plain}
    return plain


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_misspelt_field_of_a_request_is_named(operation):
    for slip in slips(operation, set(OPERATIONS)):
        with pytest.raises(UnknownNameError) as caught:
            read_request({"id": 1, "op": slip})
        assert caught.value.nearest == operation
    fields = {field.name for field in msgspec.structs.fields(OPERATIONS[operation])} | {"op"}
    for name in fields - {"id", "op"}:  # without them there is no request at all
        for slip in slips(name, fields):
            with pytest.raises(UnknownNameError) as caught:
                read_request({"id": 1, "op": operation, slip: 1})
            assert caught.value.nearest == name
