"""Counter-based random numbers: every draw is a pure function of what it is for.

The engine holds the same functions in `cpp/anabranch/random.hpp`; tests compare the two word for word.
"""

from __future__ import annotations

from collections.abc import Iterable

MASK = 0xFFFF_FFFF_FFFF_FFFF
GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2^64 divided by the golden ratio, made odd


def mix(word: int) -> int:
    """Scramble 64 bits one to one (the finaliser of SplitMix64, Steele et al. 2014)."""
    word = ((word ^ (word >> 30)) * 0xBF58_476D_1CE4_E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D0_49BB_1331_11EB) & MASK
    return word ^ (word >> 31)


def fold(key: int, word: int) -> int:
    """Return the key that follows `key` when `word` is read; distinct words give distinct keys."""
    return mix(((key ^ (word & MASK)) + GOLDEN) & MASK)


def key_of(words: Iterable[int]) -> int:
    """Return one 64-bit key for a sequence of integers (order matters)."""
    key = mix(GOLDEN)
    for word in words:
        key = fold(key, word)
    return key


def key_of_bytes(data: bytes) -> int:
    """Return the node key of a state: a sum of mixed (word, index), so that it can follow changed words alone."""
    total = 0
    for index in range(0, len(data), 8):
        word = int.from_bytes(data[index : index + 8], "little")
        total += mix(word ^ mix(index // 8 + 1))
    return mix((total + len(data)) & MASK)


def unit(word: int) -> float:
    """Turn 64 random bits into a double in [0, 1), a multiple of 2^-53."""
    return (word >> 11) * 2.0**-53


class Random:
    """A short run of random numbers from one key (SplitMix64); what `setup`, `draw` and rollouts receive."""

    __slots__ = ("word",)

    def __init__(self, key: int) -> None:
        self.word = key & MASK

    def next(self) -> int:
        """Return 64 random bits and move on."""
        self.word = (self.word + GOLDEN) & MASK
        return mix(self.word)


def uniform(random: Random) -> float:
    """Return a double in [0, 1); works the same in compiled verbs."""
    return unit(random.next())


def below(random: Random, n: int) -> int:
    """Return an integer in [0, n), n < 2^31; works the same in compiled verbs."""
    word = random.next() >> 11
    return word * n >> 53 if n < 2048 else int(word * 2.0**-53 * n)  # the same, but the first fits 64 bits
