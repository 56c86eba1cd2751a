"""The engine of anabranch."""

from collections.abc import Sequence


def mix(word: int) -> int:
    """Scramble 64 bits one to one."""

def key_of(words: Sequence[int]) -> int:
    """One 64-bit key for a sequence of words."""

def key_of_bytes(data: bytes) -> int:
    """The node key of a state."""

def numbers(key: int, n: int, count: int) -> list[int]:
    """`count` integers in [0, n) from one key."""
