"""The peers' figures as tables: text for the terminal, Markdown for documents that hold the marks.

Run as a script it writes latest.json's tables between the marks of README.md and docs/compare.md (`make readme`):

    <!-- peers:begin -->         everything              <!-- peers:end -->
    <!-- peers:begin brief -->   five questions, each with its fastest fair peer   <!-- peers:end -->
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script it starts one folder too deep

import measure

from peers.catalogue import PEERS
from peers.questions import TASKS, Question

LATEST = Path(__file__).with_name("latest.json")
ROOT = LATEST.parents[2]
DOCUMENTS = ("README.md", "docs/compare.md")
MARKS = re.compile(r"(<!-- peers:begin ?(brief)? ?-->\n).*?(<!-- peers:end -->)", re.DOTALL)

Line = dict[str, Any]  # an Outcome as JSON
BY_NAME = {peer.name: peer for peer in PEERS}
# The questions of the brief table, and what to bear in mind about each beside what its peer does differently.
BRIEF = {
    Question("trivial", "connect_four", "uniform", 800): "all peers that take an evaluator search in Python or JAX",
    Question("batch", "connect_four", "uniform", 200, 256): "with a real network both wait for the network",
    Question("rollout", "connect_four", "rollout", 10_000): (
        "its states also keep their history; ours wins and blocks in its rollouts, which costs a fifth of its rate"
    ),
    Question("rollout", "othello", "rollout", 10_000): "mostly a comparison of the two games' rules",
    Question("python", "tic_tac_toe", "rollout", 800): "rules as Python objects, which nobody compiles",
}


def question_of(line: Line) -> Question:
    """Return what was asked."""
    return Question(**{name: line[name] for name in ("task", "game", "evaluator", "simulations", "trees")})


def title_of(line: Line) -> str:
    """Return a peer's title."""
    peer = BY_NAME.get(line["peer"])
    return peer.title if peer else line["peer"]


def ratio_text(ratio: float) -> str:
    """Return a ratio as people read it: 0.87×, 12.3×, 1,234×."""
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×"


def text(lines: Sequence[Line]) -> str:
    """Return one table for the terminal: a line per question and peer."""
    rows = []
    for line in lines:
        note = f"{title_of(line)} {line['version'] or ''}".strip()
        if line["failure"]:
            note += f": {line['failure']}"
        elif line["ready"]:
            note += f", ready in {line['ready'][1]:.1f} s (ours {line['ready'][0]:.1f} s)"
        rows.append(measure.Row(str(question_of(line)), line["ours"], line["theirs"], line["ratio"], note=note))
    return measure.table(rows)


def differences(lines: Sequence[Line]) -> str:
    """Return what each peer in the lines does differently, one line each."""
    names = dict.fromkeys(line["peer"] for line in lines)
    return "\n".join(f"{BY_NAME[name].title}: {BY_NAME[name].note}" for name in names if name in BY_NAME)


def markdown(data: dict[str, Any]) -> str:
    """Return a section per task: a row per peer, a column per question, our rates on top."""
    parts = [_preface(data) + " It stands under *ready in*."]
    for task, heading in TASKS.items():
        lines = [line for line in data["rows"] if line["task"] == task]
        if lines:
            parts.append(f"**{heading}**\n\n{_task_table(lines)}")
            parts.extend(_reasons(lines))
    return "\n\n".join(parts) + "\n"


def brief(data: dict[str, Any]) -> str:
    """Return one table: our rate on a few questions beside that of the fastest fair peer, and what to bear in mind."""
    body = [["search", "anabranch", "fastest fair peer", "its rate", "ratio", "bear in mind"]]
    for question, caveat in BRIEF.items():
        lines = [line for line in data["rows"] if question_of(line) == question]
        fair = [line for line in lines if line["ratio"] is not None and BY_NAME[line["peer"]].fair]
        if fair:
            best = max(fair, key=lambda line: line["theirs"])
            peer = BY_NAME[best["peer"]]
            ours, theirs = _our_rate(lines, question, best["like"]), measure.figure(best["theirs"])
            title = f"{peer.title} ({best['version']})"
            body.append([str(question), ours, title, theirs, ratio_text(best["ratio"]), f"{peer.note}; {caveat}"])
    return f"{_preface(data)}\n\n{_grid(body, left={0, 2, 5})}\n"


def _our_rate(lines: Sequence[Line], question: Question, like: str) -> str:
    """Return the median of our rates on a question beside all peers with that selector, empty if there is none."""
    mine = [line["ours"] for line in lines if question_of(line) == question and line["like"] == like]
    mine = [rate for rate in mine if rate is not None]
    return measure.figure(statistics.median(mine)) if mine else ""


def _preface(data: dict[str, Any]) -> str:
    machine = data["machine"]
    first, last = data["load"]
    return (
        f"`make bench-peers` measures these: {machine['processor']}, one core, Python {machine['python']}, commit "
        f"{machine['commit']}, load average {first} before and {last} after. Simulations per second, ours the median "
        "over all peers with the same rule of selection; a ratio is ours over theirs, the median of rounds in which "
        "both were called in turn, each in its own process. What comes before the second search (imports, compilation, "
        "the first search) is not in the rates."
    )


def _task_table(lines: Sequence[Line]) -> str:
    questions = list(dict.fromkeys(map(question_of, lines)))
    head = ["", *(_column(question) for question in questions), "ready in", "what it does differently"]
    body = [head]
    for like in ("PUCT", "UCT"):
        rates = [_our_rate(lines, question, like) for question in questions]
        if any(rates):
            ready = _ready([line for line in lines if line["like"] == like], 0)
            body.append([f"**anabranch {like}**", *rates, ready, _sharing(lines, questions, like)])
    for name in dict.fromkeys(line["peer"] for line in lines):
        found = {question_of(line): line for line in lines if line["peer"] == name}
        if all(line["failure"] for line in found.values()):
            continue  # its reason stands below
        version = next(line["version"] for line in found.values() if line["version"])
        cells = [_cell(found.get(question)) for question in questions]
        peer = BY_NAME.get(name)
        ready = _ready(list(found.values()), 1)
        body.append([f"{title_of({'peer': name})} {version}", *cells, ready, peer.note if peer else ""])
    return _grid(body, left={0, len(head) - 1})


def _sharing(lines: Sequence[Line], questions: Sequence[Question], like: str) -> str:
    """Return what sharing saves us: where lines meet or end, a simulation evaluates no new position."""
    saved = []
    for question in questions:
        mine = [line for line in lines if question_of(line) == question and line["like"] == like]
        evaluated = next((line["evaluated"] for line in mine if line.get("evaluated")), None)
        if evaluated is not None and evaluated < 0.9 * question.units:
            saved.append(f"{_column(question)}: {evaluated:,.0f}")
    words = "equal positions are one node"
    return f"{words}, evaluated once (nodes of a search, {'; '.join(saved)})" if saved else words


def _ready(lines: Sequence[Line], whose: int) -> str:
    """Return the median of the seconds until the first answer, ours (0) or theirs (1)."""
    found = [line["ready"][whose] for line in lines if line["ready"]]
    return f"{statistics.median(found):.1f} s" if found else ""


def _reasons(lines: Sequence[Line]) -> list[str]:
    """Return why cells are empty, one item per peer and reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if line["failure"]:
            reasons.setdefault((title_of(line), line["failure"]), []).append(_column(question_of(line)))
    every = len({question_of(line) for line in lines})
    items = []
    for (title, failure), columns in reasons.items():
        where = "" if len(columns) == every else f" ({'; '.join(columns)})"
        items.append(f"- {title}{where}: {failure}".replace("|", "\\|"))
    return ["\n".join(items)] if items else []


def _column(question: Question) -> str:
    game = question.game.replace("_", " ")
    return f"{game}, {question.evaluator}" if question.task == "python" else f"{game} {question.simulations:,}"


def _cell(line: Line | None) -> str:
    if line is None or line["ratio"] is None:
        return "–"
    return f"{measure.figure(line['theirs'])} ({ratio_text(line['ratio'])})"


def _grid(body: Sequence[Sequence[str]], left: set[int]) -> str:
    rule = ["---" if column in left else "---:" for column in range(len(body[0]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (body[0], rule, *body[1:]))


def fill(document: str, data: dict[str, Any]) -> str:
    """Return a document with the tables between its marks written anew."""

    def tables(found: re.Match[str]) -> str:
        return found[1] + "\n" + (brief if found[2] else markdown)(data) + "\n" + found[3]

    return MARKS.sub(tables, document)


def main() -> None:
    """Write the tables into the documents that hold the marks."""
    data = json.loads(LATEST.read_text(encoding="utf-8"))
    for name in DOCUMENTS:
        path = ROOT / name
        if path.exists():
            path.write_text(fill(path.read_text(encoding="utf-8"), data), encoding="utf-8")


if __name__ == "__main__":
    main()
