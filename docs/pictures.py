"""Draws the pictures of these pages into docs/pictures: the same bytes whenever the search is the same.

Run it as `python docs/pictures.py` after a change to drawing or search, and look at what changed.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # wherever it is run from

from animation import growing

import anabranch as ab

FOLDER = Path(__file__).parent / "pictures"
LARGEST = 150_000  # bytes of a picture
# How something was drawn once, and nothing draws it any more; and what benchmarks/training_curve.py measured.
PAST = {"loops_before", "training_connect_four"}
#: A position worth looking at, for every game that has a board: options, and moves from the start.
POSITIONS: dict[str, tuple[dict[str, Any], str]] = {
    "2048": ({}, "[2@b3] [2@d1] left [4@d4] up [2@c2] right [2@a1] down [2@b4]"),
    "connect_four": ({}, "d d e e f c c c"),
    "dice_race": ({}, "d6 [3] d4 [4] d6"),
    "go": ({}, "d4 d5 c5 e4 c4 d3 e5 c3 b3 b2 f4 e3 d6 f3"),
    "goofspiel": ({"cards": 6}, "5,2"),
    "matrix": ({"payoffs": "rock_paper_scissors"}, ""),
    "n_in_a_row": ({}, "e5 d5 e6 e4 d6 f6 f5 c5 d4 g7"),
    "othello": ({}, "e3 f5 e6 d7 g5 e2 c8 f7 f4 h5 c6 f3 f2 c3"),
    "pig": ({}, "roll [3] roll [5] hold roll [3] roll [4]"),
    "pyrat": ({"preset": "tiny", "seed": 3}, "up,down up,down right,left stay,left"),
    "take_away": ({}, "3 2 1"),
    "tic_tac_toe": ({}, "b2 a1 c3 a3 a2"),
    "yahtzee": ({"jokers": "forced"}, "[12345] keep_11111 [none] keep_11111 [none] large_straight [33366] keep_11100"),
    "yatzy": ({"players": 2}, "[11356] keep_00001 [1666] keep_01111 [6] sixes [23445]"),
}


def position(name: str, moves: str, **options: Any) -> ab.State:
    """Return the state after moves by name: actions, one,another where players choose at once, [an outcome]."""
    game = ab.games.load(name, **options)
    state = game.start()
    for move in moves.split():
        if move.startswith("["):
            names = {game.outcome_name(outcome): outcome for outcome, _ in state.outcomes()}
            state, _ = state.step(names[move.strip("[]")])
        else:
            state, _ = state.step([game.parse_action(part) for part in move.split(",")])
    return state


def pictures() -> Iterator[tuple[str, ab.Picture]]:
    """Yield every picture with its name."""
    for name, (options, moves) in POSITIONS.items():
        yield f"board_{name}", position(name, moves, **options).picture()

    yield "analysis_connect_four", ab.search(position("connect_four", "d d e e"), simulations=1000).picture()

    walls, mud = [((1, 1), (2, 1)), ((3, 1), (3, 2))], {((2, 2), (3, 2)): 2}
    maze = {"width": 5, "height": 3, "cheese": [(3, 2), (3, 0), (0, 2)], "walls": walls, "mud": mud}
    race = position("pyrat", "", **maze, starts=((4, 1), (2, 1)), max_turns=10, rewards="difference")
    mixed = ab.SearchConfig(simultaneous=ab.RegretMatching())
    yield "joint_pyrat", ab.search(race, simulations=1500, config=mixed).picture()

    rolling = position("pig", "roll [5] roll")
    yield "fan_pig", ab.search(rolling, simulations=5000).picture()

    middle = position("tic_tac_toe", "b2 a1 a3 c1 b1")
    yield "graph_tic_tac_toe", ab.search(middle, simulations=400).graph.picture(depth=4, most=30)

    nearly_over = position("tic_tac_toe", "b2 a1 a3 c1 b1 b3")
    yield "growing_tic_tac_toe", growing(nearly_over, (1, 2, 3, 5, 8, 13, 25))

    yield "eight_nodes", eight_nodes(merge=True)
    yield "eight_nodes_tree", eight_nodes(merge=False)
    small = ab.games.load("random_game", seed=3, layers=3, width=3)
    yield "random_game", ab.search(small.start(), simulations=200).graph.picture()
    yield "loops", loops()
    yield from saved_by("tutorial.md")
    yield from saved_by("pictures.md")


def eight_nodes(merge: bool) -> ab.Picture:
    """Return the example of docs/step_by_step.md after nineteen simulations, as a graph or as a tree."""
    game: Any = ab.games.load("explicit")

    def evaluations(batch: ab.Batch) -> Any:
        return None, [game.evaluations[game.id_of(state)][0] for state in batch.states]

    plain = ab.Puct(c_init=1.0, c_log=0.0, epsilon=0.0, scale="none", first_play=ab.FirstPlay.parent())
    config = ab.SearchConfig(selector=plain, transposition=ab.Transposition(merge=merge))
    graph: Any = ab.search(game.start(), visits=19, evaluator=evaluations, config=config).graph
    picture: ab.Picture = graph.picture(depth=4)
    return picture


def loops() -> ab.Picture:
    """Return a graph with loops and several edges between two nodes; loops_before.svg is how it once was drawn."""
    game = ab.games.load(
        "random_game", seed=5, layers=4, width=3, choices=4, loops=0.4, cycles="bootstrap", rewards_along=False
    )
    graph: Any = ab.search(game.start(), simulations=120, evaluator=ab.Hashing()).graph
    picture: ab.Picture = graph.picture(depth=6, most=14)
    return picture


def saved_by(name: str) -> list[tuple[str, ab.Picture]]:
    """Return the pictures that a page's own code saves."""
    page = (FOLDER.parent / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    last = max(number for number, block in enumerate(blocks) if ".save(" in block)
    namespace: dict[str, Any] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with contextlib.redirect_stdout(io.StringIO()):
            for block in blocks[: last + 1]:
                exec(block, namespace)  # noqa: S102  (our own page)
        return [(path.stem, ab.Picture(path.read_text(encoding="utf-8"))) for path in sorted(Path().glob("*.svg"))]


def main() -> None:
    """Write all pictures, or with --check say which would change."""
    FOLDER.mkdir(exist_ok=True)
    check, stale = "--check" in sys.argv[1:], []
    for name, picture in pictures():
        path, size = FOLDER / f"{name}.svg", len(picture.svg.encode())
        if size > LARGEST:
            raise SystemExit(f"{path.name} has {size} bytes, more than {LARGEST}")
        same = path.exists() and path.read_text(encoding="utf-8") == picture.svg
        if not same and not check:
            picture.save(path)
        stale += [] if same else [path.name]
        print(f"{path.name:32} {size:7,} bytes  {'same' if same else 'changed'}")
    if check and stale:
        raise SystemExit("these would change, run docs/pictures.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
