"""Draws the pictures of these pages into docs/pictures: the same bytes whenever the search is the same.

Run it as `python docs/pictures.py` after a change to drawing or search, and look at what changed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import anabranch as ab

FOLDER = Path(__file__).parent / "pictures"
LARGEST = 150_000  # bytes of a picture
#: A position worth looking at, for every game that has a board: options, and moves from the start.
POSITIONS: dict[str, tuple[dict[str, object], str]] = {
    "connect_four": ({}, "d d e e f c c c"),
    "goofspiel": ({"cards": 6}, "5,2"),
    "matrix": ({"payoffs": "rock_paper_scissors"}, ""),
    "n_in_a_row": ({}, "e5 d5 e6 e4 d6 f6 f5 c5 d4 g7"),
    "othello": ({}, "e3 f5 e6 d7 g5 e2 c8 f7 f4 h5 c6 f3 f2 c3"),
    "pig": ({}, "roll [3] roll [5] hold roll [3] roll [4]"),
    "pyrat": ({"preset": "tiny", "seed": 3}, "up,down up,down right,left stay,left"),
    "take_away": ({}, "3 2 1"),
    "tic_tac_toe": ({}, "b2 a1 c3 a3 a2"),
}


def position(name: str, moves: str, **options: object) -> ab.State:
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
