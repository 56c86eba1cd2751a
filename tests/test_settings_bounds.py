"""Settings that are made to be slow, deep or large are refused before anything parses them."""

from __future__ import annotations

import json
import time
import tomllib

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as some

from anabranch.cli import BAD_DATA, main
from anabranch.errors import AnabranchError, DataError, UsageError
from anabranch.search.settings.bounds import DEEPEST, MOST_BYTES, MOST_KEYS, statements
from anabranch.search.settings.mapping import from_json, from_mapping, from_pairs, from_toml, line_of

PATIENCE = 10.0  # seconds; parsing took minutes of some of these, and takes well below one now

TEXTS = {
    "a dotted key": ".".join(["a"] * 200_000) + " = 1",
    "a dotted key within the size": ".".join(["a"] * 30_000) + " = 1",
    "a quoted dotted key": ".".join(['"a b"'] * 10_000) + " = 1",
    "a dotted key with blanks": " . ".join(["a"] * 15_000) + " = 1",
    "a dotted table": f"[{'.'.join(['a'] * 30_000)}]",
    "a dotted table of tables": f"[[{'.'.join(['a'] * 30_000)}]]",
    "dotted keys inside": "a = {" + ".".join(["a"] * 30_000) + " = 1}",
    "many dotted keys": "\n".join(".".join(f"k{i}_{j}" for j in range(8)) + "=1" for i in range(1_500)),
    "many keys": "\n".join(f"a{i}=1" for i in range(10_000)),
    "many tables": "\n".join(f"[a.b{i}]" for i in range(6_000)),
    "many keys inside": "a = {" + ",".join(f"a{i}=1" for i in range(8_000)) + "}",
    "lists in lists": "seed=" + "[" * 30_000,
    "tables in tables": "a=" + "{a=" * 20_000,
    "deep after a string": 'x = """a\n""" \n' + ".".join(["a"] * 20_000) + " = 1",
    "deep after a comment": '# """\n' + ".".join(["a"] * 20_000) + " = 1",
    "deep after an odd string": 'x = \'"""\'\n' + ".".join(["a"] * 20_000) + " = 1",
    "a megabyte": "#" * 1_000_000,
}
# As large as it may be, and wrong, so that the line is looked for.
LARGE = {
    "a value over many lines": "seed = [\n" + "1,\n" * 20_000 + "]",
    "a string over many lines": 'seed = """\n' + "\n" * 60_000 + '"""',
    "many keys": "\n".join(f"a{i}.b.c.d.e.f.g.h = 1" for i in range(MOST_KEYS)) + "\n",
    "many blank lines": "\n" * 65_000 + "sed = 1",
    "an open string": "seed = " + '"\\"' * 20_000,
    "many open strings": 'seed = """' + '""' * 30_000,
    "quotes": "seed = " + "'" * 65_000,
    "a large number": "seed = 0x" + "f" * 60_000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_made_to_be_slow_is_refused_at_once(text, tmp_path, capsys):
    path = tmp_path / "search.toml"
    path.write_text(text)
    began = time.perf_counter()
    with pytest.raises(DataError, match=r"search\.toml.*(deeper than 8 parts|more than 1,000 keys|at most 65,536)"):
        from_toml(path)
    assert main(["analyze", "tic_tac_toe", "--config", str(path)]) == BAD_DATA
    assert time.perf_counter() - began < PATIENCE
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_what_is_as_large_as_may_be_is_answered_soon(text, tmp_path):
    path = tmp_path / "search.toml"
    path.write_text(text)
    assert len(text) <= MOST_BYTES
    began = time.perf_counter()
    with pytest.raises(AnabranchError, match=r"search\.toml"):
        from_toml(path)
    assert time.perf_counter() - began < PATIENCE


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 20_000,
        "[" * 60_000,
        json.dumps({f"a{i}": 1 for i in range(MOST_KEYS + 1)}),
        " " * 70_000,
        '{"a": "' + "x" * 70_000 + '"}',
    ],
)
def test_json_has_the_same_bounds(text):
    for given_text in (text, text.encode()):
        with pytest.raises(DataError, match=r"deeper than 8|more than 1,000 keys|at most 65,536"):
            from_json(given_text)


def test_json_that_is_no_text_is_bad_data():
    with pytest.raises(DataError, match="not JSON"):
        from_json(b'{"seed": \xff}')


def test_flags_have_the_same_depth():
    began = time.perf_counter()
    with pytest.raises(UsageError, match="no setting has more than 8 parts"):
        from_pairs([".".join(["a"] * 200_000) + "=1"])
    assert time.perf_counter() - began < PATIENCE


@pytest.mark.parametrize("value", [10**5000, [[[]]] * 3, {"a": 10**5000}], ids=["a number", "lists", "a table"])
def test_a_value_that_cannot_be_shown_is_an_error_all_the_same(value):
    deep = value
    for _ in range(900):
        deep = [deep]
    for wrong in (value, deep):
        with pytest.raises(UsageError, match="seed"):
            from_mapping({"seed": wrong})


def test_a_long_name_is_not_repeated_in_full():
    with pytest.raises(UsageError) as caught:
        from_mapping({"x" * 100_000: 1})
    assert len(str(caught.value)) < 1000


def test_the_usual_is_far_within_the_bounds():
    text = (
        "# comments. with. dots. and. more. dots. and. more. dots. and. more\n"
        'seed = 3 # "quotes\nsimultaneous = "RegretMatching"\n'
        "[selector]\nkind = 'Puct'\nc_init = 2.0\nfirst_play = {kind = \"constant\", amount = 0.5}\n"
    )
    begins = statements(text, "x")
    assert [text[begin : begin + 4] for begin in begins] == ["# co", "seed", "simu", "[sel", "kind", "c_in", "firs", ""]
    assert line_of(text, ("selector", "first_play", "amount")) == 7
    assert line_of(text, ("selector", "c_init")) == 6
    assert line_of(text, ("seed",)) == 2


KEYS = some.sampled_from(["a", "b", '"c d"', "'e'", "a.b", "x . y", '"q\\"." . z'])
VALUES = some.recursive(
    some.sampled_from(
        ["1", "2.5", '"a.b=[{"', "'{[='", '"""a\n=[\n"""', "'''b\n{'\n'''", '"""\\""" x"""', "true", '""']
    ),
    lambda inner: (
        some.builds(lambda parts: f"[{', '.join(parts)}]", some.lists(inner, max_size=3))
        | some.builds(
            lambda parts: "[\n" + "".join(f"{part}, # ]\n" for part in parts) + "]", some.lists(inner, max_size=3)
        )
        | some.builds(lambda value: f"{{k = {value}}}".replace("\n", " ") if "'''" not in value else "1", inner)
    ),
    max_leaves=4,
)
LINES = some.one_of(
    some.builds(lambda key, value: f"{key} = {value}", KEYS, VALUES),
    some.builds(lambda key: f"[{key}]", KEYS),
    some.builds(lambda key: f"[[{key}]] # [", KEYS),
    some.sampled_from(["", '# a.b = [ { """', "  "]),
)


@given(some.lists(LINES, max_size=6))
@hypothesis.settings(deadline=None, derandomize=True, max_examples=500)
def test_statements_end_where_a_parser_is_content(lines):
    """Every beginning of a TOML text that ends with a statement is TOML itself."""
    text = "\n".join(lines)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        hypothesis.assume(False)
    begins = statements(text, "x")
    for begin in begins:
        tomllib.loads(text[:begin])
    assert len(begins) == len(lines) or not lines
    assert DEEPEST < 10
