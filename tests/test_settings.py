"""Settings as plain data: they come back as they were, and whatever is wrong is named with its place."""

from __future__ import annotations

import dataclasses
import json
import math
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as some

import anabranch as ab
from anabranch.errors import DataError, UnknownNameError, UsageError
from anabranch.search.settings import mapping as settings
from anabranch.search.settings.config import FirstPlay

# What the parts themselves allow, beyond the types of their fields.
RANGES: dict[str, Any] = {
    "c_init": some.none() | some.floats(0, 100),
    "c_base": some.floats(0.001, 1e6),
    "c_off": some.floats(0, 1e6),
    "epsilon": some.floats(0, 10),
    "w0": some.floats(0, 10),
    "c": some.floats(0, 10),
    "considered": some.integers(1, 1000),
    "c_visit": some.floats(0, 1000),
    "c_scale": some.floats(0, 10),
    "Gumbel.noise": some.floats(0, 10),  # not the part of that name
    "exploration": some.floats(0.001, 1),
    "growth": some.floats(0, 10),
    "exact_up_to": some.integers(0, 100),
    "draws": some.integers(1, 100),
    "widen": some.none() | some.floats(0.001, 10),
    "widen_power": some.floats(0, 1),
    "widen_cap": some.none() | some.integers(1, 100),
    "offset": some.none() | some.floats(0, 1, exclude_max=True),
    "rho": some.floats(0.001, 10),
    "leak": some.floats(0, 1),
    "weight": some.floats(0, 1),
    "alpha": some.none() | some.floats(0.001, 10),
    "total": some.floats(0.001, 100),
    "k": some.floats(0, 10),
    "full": some.integers(1, 10_000),
    "fast": some.integers(1, 10_000),
    "PlayoutCap.chance": some.floats(0, 1),  # not the part of that name
    "width": some.integers(1, 65_536),
    "depth": some.integers(1, 16),
    "sweep_every": some.integers(1, 10**9),
    "max_nodes": some.none() | some.integers(1, 10**9),
    "max_bytes": some.none() | some.integers(65_536, 10**12),
    "seed": some.integers(-(2**70), 2**70),
}
PARTS: tuple[Any, ...] = (
    *(ab.SearchConfig, ab.Puct, ab.Ucb1, ab.Gumbel, ab.RegretMatching, ab.MatrixGame, ab.Exp3),
    *(ab.Chance, ab.Transposition, ab.VirtualLoss, ab.RootNoise, ab.ForcedPlayouts, ab.PlayoutCap),
)


def kinds(hint: Any) -> tuple[Any, ...]:
    return (hint,) if get_origin(hint) is Literal else get_args(hint) or (hint,)


def values(hint: Any) -> Any:
    """Return a strategy for everything a type takes."""
    plain = {float: some.floats(-1e9, 1e9), int: some.integers(), bool: some.booleans(), NoneType: some.none()}
    if get_origin(hint) is Literal:
        return some.sampled_from(get_args(hint))
    return some.one_of(*(plain[kind] if kind in plain else parts(kind) for kind in kinds(hint)))


def parts(kind: Any) -> Any:
    known = {name: f"{kind.__name__}.{name}" for name in get_type_hints(kind)}
    known = {name: own if own in RANGES else name for name, own in known.items()}
    ranges = {name: RANGES.get(known[name], values(hint)) for name, hint in get_type_hints(kind).items()}
    if kind is ab.Chance:  # dice rolled inside the transition have no other settings, and refuse them
        ranges["draw"] = some.sampled_from(("spread", "sampled"))
    return some.builds(kind, **ranges)


@given(parts(ab.SearchConfig))
@hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
def test_settings_come_back_as_they_were(config):
    """Law: from_mapping(to_mapping(c)) = c, also through JSON, also on top of other settings' defaults."""
    plain = settings.to_mapping(config)
    assert settings.from_mapping(plain) == config
    assert settings.from_json(json.dumps(plain)) == config


@given(parts(ab.SearchConfig))
@hypothesis.settings(max_examples=30, deadline=None, derandomize=True)
def test_settings_come_back_from_toml(tmp_path_factory, config):
    path = tmp_path_factory.mktemp("settings") / "search.toml"
    path.write_text(toml(settings.to_mapping(config)), encoding="utf-8")
    assert settings.from_toml(path) == config


def toml(plain: dict[str, Any], name: str = "") -> str:
    """Write nested tables as TOML: plain values first, then a section for each table."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in plain.items() if not isinstance(value, dict)]
    sections = [toml(value, f"{name}{key}.") for key, value in plain.items() if isinstance(value, dict)]
    head = [f"[{name[:-1]}]"] if name else []
    return "\n".join([*head, *lines, *sections]) + "\n"


@given(parts(ab.SearchConfig), parts(ab.SearchConfig))
@hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
def test_what_is_left_out_is_the_base_s(base, config):
    """Law: nothing changes nothing; everything changes everything but what is None."""
    assert settings.from_mapping({}, base=base) == base
    for name, value in settings.to_mapping(config).items():
        changed = settings.from_mapping({name: value}, base=base)
        expected = getattr(config, name)
        if dataclasses.is_dataclass(expected) and type(getattr(base, name)) is type(expected):
            hints = get_type_hints(type(expected))
            gone = {key: getattr(getattr(base, name), key) for key in hints if getattr(expected, key) is None}
            expected = dataclasses.replace(expected, **gone)  # type: ignore[type-var]
        assert getattr(changed, name) == expected
        assert dataclasses.replace(changed, **{name: getattr(base, name)}) == base


def test_every_optional_setting_is_none_by_default():
    """So what `to_mapping` leaves out comes back."""
    for kind in PARTS:
        for name, hint in get_type_hints(kind).items():
            assert NoneType not in kinds(hint) or getattr(kind(), name) is None


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (["selector.c_init=2"], ab.SearchConfig(selector=ab.Puct(c_init=2.0))),
        (["selector=Ucb1"], ab.SearchConfig(selector=ab.Ucb1())),
        (["selector=ucb1", "selector.c=0.5"], ab.SearchConfig(selector=ab.Ucb1(c=0.5))),
        (["selector.c=0.5", "selector=Ucb1"], ab.SearchConfig(selector=ab.Ucb1(c=0.5))),
        (["selector.c=0.5", "selector.kind=Ucb1"], ab.SearchConfig(selector=ab.Ucb1(c=0.5))),
        (["simultaneous=Exp3", "seed=5"], ab.SearchConfig(simultaneous=ab.Exp3(), seed=5)),
        (["simultaneous=Exp3", "simultaneous=null"], ab.SearchConfig()),
        (["selector.first_play=parent"], ab.SearchConfig(selector=ab.Puct(first_play=FirstPlay.parent()))),
        (["selector.first_play.amount=0.5"], ab.SearchConfig(selector=ab.Puct(first_play=FirstPlay.reduced(0.5)))),
        (["transposition.merge=false"], ab.SearchConfig(transposition=ab.Transposition(merge=False))),
        (["chance.draw=sampled"], ab.SearchConfig(chance=ab.Chance(draw="sampled"))),
        (["noise=RootNoise"], ab.SearchConfig(noise=ab.RootNoise())),
        (["noise=root_noise", "noise.weight=0.3"], ab.SearchConfig(noise=ab.RootNoise(weight=0.3))),
        (["noise.weight=0.3", "noise=RootNoise"], ab.SearchConfig(noise=ab.RootNoise(weight=0.3))),
        (["noise.weight=0.3"], ab.SearchConfig(noise=ab.RootNoise(weight=0.3))),
        (["forced.k=1", "forced=null"], ab.SearchConfig()),
        (["cap.full=80", "cap.fast=20"], ab.SearchConfig(cap=ab.PlayoutCap(full=80, fast=20))),
        (["width=16", "depth=2"], ab.SearchConfig(width=16, depth=2)),
        (["max_nodes=10", "max_nodes=20"], ab.SearchConfig(max_nodes=20)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_pairs_set_single_things(pairs, expected):
    assert settings.from_pairs(pairs) == expected


def test_pairs_change_a_base():
    base = ab.SearchConfig(selector=ab.Ucb1(c=3.0, w0=1.0), seed=4)
    assert settings.from_pairs(["selector.c=2"], base=base) == ab.SearchConfig(selector=ab.Ucb1(c=2.0, w0=1.0), seed=4)
    assert settings.from_pairs(["selector=Puct"], base=base) == ab.SearchConfig(seed=4)
    noisy = ab.SearchConfig(noise=ab.RootNoise(weight=0.5))
    assert settings.from_pairs(["noise=RootNoise"], base=noisy) == noisy
    assert settings.from_pairs(["noise=null"], base=noisy) == ab.SearchConfig()


WRONG: list[tuple[Any, str | None]] = [
    ({"selector": {"c_init": "2"}}, "selector.c_init must be a finite number, or none, found '2'"),
    ({"selector": {"c_init": math.nan}}, "selector.c_init must be a finite number, or none, found nan"),
    ({"selector": {"c_init": 10**400}}, "selector.c_init must be a finite number"),
    ({"selector": {"c_init": True}}, "selector.c_init must be a finite number, or none, found True"),
    ({"selector": {"w0": -1}}, "selector: w0 must be at least 0, found -1"),
    ({"selector": 5}, "selector must be a table of settings, found 5"),
    ({"selector": None}, "selector cannot be left empty"),
    ({"selector": {"kind": "Exp3"}}, "unknown selector.kind 'Exp3'"),
    ({"selector": "Pukt"}, "Did you mean 'Puct'?"),
    ({"selector": {"first_play": "constant"}}, "selector.first_play of kind 'constant' needs an amount"),
    ({"selector": {"first_play": 0.2}}, "selector.first_play must be a table"),
    ({"selector": {"first_play": {"kind": 3}}}, 'selector.first_play.kind must be "auto", "parent"'),
    ({"simultaneous": {"exploration": 0.1}}, "simultaneous needs a kind, one of: Exp3, Gumbel, MatrixGame, Puct"),
    ({"chance": {"draws": 1.5}}, "chance.draws must be a whole number, found 1.5"),
    ({"chance": {"kind": "Chance"}}, None),
    ({"chance": "Chance"}, "chance must be a table of settings, found 'Chance'"),
    ({"transposition": {"merge": "no"}}, "transposition.merge must be true or false, found 'no'"),
    ({"transposition": {"merge": 1}}, "transposition.merge must be true or false, found 1"),
    ({"virtual_loss": {"mode": "los"}}, "Did you mean 'loss'?"),
    ({"noise": "Rootnois"}, "Did you mean 'RootNoise'?"),
    ({"noise": {"weight": 2}}, "noise: weight must be in [0, 1], found 2"),
    ({"noise": 0.25}, "noise must be a table of settings, found 0.25"),
    ({"forced": {"kk": 2}}, "Did you mean 'k'?"),
    ({"cap": {"fast": 0}}, "cap: fast must be at least 1, found 0"),
    ({"width": 0}, "width must be at least 1 and at most 65,536, found 0"),
    ({"depth": 17}, "depth must be at least 1 and at most 16, found 17"),
    ({"seed": 1.0}, "seed must be a whole number, found 1.0"),
    ({"max_nodes": 0}, "max_nodes must be at least 1, found 0"),
    ({"c_init": 2.0}, "Did you mean 'selector.c_init' or 'simultaneous.c_init'?"),
    ({"Puct": {"c_init": 2.0}}, "unknown setting 'Puct'"),
    ([], "settings must be a table"),
]


@pytest.mark.parametrize(("plain", "words"), WRONG, ids=[str(words) for _, words in WRONG])
def test_wrong_values_are_named(plain, words):
    if words is None:  # to name the only kind there is says nothing new
        assert settings.from_mapping(plain) == ab.SearchConfig()
        return
    with pytest.raises(UsageError) as caught:
        settings.from_mapping(plain)
    assert words in str(caught.value)


TEXT = """# how to search
seed = 3
simultaneous = "MatrixGame"

[chance]
draw = "sampled"  # dice
widen = 2.0

[selector]
kind = "Puct"
scale = "node"
first_play = {kind = "constant", amount = 0.5}

[transposition]
rho = 2.0
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "words"),
    [
        ("seed = 3", "sed = 3", 2, "'seed'"),
        ("seed = 3", "seed = true", 2, "whole number"),
        ('"MatrixGame"', '"MatrixGme"', 3, "'MatrixGame'"),
        ("[chance]", "[chanc]", 5, "'chance'"),
        ('draw = "sampled"', 'draw = "sample"', 6, "'sampled'"),
        ("widen =", "widden =", 7, "'widen'"),
        ("widen = 2.0", "widen = -2.0", 7, "widen must be positive"),
        ('kind = "Puct"', 'kind = "Puk"', 10, "'Puct'"),
        ("amount", "ammount", 12, "'amount'"),
        ('"constant"', '"constnt"', 12, "'constant'"),
        ("rho = 2.0", "rho = [\n1,\n2]", 15, "rho must be a finite number"),
        ("rho = 2.0", "rho = 0", 15, "rho must be positive"),
    ],
)
def test_a_wrong_line_of_a_file_is_named(right, wrong, line, words, tmp_path):
    path = tmp_path / "search.toml"
    path.write_text(TEXT)
    assert settings.from_toml(path).selector == ab.Puct(scale="node", first_play=FirstPlay.constant(0.5))
    assert right in TEXT
    path.write_text(TEXT.replace(right, wrong))
    with pytest.raises(UsageError) as caught:
        settings.from_toml(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


def test_a_file_that_is_no_toml_is_bad_data(tmp_path):
    path = tmp_path / "search.toml"
    for data, words in (
        (b"seed = \n", "line 1"),
        (b"a = 1\nseed = '\xff'", ":2: not UTF-8"),
        (b"#" * 100_000, "at most 65,536 are read"),
        (b"a = " + b"[" * 50_000, "deeper than 8"),
    ):
        path.write_bytes(data)
        with pytest.raises(DataError) as caught:
            settings.from_toml(path)
        assert words in str(caught.value)
        assert str(path) in str(caught.value)
    with pytest.raises(UsageError, match=r"there is no file .*no\.toml"):
        settings.from_toml(tmp_path / "no.toml")


def test_every_setting_is_listed_and_can_be_set():
    """The list has every field of every part, and its default set again changes nothing."""
    listed = settings.known_settings()
    assert {setting.part for setting in listed} >= {"SearchConfig", "Puct", "Ucb1", "Exp3", "Chance", "FirstPlay"}
    for part in PARTS:
        names = {setting.key.rpartition(".")[2] for setting in listed if setting.part == part.__name__}
        assert names == {field.name for field in dataclasses.fields(part)}
    for setting in listed:
        if setting.default is not None and setting.part != "FirstPlay":
            above, dot, _ = setting.key.partition(".")
            optional = ("selector", "simultaneous", "noise", "forced", "cap")
            kind = [f"{above}={setting.part}"] if dot and above in optional else []
            pair = f"{setting.key}={json.dumps(setting.default)}"
            assert settings.from_pairs([*kind, pair]) == settings.from_pairs(kind)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("selector.considered=4", r"\(Puct\) 'considered'.* selector=Gumbel has it\.$"),
        ("selector=RegretMatching", r"'RegretMatching'\. Did you mean 'simultaneous=RegretMatching'\?$"),
    ],
)
def test_what_another_kind_or_part_takes_is_told(pair, said):
    with pytest.raises(UnknownNameError, match=said):
        settings.from_pairs([pair])


@pytest.mark.parametrize("pair", ["seed", "=3", "selector..c=1", ".seed=1"])
def test_a_pair_has_a_key_and_a_value(pair):
    with pytest.raises(UsageError, match=r"not of the form key=value"):
        settings.from_pairs([pair])


def test_a_wrong_pair_is_quoted():
    with pytest.raises(UnknownNameError, match=r"--set selector.cint=2: unknown setting of selector \(Puct\) 'cint'"):
        settings.from_pairs(["seed=1", "selector.cint=2"])
    with pytest.raises(UsageError, match=r"--set seed.x=2: seed was set to 1 before"):
        settings.from_pairs(["seed=1", "seed.x=2"])


@given(
    some.recursive(
        some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
        lambda inner: (
            some.lists(inner)
            | some.dictionaries(some.sampled_from(["selector", "kind", "c", "Puct", "chance", "seed", "x"]), inner)
        ),
    )
)
@hypothesis.settings(deadline=None, derandomize=True)
def test_whatever_is_given_is_settings_or_a_usage_error(plain):
    try:
        made = settings.from_mapping(plain)
    except UsageError:
        return
    assert isinstance(made, ab.SearchConfig)


def scales(game: ab.Game, evaluator: Any, **more: Any) -> list[str | None]:
    """Return the scales a search uses: where one chooses, and where several do if that is another one."""
    config: Any = ab.search(game.start(), simulations=2, evaluator=evaluator, **more).config
    return [getattr(selector, "scale", None) for selector in (config.selector, config.simultaneous)]


def test_the_scale_follows_from_who_pays_when_and_who_chooses():
    """Ends alone: the range; on the way: what was seen; by rollouts, where several choose: what the node has seen."""
    points = ab.games.load("goofspiel", cards=3, rewards="difference")
    assert points.has("bounds")
    assert scales(ab.games.load("goofspiel", cards=3, rewards="win"), ab.Rollout()) == ["range", None]
    assert scales(points, ab.Rollout()) == ["graph", "node"]
    assert scales(points, ab.Uniform()) == ["graph", None]
    kept = ab.SearchConfig(selector=ab.Puct(scale="range"))
    assert scales(points, ab.Rollout(), config=kept) == ["range", None]
    learnt = ab.SearchConfig(simultaneous=ab.RegretMatching())
    assert scales(points, ab.Rollout(), config=learnt) == ["graph", None]
