"""A run as one page: figures, charts and ratings, with nothing to fetch; and the charts alone, as pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch.draw.chart import Series, chart
from anabranch.draw.picture import Picture
from anabranch.draw.svg import clean
from anabranch.files import make_folder, replace_file
from anabranch.learn.imagination import WORDS
from anabranch.learn.rating import Table
from anabranch.learn.statistics import Statistics, imagined, other_losses

IDLE = (("learner", "learner"), ("self-play", "self_play"))
STYLE = (
    "body{font:15px system-ui,sans-serif;max-width:1120px;margin:2em auto;padding:0 1em;color:#1f2933;background:#fff}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;border-bottom:1px solid #cbd2d9;"
    "text-align:right}td:first-child,th:first-child{text-align:left}div{display:flex;flex-wrap:wrap;gap:12px}"
)


def charts(found: Statistics, rated: Table | None) -> dict[str, Picture]:
    """Return the charts of a run by name."""
    course = found.course
    minutes = [row["seconds"] / 60.0 for row in course]

    def line(name: str, *keys: str, scale: float = 1.0) -> Series:
        points = []
        for x, row in zip(minutes, course, strict=True):
            value: Any = row
            for key in keys:
                value = None if value is None else value.get(key)
            if value is not None:
                points.append((x, scale * value))
        return Series(name, points)

    losses = [line(name, "losses", name) for name in ("policy", "value")]
    losses += [line(name, "losses", "more", name) for name in other_losses(course)]
    made = {
        "losses": chart("losses", "minutes", losses),
        "games": chart(
            "what there is to learn from", "minutes", [line("positions", "positions"), line("in the window", "window")]
        ),
    }
    if any("idle" in row for row in course):
        shares = [line("batches full", "fill", scale=100)]
        shares += [line(f"{name} idle", "idle", key, scale=100) for name, key in IDLE]
        made["shares"] = chart("shares of batches and of the time, %", "minutes", shares)
    if any(row["score"] for row in course):
        best = [line("policy alone", "score", "policy", scale=100), line("searched", "score", "search", scale=100)]
        made["best_moves"] = chart("best moves on frozen positions, %", "minutes", best)
    made |= _imagined(minutes, course)
    if rated is not None:
        made["ratings"] = chart("rating, 95 % intervals", "model", [_ratings(rated), *_anchors(rated)])
    return made


def _imagined(minutes: Sequence[float], course: Sequence[dict[str, Any]]) -> dict[str, Picture]:
    """Return a chart for each error of a learned model, with a line for every number of imagined steps."""
    told = [(x, row["model"]) for x, row in zip(minutes, course, strict=True) if row.get("model")]
    if not told:
        return {}
    made = {}
    for name, words in WORDS.items():
        lines = []
        for step in range(len(told[0][1][name])):
            points = [(x, errors[name][step]) for x, errors in told if errors[name][step] is not None]
            lines.append(Series(f"{step + 1} imagined", points))
        made[f"model_{name}"] = chart(words, "minutes", lines)
    return made


def _ratings(rated: Table) -> Series:
    models = sorted(
        (int(each.agent.split()[1]), each.rating, each.error) for each in rated.rated if each.agent.startswith("model ")
    )
    return Series("models", [(x, y) for x, y, _ in models], [reach for _, _, reach in models])


def _anchors(rated: Table) -> list[Series]:
    """Return a level line for everybody who is no model."""
    models = [int(each.agent.split()[1]) for each in rated.rated if each.agent.startswith("model ")]
    ends = (min(models), max(models)) if models else (0, 1)
    others = [each for each in rated.rated if not each.agent.startswith("model ")]
    return [Series(each.agent, [(float(x), each.rating) for x in ends]) for each in others]


def html(found: Statistics, rated: Table | None) -> str:
    """Return the page of a run."""
    figures = [
        ("games", f"{found.games:,}"),
        ("positions to learn from", f"{found.positions:,}"),
        ("steps", f"{found.steps:,}"),
        ("minutes", f"{found.minutes:.1f}"),
        ("decisions of a game", f"{found.mean_length:.1f}"),
        ("mean return of each seat", ", ".join(f"{value:+.3f}" for value in found.mean_returns)),
        ("newest games that are repeated", f"{found.repeated:.1%}"),
        ("entropy of recorded policies", f"{found.entropy:.2f} nats"),
        ("values off by", f"{found.calibration:.3f}"),
    ]
    parts = [f"<h1>{clean(found.game)}: a training run</h1>", _table(("", ""), figures)]
    parts.append("<div>" + "".join(picture.svg for picture in charts(found, rated).values()) + "</div>")
    if (errors := imagined(found.course)) is not None:
        parts += ["<h2>The model on games it has not learnt from</h2>", _table(*errors)]
    if rated is not None:
        parts += ["<h2>Ratings</h2>", _table(*rated.rows())]
    parts += ["<h2>Checkpoints</h2>", _table(*found.rows())]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{clean(found.game)}</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n"
    )


def _table(columns: Any, rows: Any) -> str:
    head = "".join(f"<th>{clean(str(cell))}</th>" for cell in columns)
    body = "".join("<tr>" + "".join(f"<td>{clean(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def write_report(path: str | os.PathLike[str], found: Statistics, rated: Table | None) -> None:
    """Write the page; its charts stand in it."""
    replace_file(Path(path), html(found, rated).encode())


def write_plots(folder: Path, found: Statistics, rated: Table | None) -> list[Path]:
    """Write every chart as a PNG file, into a folder that is made if it is not there; return their names."""
    make_folder(folder)
    return [picture.save(folder / f"{name}.png") for name, picture in charts(found, rated).items()]
