"""The course of a run as a file that TensorBoard shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from anabranch.errors import UsageError
from anabranch.files import replace_file

NAME = "events.out.tfevents.0.anabranch"  # in a folder of its own: by such names TensorBoard finds its files


def write_events(path: Path, course: Sequence[dict[str, Any]]) -> None:
    """Write every figure of every checkpoint, the whole file anew, so that a run that goes on can be written again."""
    replace_file(path, events(course))


def events(course: Sequence[dict[str, Any]]) -> bytes:
    """Return the course as TensorBoard's records: a scalar by its name, the learner's step and the run's own clock."""
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter
    except ImportError as error:
        raise UsageError(
            "writing for TensorBoard needs the package tensorboard: pip install 'anabranch[tensorboard]'"
        ) from error
    written = BytesIO()
    records = RecordWriter(written)
    records.write(Event(file_version="brain.Event:2").SerializeToString())
    for row in course:
        figures = {name: value for name, value in row.items() if name not in ("step", "seconds")}
        said = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars(figures)]
        event = Event(wall_time=row["seconds"], step=row["step"], summary=Summary(value=said))
        records.write(event.SerializeToString())
    return written.getvalue()


def scalars(figures: dict[str, Any], within: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number of a checkpoint under its name; lists, which count imagined steps, from 1 on.

    >>> dict(scalars({"games": 5, "losses": {"policy": 1.5}, "model": {"end": [0.1, None]}, "score": None}))
    {'games': 5.0, 'losses/policy': 1.5, 'model/end/1': 0.1}
    """
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from scalars(value, f"{within}{name}/")
        elif isinstance(value, (list, tuple)):
            yield from scalars({str(at): each for at, each in enumerate(value, 1)}, f"{within}{name}/")
        elif isinstance(value, (int, float)):
            yield within + name, float(value)
