"""The engine of anabranch."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


def mix(word: int) -> int:
    """Scramble 64 bits one to one."""

def key_of(words: Sequence[int]) -> int:
    """One 64-bit key for a sequence of words."""

def key_of_bytes(data: bytes) -> int:
    """The node key of a state."""

def numbers(key: int, n: int, count: int) -> list[int]:
    """`count` integers in [0, n) from one key."""

class Rules:
    """
    Compiled verbs of one instance; None means: raised, or broke a promise.
    """

    def __init__(self, instance: bytes, *, state_size: int, key_size: int, planes: int, players: int, actions: int, outcomes: int) -> None: ...

    def set(self, verb: str, address: int, owner: object) -> None:
        """Take a verb's compiled address and what keeps its code in memory."""

    def setup(self, word: int) -> tuple[bytes, int] | None: ...

    def turn(self, data: bytes) -> int | None: ...

    def legal(self, data: bytes, player: int) -> list[int] | None: ...

    def step(self, data: bytes, actions: Sequence[int]) -> tuple[bytes, list[float]] | None: ...

    def chance(self, data: bytes) -> list[tuple[int, float]] | None: ...

    def draw(self, data: bytes, word: int) -> tuple[int, int] | None: ...

    def same(self, data: bytes, player: int, action: int) -> int | None: ...

    def key(self, data: bytes) -> bytes | None: ...

    def bounds(self, data: bytes) -> tuple[list[float], list[float]] | None: ...

    def event(self, data: bytes) -> tuple[int, int, int, int] | None: ...

    def observe(self, data: bytes, player: int, planes: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu')]) -> bool:
        """Write an observation into zeroed planes; False if the verb raised."""

    @property
    def instance(self) -> bytes:
        """The instance's record as it is now."""
