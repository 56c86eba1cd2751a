"""First states for libraries that take rules as objects: OpenSpiel's native ones, or tic-tac-toe in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from peers.questions import Question


def starts(question: Question) -> Callable[[], Any]:
    """Return a function that makes the first state, the same kind for every such library."""
    if question.task == "python":
        from peers.rules import PlainState

        return PlainState
    import pyspiel

    make: Callable[[], Any] = pyspiel.load_game(question.game).new_initial_state
    return make


def sign(state: Any) -> int:
    """Return 1 when the first player acts, else −1."""
    return 1 if state.current_player() == 0 else -1
