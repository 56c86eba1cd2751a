"""How fast are plans in a learned model that costs nothing, beside mctx and LightZero? One core, same run.

    .venv/bin/python benchmarks/plan_speed.py [--actions 9 82 441] [--simulations 50 200] [--batch 1 16 64 256]
                                              [--rules gumbel muzero] [--peers mctx LightZero]
                                              [--rounds 5] [--fastest] [--more] [--write]

Gumbel against Gumbel, MuZero against MuZero; the model compiled into ours as it is into mctx's, and in NumPy as
LightZero's is. Each in a process of its own on the same core, called in turn, timed by the processor's clock.
A table can be made in pieces: every cell is kept when it is measured, and `--more` goes on with those kept before;
cells not measured stay as the page has them. `--fastest` is for a machine that others use: see `measure.compare`.
`--threads` compares two cores with one instead, by the wall clock; `--memory` the peak memory at 256 × 200 × 441.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure  # first: it limits threads
import pages
from peers.catalogue import Peer
from peers.questions import Question
from peers.remote import FailedError, Remote

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / ".venv-peers" / "bin" / "python"
PAGE = HERE.parent / "docs" / "models.md"
KEPT = measure.RESULTS / "plan_speed_cells.json"
WAIT, COMPILING = 120.0, 600.0  # seconds for one plan, for imports and compilation, at the most
SLICE = {False: 0.03, True: 0.1}  # seconds of calls that a round's figure is of: the fastest of a few of the slowest
COMPILED_BAR, TWO_CORES = 5.0, 1.7


def numpy_bar(actions: int, simulations: int, batch: int) -> float:
    """Return how many times as fast as the better of the two a plan in NumPy is to be."""
    if batch == 1:
        return 1.0
    if actions == 9 and simulations == 50:
        return 2.5
    return 4.0 if actions == 9 and batch == 16 else 5.0


def contenders(rule: str, peers: Sequence[str]) -> tuple[list[Peer], list[Peer]]:
    """Return ours and theirs."""
    ours = [
        Peer(f"{kind}", f"anabranch {kind}", "anabranch", "peers.adapters.toy_ours", f"{kind} {rule}")
        for kind in ("compiled", "numpy")
    ]
    theirs = [
        Peer("mctx", "mctx", "mctx", "peers.adapters.toy_mctx", rule),
        Peer("LightZero", "LightZero", "LightZero", "peers.adapters.toy_lightzero", rule),
    ]
    return ours, [peer for peer in theirs if peer.name in peers]


def cell(
    rule: str, question: Question, rounds: int, peers: Sequence[str], python: Path, fastest: bool
) -> list[measure.Row]:
    """Measure one cell; a line for the compiled model and one for NumPy's."""
    ours, theirs = contenders(rule, peers)
    remotes: list[Remote] = []
    try:
        remotes += [Remote(Path(sys.executable), peer, question, WAIT) for peer in ours]
        notes = []
        for peer in theirs:
            try:
                remotes.append(Remote(python, peer, question, WAIT, COMPILING))
            except FailedError as error:
                notes.append(f"{peer.name}: {error}")
        if len(remotes) == len(ours):
            raise SystemExit(f"neither peer runs: {'; '.join(notes)}")
        rates = measure.compare(
            remotes, rounds=rounds, seconds=60.0 if fastest else 20.0, slice_seconds=SLICE[fastest], fastest=fastest
        )
    finally:
        for remote in remotes:
            remote.close()
    best = rates.fastest([remote.name for remote in remotes[len(ours) :]])
    lines = []
    actions, simulations, batch = int(question.game), question.simulations, question.trees
    bars = {"compiled": COMPILED_BAR, "numpy": numpy_bar(actions, simulations, batch)}
    for peer in ours:
        name = f"{rule}, {peer.name}, {actions} × {simulations} × {batch}"
        line = measure.versus(name, rates, peer.name, best, bars[peer.name], "; ".join([best, *notes]))
        line.details |= {"cell": [rule, peer.name, actions, simulations, batch]}
        lines.append(line)
    return lines


def kept() -> list[measure.Row]:
    """Return the cells measured before."""
    rows = json.loads(KEPT.read_text())["rows"] if KEPT.exists() else []
    return [measure.Row(**{name: value for name, value in row.items() if name != "ok"}) for row in rows]


def shown(page: str) -> dict[tuple[Any, ...], str]:
    """Return the cells of the table on a page."""
    cells, batches = {}, []
    for line in page.partition("<!-- plan_speed:begin -->")[2].partition("<!-- plan_speed:end -->")[0].splitlines():
        words = [word.strip() for word in line.strip("| ").split(" | ")]
        if words[0] == "rule":
            batches = [int(word.split()[1]) for word in words[4:]]
        elif words[0] in ("gumbel", "muzero"):
            key = (*words[:2], *map(int, words[2:4]))
            cells |= {(*key, batch): told for batch, told in zip(batches, words[4:], strict=True)}
    return cells


def markdown(lines: Sequence[measure.Row], before: dict[tuple[Any, ...], str]) -> str:
    """Return the table: a row for each number of actions and simulations, a column for each batch."""
    fresh = {
        tuple(line.details["cell"]): f"{measure.figure(line.ours)}, {line.ratio:.1f}×" for line in lines if line.ratio
    }
    cells = before | fresh
    batches = sorted({key[4] for key in cells})
    body = [
        "Simulations per second of ours, and how many times those of the faster of mctx and LightZero that is:",
        "",
        "| rule | model | actions | simulations | " + " | ".join(f"batch {batch}" for batch in batches) + " |",
        "| --- | --- | ---: | ---: | " + " | ".join("---:" for _ in batches) + " |",
    ]
    for key in sorted({key[:4] for key in cells}):
        told = [cells.get((*key, batch), "") for batch in batches]
        body.append(f"| {key[0]} | {key[1]} | {key[2]} | {key[3]} | " + " | ".join(told) + " |")
    return "\n".join(body)


def two_cores(rules: Sequence[str], fastest: bool) -> list[measure.Row]:
    """Return how much faster two threads are than one, with the model compiled."""
    sys.path.insert(0, str(HERE))
    from peers.adapters.toy_ours import make

    measure.use_cores(2)
    lines = []
    for rule in rules:
        for actions in (9, 82, 441):
            for batch in (64, 256):
                question = Question("plan", str(actions), "flat", 200, batch)
                both = [make(question, f"compiled {rule} {threads}") for threads in (2, 1)]
                rates = measure.compare(
                    both, rounds=9, seconds=10.0, slice_seconds=SLICE[fastest], wall=True, fastest=fastest
                )
                name = f"two cores over one, {rule}, {actions} × 200 × {batch}"
                lines.append(measure.versus(name, rates, both[0].name, both[1].name, TWO_CORES))
    return lines


PEAK = """
import json, resource, sys
sys.path.insert(0, sys.argv[1])
import importlib
from peers.questions import Question
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
contender = importlib.import_module(sys.argv[2]).make(Question("plan", "441", "flat", 200, 256), sys.argv[3])
ready = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
contender.call()
print(json.dumps([ready, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def memory(rules: Sequence[str], python: Path) -> list[measure.Row]:
    """Return the peak memory of one plan at 256 × 200 × 441, beside mctx's, in megabytes of the whole process."""
    lines = []
    for rule in rules:
        peaks: dict[str, float] = {}
        for name, interpreter, adapter, variant in (
            ("compiled", Path(sys.executable), "peers.adapters.toy_ours", f"compiled {rule}"),
            ("numpy", Path(sys.executable), "peers.adapters.toy_ours", f"numpy {rule}"),
            ("mctx", python, "peers.adapters.toy_mctx", rule),
        ):
            command = [str(interpreter), "-c", PEAK, str(HERE), adapter, variant]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=os.environ | {"JAX_PLATFORMS": "cpu"}
            )
            peaks[name] = json.loads(done.stdout.splitlines()[-1])[1] / 1024
        for name in ("compiled", "numpy"):
            ratio = peaks[name] / peaks["mctx"]
            title = f"peak memory, {rule}, {name}, 441 × 200 × 256"
            lines.append(measure.Row(title, peaks[name], peaks["mctx"], ratio, unit="MB"))
    return lines


def main(words: Sequence[str] | None = None) -> list[measure.Row]:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--actions", type=int, nargs="+", default=[9, 82, 441])
    parser.add_argument("--simulations", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16, 64, 256])
    parser.add_argument("--rules", nargs="+", default=["gumbel", "muzero"], choices=["gumbel", "muzero"])
    parser.add_argument("--peers", nargs="+", default=["mctx", "LightZero"], choices=["mctx", "LightZero"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fastest", action="store_true", help="a round's figure is its fastest plan, not the median")
    parser.add_argument("--more", action="store_true", help="go on with the cells measured before")
    parser.add_argument("--python", type=Path, default=PYTHON, help="of the peers")
    parser.add_argument("--threads", action="store_true", help="two cores over one instead")
    parser.add_argument("--memory", action="store_true", help="peak memory instead")
    parser.add_argument("--write", action="store_true", help="the table into docs/models.md")
    asked = parser.parse_args(words)
    if asked.threads:
        lines = two_cores(asked.rules, asked.fastest)
    elif not asked.python.exists():
        raise SystemExit(f"{asked.python} does not exist; `make peers` builds the peers' environment")
    elif asked.memory:
        lines = memory(asked.rules, asked.python)
    else:
        questions = [
            Question("plan", str(actions), "flat", simulations, batch)
            for actions in asked.actions
            for simulations in asked.simulations
            for batch in asked.batch
        ]
        lines = kept() if asked.more else []
        for rule in asked.rules:
            for question in questions:
                fresh = cell(rule, question, asked.rounds, asked.peers, asked.python, asked.fastest)
                measure.log(measure.table(fresh))
                names = {line.name for line in fresh}
                lines = [line for line in lines if line.name not in names] + fresh
                KEPT.parent.mkdir(exist_ok=True)
                measure.write(KEPT, "plan_speed", lines)
        if asked.write:
            pages.fill("plan_speed", markdown(lines, shown(PAGE.read_text(encoding="utf-8"))), PAGE)
    measure.finish(__file__, lines)
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
