"""JSON lines: a thousand requests, right and wrong, each answered once; searches with what `ab.search` finds."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import hypothesis
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.sources import ROOT

import anabranch as ab
from anabranch import errors
from anabranch.cli.stdio.lines import LONGEST, lines
from anabranch.cli.stdio.protocol import OPERATIONS, read_line, read_request
from anabranch.cli.stdio.server import WAITING, Server
from anabranch.errors import UsageError
from anabranch.evaluate.load import load as load_evaluator
from anabranch.game.moves import play_moves
from anabranch.search.settings.mapping import from_mapping

PATIENCE = 60.0  # seconds until something hangs
COMMAND = [sys.executable, "-m", "anabranch", "analyze", "--stdio"]
ENDLESS = {"op": "search", "game": "tic_tac_toe", "seconds": 1e6}

# Wrong lines, and the type of the error they get; %d is an id where the line has one that can be read.
NO_REQUEST: list[bytes] = [
    b"junk",
    b"{",
    b"[]",
    b"3",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"id": 1, "op": "p\xff"}',
    b'{"id": NaN, "op": "ping"}',
    b'{"id": 1e999, "op": "ping"}',
    b"[" * 100_000,
    b'{"a": ' * 30_000,
    b'{"op": "ping"}',
    b'{"id": null, "op": "ping"}',
    b'{"id": true, "op": "ping"}',
    b'{"id": 1.5, "op": "ping"}',
    b'{"id": [1], "op": "ping"}',
    b'{"id": %s, "op": "ping"}' % (b"9" * 500),
    b'{"id": "%s", "op": "ping"}' % (b"x" * 201),
    b'{"id": 1, "op": "ping"} {"id": 2, "op": "ping"}',
    b" " * (LONGEST + 1),
    b"x" * 1_000_000,
]
WRONG: list[tuple[bytes, str]] = [
    (b'{"id": %d}', "UsageError"),
    (b'{"id": %d, "op": null}', "UsageError"),
    (b'{"id": %d, "op": "serch"}', "UnknownNameError"),
    (b'{"id": %d, "op": "ping", "pong": 1}', "UnknownNameError"),
    (b'{"id": %d, "op": "search"}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": 5, "simulations": 1}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_to", "simulations": 1}', "UnknownNameError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe"}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "seconds": 1}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": -1}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1.5}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": "1"}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1' + b"0" * 40 + b"}", "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "seconds": -1}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "seconds": 1e99, "every": 0}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulatons": 1}', "UnknownNameError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "moves": "a1"}', "UsageError"),
    (b'{"id": %d, "op": "state", "game": "tic_tac_toe", "position": "xx./.../..."}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "moves": ["z9"]}', "UnknownNameError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "moves": [0, 0]}', "IllegalActionError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "visits": 1, "moves": [99999999999]}', "IllegalActionError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "moves": [[]]}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "evaluator": "rolout"}', "UnknownNameError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "config": {"sed": 1}}', "UnknownNameError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "config": {"seed": "x"}}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "tic_tac_toe", "simulations": 1, "config": []}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "connect_four", "visits": 1, "options": {"row": 4}}', "UnknownNameError"),
    (b'{"id": %d, "op": "search", "game": "connect_four", "visits": 1, "options": {"rows": 1e300}}', "UsageError"),
    (b'{"id": %d, "op": "search", "game": "connect_four", "visits": 1, "options": {"name": 1}}', "UnknownNameError"),
    (b'{"id": %d, "op": "search", "game": "pig", "options": {"compiled": true}, "simulations": 1}', "UsageError"),
    (b'{"id": %d, "op": "state", "game": "no/such/file.py:Game"}', "UsageError"),
    (b'{"id": %d, "op": "state", "game": "no_such_module:Game"}', "UsageError"),
    (b'{"id": %d, "op": "state", "game": "json:loads"}', "UsageError"),
    (b'{"id": %d, "op": "state", "game": ""}', "UnknownNameError"),
    (b'{"id": %d, "op": "state", "game": "tic_tac_toe", "simulations": 1}', "UnknownNameError"),
    (b'{"id": %d, "op": "cancel"}', "UsageError"),
    (b'{"id": %d, "op": "cancel", "request": null}', "UsageError"),
]  # fmt: skip

POSITIONS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("tic_tac_toe", {}, []),
    ("tic_tac_toe", {}, ["b2", "a1"]),
    ("connect_four", {}, ["d", "d", 4]),
    ("connect_four", {"rows": 4, "columns": 5}, []),
    ("pig", {}, ["roll"]),
    ("goofspiel", {"cards": 4}, ["1,2"]),
    ("goofspiel", {"cards": 4}, [["1", 1]]),
    ("take_away", {"stones": 7}, []),
    ("matrix", {}, []),
    ("random_game", {"seed": 2}, []),
]
CONFIGS: list[dict[str, Any]] = [
    {},
    {"selector": {"kind": "Ucb1", "c": 1.0}},
    {"selector": {"c_init": 2.5}, "transposition": {"merge": False}},
    {"max_nodes": 5},
    {"simultaneous": "RegretMatching"},
]
EVALUATORS = ["rollout", "uniform", "hashing:seed=3", "rollout:count=2,max_depth=5"]


class Conversation:
    """A process that answers lines."""

    def __init__(self, *flags: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*COMMAND, *flags], stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)
        assert self.process.stdin
        assert self.process.stdout
        self.input, self.output = self.process.stdin, self.process.stdout

    def say(self, *requests: dict[str, Any] | bytes) -> None:
        for request in requests:
            self.input.write((request if isinstance(request, bytes) else json.dumps(request).encode()) + b"\n")
        self.input.flush()

    def hear(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.output.readline())
        return answer

    def end(self) -> tuple[list[dict[str, Any]], str, int]:
        """Close the input; return all that is still said, on both sides, and the exit code."""
        out, err = self.process.communicate(timeout=PATIENCE)
        assert out.endswith(b"\n") or not out
        return [json.loads(line) for line in out.splitlines()], err.decode(), self.process.returncode


def mixture(count: int) -> list[tuple[bytes, Callable[[dict[str, Any]], None] | str | None]]:
    """Return lines, each with a check of its answer, the type of its error, or None for no readable id at all."""
    draw = random.Random(4)
    made: list[tuple[bytes, Callable[[dict[str, Any]], None] | str | None]] = []
    for number in range(1, count + 1):
        kind = draw.choices(["search", "state", "ping", "cancel", "wrong", "no request"], [50, 8, 5, 5, 20, 12])[0]
        if kind == "no request":
            made.append((draw.choice(NO_REQUEST), None))
        elif kind == "wrong":
            line, error = draw.choice(WRONG)
            made.append((line.replace(b"%d", b"%d" % number), error))
        elif kind == "ping":
            made.append((b'{"id": %d, "op": "ping"}' % number, lambda result: check(result["protocol"] == 1)))
        elif kind == "cancel":
            line = b'{"id": %d, "op": "cancel", "request": "nobody"}' % number
            made.append((line, lambda result: check(result == {"found": False})))
        else:
            game, options, moves = draw.choice(POSITIONS)
            asked: dict[str, Any] = {"id": number, "op": kind, "game": game, "options": options, "moves": moves}
            asked["seed"] = draw.choice([0, 1, 2**63, -(2**80)])
            if kind == "search":
                asked["config"] = draw.choice(CONFIGS)
                slow = "simultaneous" in asked["config"]
                asked[draw.choice(["simulations", "visits"])] = draw.choice([0, 1, 20] if slow else [0, 1, 20, 300])
                asked["evaluator"] = draw.choice(EVALUATORS)
            made.append((json.dumps(asked).encode(), lambda result, asked=asked: compare(asked, result)))  # type: ignore[misc]
    return made


def check(condition: bool) -> None:
    assert condition


def compare(asked: dict[str, Any], found: dict[str, Any]) -> None:
    """Assert that an answer says what the library says here."""
    game = ab.games.load(asked["game"], **asked["options"])
    state = play_moves(game.start(asked["seed"]), asked["moves"])
    if asked["op"] == "state":
        assert found["text"] == str(state)
        assert (found["over"], found["chance"]) == (state.over, state.turn == ab.CHANCE)
        if isinstance(state.turn, tuple):
            assert found["acting"] == list(state.turn)
            assert found["legal"].keys() == set(map(str, state.turn))
            for seat in state.turn:
                assert [row["action"] for row in found["legal"][str(seat)]] == state.legal(seat)
        assert [row["outcome"] for row in found["outcomes"]] == [outcome for outcome, _ in state.outcomes()]
        return
    config = from_mapping({**asked["config"], "seed": asked["seed"]})
    budget = {name: asked[name] for name in ("simulations", "visits") if name in asked}
    result = ab.search(state, **budget, evaluator=load_evaluator(asked["evaluator"]), config=config)
    for seat, rows in found["players"].items():
        for row in rows:
            for name in ("visits", "policy", "prior"):
                assert row[name] == getattr(result, name)[int(seat), row["action"]], (asked, name)
    assert found["players"].keys() == (set(map(str, state.turn)) if isinstance(state.turn, tuple) else set())
    assert [row["visits"] for row in found["outcomes"]] == [visits for _, _, visits, _ in result.outcomes]
    assert found["value"] == result.value.tolist()
    assert (found["nodes"], found["simulations"]) == (result.nodes, result.simulations)
    assert [tuple(move) if isinstance(move, list) else move for move in found["line"]] == result.line
    assert play_moves(state, found["line_names"]) == play_moves(state, result.line)


@pytest.mark.hard
def test_a_thousand_mixed_requests_are_each_answered_once_and_rightly():
    """A search that never ends comes first: everything else is answered before it is cancelled."""
    asked = mixture(1000)
    talk = Conversation("--workers", "3")
    heard: list[dict[str, Any]] = []
    listener = threading.Thread(target=lambda: heard.extend(json.loads(line) for line in talk.output), daemon=True)
    listener.start()
    talk.say({"id": "endless", **ENDLESS}, {"id": "endless", "op": "ping"})
    talk.say(*(line for line, _ in asked))
    talk.say({"id": "cancel", "op": "cancel", "request": "endless"})
    talk.input.close()
    listener.join(PATIENCE)
    assert talk.process.wait(PATIENCE) == 0
    assert talk.process.stderr is not None
    assert "Traceback" not in talk.process.stderr.read().decode()
    talk.process.stderr.close()
    talk.output.close()

    assert all(answer["done"] for answer in heard)
    by_id = {answer["id"]: answer for answer in heard if answer["id"] is not None}
    by_line = {answer["line"]: answer for answer in heard if answer["id"] is None}
    assert len(by_id) + len(by_line) == len(heard) == 1000 + 3
    assert by_id.pop("endless")["cancelled"]
    assert by_id.pop("cancel")["result"] == {"found": True}
    assert by_line.pop(2)["error"]["type"] == "DuplicateIdError"
    for number, (_, wanted) in enumerate(asked, start=1):
        if wanted is None:
            assert by_line.pop(number + 2)["error"]["type"] == "MalformedError"
        elif isinstance(wanted, str):
            error = by_id.pop(number)["error"]
            assert error["type"] == wanted, error
            assert error["message"]
        else:
            wanted(by_id.pop(number)["result"])
    assert not by_id
    assert not by_line
    order = [answer["id"] for answer in heard if isinstance(answer["id"], int)]
    assert order != sorted(order)


def test_the_session_in_the_documentation_is_one():
    text = (ROOT / "docs" / "stdio.md").read_text(encoding="utf-8")
    requests, answers = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    talk = Conversation()
    talk.say(*(line.encode() for line in requests.splitlines()))
    found, _, code = talk.end()
    assert code == 0
    by_id = {answer["id"]: answer for answer in found}
    written = [json.loads(line) for line in answers.splitlines()]
    assert len(written) == len(found) == len(requests.splitlines())
    for answer in written:
        assert inside(answer, by_id[answer["id"]]), answer


def inside(part: Any, whole: Any) -> bool:
    """Whether something is the same as another thing but for keys that it leaves out."""
    if isinstance(part, dict):
        return all(key in whole and inside(value, whole[key]) for key, value in part.items())
    return bool(part == whole)


def test_the_documentation_has_every_operation_and_error():
    text = (ROOT / "docs" / "stdio.md").read_text(encoding="utf-8")
    rows = set(
        re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in text.splitlines() if line.startswith("|")))
    )
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    ours = {"MalformedError", "DuplicateIdError", "BusyError", "InternalError"}
    unheard = {
        "AnabranchError",
        "AccuracyError",
        "ModelError",
        "CheckFailedError",
        "AgentError",
        "OutputError",
        "UnknownArgumentError",
        "EvaluatorWarning",
    }  # of things that are not asked for here
    assert rows == {*OPERATIONS, *kinds, *ours} - unheard
    for operation in OPERATIONS.values():
        for field in msgspec.structs.fields(operation):
            assert f"`{field.name}`" in text or f'"{field.name}"' in text, field.name
    assert f"{LONGEST:,} bytes" in text
    assert f"{WAITING} requests" in text


def test_every_wrong_line_has_its_type():
    """The thousand above draw from these; here is every one of them."""
    heard: list[dict[str, Any]] = []
    server = Server(lambda line: heard.append(json.loads(line)), workers=1)
    for number, (line, _) in enumerate(WRONG):
        assert server.take(line.replace(b"%d", b"%d" % number), number)
    for number, line in enumerate(NO_REQUEST, start=len(WRONG)):
        assert server.take(None if len(line) > LONGEST else line, number)
    server.end()
    assert server.over.wait(PATIENCE)
    assert server.join(PATIENCE)
    found = {answer["line"] if answer["id"] is None else answer["id"]: answer["error"]["type"] for answer in heard}
    expected = dict(enumerate([error for _, error in WRONG] + ["MalformedError"] * len(NO_REQUEST)))
    assert found == expected


def test_partial_reports_grow_and_a_cancelled_search_tells_what_it_found():
    talk = Conversation()
    talk.say({"id": "a", **ENDLESS, "every": 0.01})
    counts = []
    for _ in range(3):
        answer = talk.hear()
        assert (answer["id"], answer["done"]) == ("a", False)
        counts.append(answer["result"]["simulations"])
    assert 0 < counts[0] < counts[1] < counts[2]
    talk.say({"id": "b", "op": "cancel", "request": "a"})
    rest, _, code = talk.end()
    assert code == 0
    last = {answer["id"]: answer for answer in rest if answer["done"]}
    assert last["b"]["result"] == {"found": True}
    assert last["a"]["cancelled"]
    assert last["a"]["result"]["simulations"] >= counts[-1]


def test_quit_cancels_what_is_in_flight():
    talk = Conversation("--workers", "1")
    talk.say({"id": 1, **ENDLESS}, {"id": 2, **ENDLESS}, {"id": 3, "op": "quit"}, {"id": 4, "op": "ping"})
    assert talk.process.wait(PATIENCE) == 0  # although the input is still open
    rest, err, _ = talk.end()
    assert {answer["id"]: answer.get("cancelled") for answer in rest} == {1: True, 2: True, 3: None}
    assert "Traceback" not in err


def test_a_reader_who_leaves_ends_it_quietly():
    talk = Conversation()
    talk.say({"id": 1, **ENDLESS, "every": 0.01})
    talk.hear()
    talk.output.close()
    assert talk.process.wait(PATIENCE) == 0
    assert talk.process.stderr is not None
    said = talk.process.stderr.read().decode()
    talk.process.stderr.close()
    talk.input.close()
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


def test_what_rules_and_evaluators_print_is_no_answer(tmp_path):
    (tmp_path / "loud.py").write_text(
        "import numpy as np\ndef evaluate(batch):\n    print('noise')\n    return None, np.zeros((len(batch), 2))\n"
    )
    talk = Conversation()
    request = {"id": 1, "op": "search", "game": "tic_tac_toe", "simulations": 5}
    talk.say({**request, "evaluator": f"{tmp_path / 'loud.py'}:evaluate"})
    answers, err, code = talk.end()
    assert (len(answers), code) == (1, 0)
    assert answers[0]["result"]["simulations"] == 5
    assert "noise" in err


def test_errors_in_rules_and_evaluators_are_theirs_and_the_others_go_on(tmp_path):
    (tmp_path / "bad.py").write_text(
        "import numpy as np\ndef evaluate(batch):\n    return 1 / 0\ndef nan(batch):\n"
        "    return None, np.full((len(batch), 2), np.nan)\ndef leave(batch):\n    raise SystemExit(3)\n"
    )
    request = {"op": "search", "game": "tic_tac_toe", "simulations": 5}
    heard: list[dict[str, Any]] = []
    server = Server(lambda line: heard.append(json.loads(line)), workers=1)
    for number, name in enumerate(["evaluate", "nan", "leave"]):
        asked = {"id": number, **request, "evaluator": f"{tmp_path / 'bad.py'}:{name}"}
        server.take(json.dumps(asked).encode(), number)
    server.take(json.dumps({"id": 3, **request}).encode(), 3)
    server.end()
    assert server.over.wait(PATIENCE)
    assert [answer.get("error", {}).get("type") for answer in heard] == [
        "EvaluatorError",
        "EvaluatorError",
        "EvaluatorError",
        None,
    ]
    assert "ZeroDivisionError" in heard[0]["error"]["message"]
    assert "bad.py:3" in heard[0]["error"]["message"]


def test_more_than_can_wait_is_busy_and_what_waits_can_be_cancelled():
    heard: list[dict[str, Any]] = []
    begun = threading.Event()

    def write(line: bytes) -> None:
        heard.append(json.loads(line))
        begun.set()

    server = Server(write, workers=1, waiting=1)
    assert server.take(json.dumps({"id": 1, **ENDLESS, "every": 0.001}).encode(), 1)
    assert begun.wait(PATIENCE)
    for number in (2, 3):
        assert server.take(json.dumps({"id": number, **ENDLESS}).encode(), number)
    assert server.take(b'{"id": 4, "op": "cancel", "request": 2}', 4)
    assert server.take(json.dumps({"id": 5, **ENDLESS}).encode(), 5)  # there is room again
    server.stop()
    assert server.over.wait(PATIENCE)
    assert server.join(PATIENCE)
    last = {answer["id"]: answer for answer in heard if answer["done"]}
    assert last[3]["error"]["type"] == "BusyError"
    assert (last[2]["cancelled"], last[2]["result"]) == (True, None)
    assert last[4]["result"] == {"found": True}
    assert last[1]["cancelled"]
    assert (last[5]["cancelled"], last[5]["result"]) == (True, None)
    assert sum(answer["done"] for answer in heard) == 5


def test_an_id_may_be_used_again_once_it_was_answered():
    talk = Conversation()
    for _ in range(3):
        talk.say({"id": 1, "op": "search", "game": "tic_tac_toe", "simulations": 3})
        assert talk.hear()["result"]["simulations"] == 3
    assert talk.end()[2] == 0


def test_a_fault_of_the_library_is_one_answer(monkeypatch, capsys):
    def broken(self, asked):
        raise AssertionError("an invariant")

    monkeypatch.setattr("anabranch.cli.stdio.work.Worker.look", broken)
    monkeypatch.setattr("anabranch.cli.failure.fault_of", lambda error: "")  # this file is none of the library's
    heard: list[dict[str, Any]] = []
    server = Server(lambda line: heard.append(json.loads(line)), workers=1)
    server.take(b'{"id": 1, "op": "state", "game": "pig"}', 1)
    server.take(b'{"id": 2, "op": "games"}', 2)
    server.end()
    assert server.over.wait(PATIENCE)
    assert heard[0]["error"]["type"] == "InternalError"
    assert [game["name"] for game in heard[1]["result"]] == ab.games.names()
    assert "an invariant" in capsys.readouterr().err


@given(some.binary(max_size=60), some.lists(some.integers(1, 7), min_size=1), some.integers(0, 12))
@hypothesis.settings(deadline=None, derandomize=True)
def test_lines_do_not_depend_on_how_the_bytes_come(data, sizes, longest):
    chunks: list[bytes] = []
    at = 0
    while at < len(data):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(data[at : at + size])
        at += size
    expected = data.split(b"\n") if not data.endswith(b"\n") else data[:-1].split(b"\n")
    source = iter([*chunks, b""])
    found = list(lines(lambda: next(source), longest))
    assert found == ([line if len(line) <= longest else None for line in expected] if data else [])


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
)
FIELDS = some.sampled_from(["id", "op", "game", "moves", "seed", "seconds", "config", "request", "x", "every"])


@given(
    some.binary()
    | some.builds(lambda given: json.dumps(given).encode(), JSON)
    | some.builds(
        lambda given, op: json.dumps({**given, "op": op}).encode(),
        some.dictionaries(FIELDS, JSON),
        some.sampled_from(sorted(OPERATIONS)),
    )
)
@hypothesis.settings(deadline=None, derandomize=True, max_examples=300)
def test_any_line_is_a_request_or_a_usage_error(line):
    try:
        request = read_request(read_line(line))
    except UsageError:
        return
    assert type(request) in OPERATIONS.values()


SURROGATE = """
import anabranch as ab

class Surr(ab.ObjectGame):
    def __init__(self, raises=False):
        self.players, self.actions, self.raises = 2, 2, raises
    def setup(self, random):
        if self.raises:
            raise ValueError("\\ud800y")
        return 0
    def turn(self, state):
        return ab.player(0) if state == 0 else ab.OVER
    def legal(self, state, player):
        return [0, 1]
    def step(self, state, actions):
        return 1, [0.0, 0.0]
    def action_name(self, action):
        return "\\ud800x"
"""


def test_text_that_is_no_unicode_is_the_games_error_and_the_end_comes(tmp_path):
    """Of names, in a search and its reports, and in what the rules raise; the others are answered, once each."""
    (tmp_path / "surr.py").write_text(SURROGATE)
    game = {"game": f"{tmp_path / 'surr.py'}:Surr"}
    talk = Conversation()
    talk.say({"id": 1, "op": "state", **game}, {"id": 2, "op": "search", "simulations": 3, **game})
    talk.say({"id": 3, "op": "state", "options": {"raises": True}, **game}, {"id": 4, "op": "ping"})
    answers, err, code = talk.end()
    assert code == 0
    assert "Traceback" not in err
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3, 4]
    wrong = {answer["id"]: answer["error"] for answer in answers if "error" in answer}
    assert {known: error["type"] for known, error in wrong.items()} == dict.fromkeys((1, 2, 3), "GameError")
    assert "\\ud800x" in wrong[1]["message"]
    assert "\\ud800y" in wrong[3]["message"]


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a shell of POSIX")
@pytest.mark.parametrize(
    ("closed", "code"), [("<&-", 0), (">&-", 3), ("2>&-", 0), ("<&- 2>&-", 0), ("<&- >&-", 3), ("<&- >&- 2>&-", 3)]
)
def test_closed_input_is_its_end_and_closed_output_an_error(closed, code):
    command = " ".join(map(shlex.quote, COMMAND))
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {command} {closed}"], input=b"", capture_output=True, timeout=PATIENCE, cwd=ROOT
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


def test_without_stderr_answers_are_still_alone_on_stdout():
    command = " ".join(map(shlex.quote, COMMAND))
    asked = b'{"id": 1, "op": "ping"}\n'
    done = subprocess.run(["/bin/sh", "-c", f"exec {command} 2>&-"], input=asked, capture_output=True, timeout=PATIENCE)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]


def test_ctrl_c_ends_it_although_nobody_reads_the_answers():
    talk = Conversation()
    talk.say(*({"id": number, "op": "games"} for number in range(900)))
    assert talk.process.stderr is not None
    talk.process.stderr.readline()  # it is serving
    while not full(talk.output.fileno()):
        time.sleep(0.05)
    talk.process.send_signal(signal.SIGINT)
    assert talk.process.wait(PATIENCE) == 130
    assert b"Traceback" not in talk.process.stderr.read()
    for pipe in (talk.output, talk.process.stderr):
        pipe.close()
    with contextlib.suppress(BrokenPipeError):
        talk.input.close()


def full(pipe: int, least: int = 32_768) -> bool:
    """Whether so many bytes wait in a pipe that those who write to it must be waiting too, or will soon be."""
    import fcntl
    import termios

    waiting = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(waiting, sys.byteorder) >= least
