"""Make the stored positions of connect four on which training runs are scored, with what each move is worth.

    .venv/bin/python benchmarks/frozen_positions.py [--positions 300]

Two sets, from random play and from a search's own play with some randomness, from ply 8 on, each position from a game
of its own, moves not all worth the same. Exact values come from `ab.oracle`. It takes about ten minutes and writes
src/anabranch/data/positions/connect_four.json.
"""

from __future__ import annotations

import argparse
import json

import measure  # noqa: F401  (first: it limits threads)
import msgspec

import anabranch as ab
from anabranch.files import replace_file
from anabranch.learn.frozen_set import FORMAT, KIND, STORED, TRIED, Row, Stored, solved

AGENTS = {"random": "random", "strong": "search:simulations=400,temperature=0.7"}
FIRST = 8  # ply


def made(game: ab.Game, name: str, count: int) -> list[Row]:
    """Return positions of a set."""
    known, found = ab.oracle(game), []
    for number, position in enumerate(
        drawn := ab.fixed_set(game, TRIED * count, seed=1, agent=AGENTS[name], decisions=(FIRST, None)).positions
    ):
        state = game.start()
        for move in position.moves:
            state, _ = state.step(move)
        each = solved(known, state)
        if each is not None:
            found.append(Row(position.moves, each.worth))
            if len(found) % 20 == 0:
                print(f"{name}: {len(found)} of {count} after {number + 1} of {len(drawn)}", flush=True)
        if len(found) == count:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--positions", type=int, default=300)
    flags = parser.parse_args()
    game = ab.games.load("connect_four")
    sets = {name: made(game, name, flags.positions) for name in AGENTS}
    text = json.dumps(msgspec.to_builtins(Stored(KIND, FORMAT, game.written_out, AGENTS, sets)), separators=(",", ":"))
    STORED.mkdir(parents=True, exist_ok=True)
    replace_file(STORED / "connect_four.json", text.replace('{"moves"', '\n{"moves"').encode() + b"\n")
    print(f"{STORED / 'connect_four.json'}: {', '.join(f'{name} {len(rows)}' for name, rows in sets.items())}")


if __name__ == "__main__":
    main()
