"""The reference's waves: paths selected together, the questions they ask, and the way back if anything fails."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from anabranch.game.state import State
from anabranch.search.reference.nodes import Edge, Node, Values


class Step(NamedTuple):
    """A node walked, the edges a visit will count there, and the probabilities its choice was drawn with."""

    node: Node
    edges: list[Edge]
    chances: tuple[float, ...] = ()  # one per acting player; none where nobody drew


class Pause(Enum):
    """What a visit waits for."""

    ANSWERS = "the answers to all questions asked so far"
    BACK = "its turn to be backed up"


Visit: TypeAlias = "Generator[Visit | Pause, None, None]"  # in progress; a visit it yields must be finished first


@dataclass
class Question:
    """A state that needs an evaluation: of a node, or of an edge that will keep its value frozen."""

    state: State
    key: int
    node: Node | None = None
    edge: Edge | None = None  # frozen
    collected: Values = field(default_factory=list)  # frozen: rewards on the way there


class Path:
    """One simulation: the visit that walks down from the root, and those it waits for, innermost last."""

    def __init__(self, visit: Visit) -> None:
        self._waiting = [visit]
        self.paused = Pause.ANSWERS

    def proceed(self) -> None:
        """Go on until it must wait, or is over."""
        while self._waiting:
            try:
                said = next(self._waiting[-1])
            except StopIteration:
                self._waiting.pop()
                continue
            if isinstance(said, Pause):
                self.paused = said
                return
            self._waiting.append(said)


class Wave:
    """Paths in flight, in the order they were selected; what they changed can be taken back."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.questions: list[Question] = []
        self._undo: list[Callable[[], Any]] = []

    @property
    def complete(self) -> bool:
        """Whether all paths have found their ends: only then may another wave be selected behind this one."""
        return all(path.paused is Pause.BACK for path in self.paths)

    def on_failure(self, undo: Callable[[], Any]) -> None:
        """Remember how to take back a change that is about to be made."""
        self._undo.append(undo)

    def take_back(self) -> None:
        """Undo all changes, the last one first."""
        while self._undo:
            self._undo.pop()()
