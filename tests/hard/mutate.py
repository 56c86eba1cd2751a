"""Inputs made from others: cut, joined, flipped and repeated, with words put in; the same ones for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

LONGEST = 20_000  # bytes; what is repeated to see how a parser takes length gets as long
BYTES = b"\x00\x01\x7f\x80\xff\n\r\t \"'\\{}[](),:;=.#-+0919eEnN/"
NUMBERS = (
    *(b"0", b"-0", b"-1", b"1", b"2", b"00", b"1_0", b"0x10", b"+1", b"1.", b".5", b"1e400", b"-1e400", b"1e-400"),
    *(b"nan", b"inf", b"-inf", b"NaN", b"Infinity", b"true", b"false", b"null", b"None"),
    *(str(2**power + more).encode() for power in (7, 8, 15, 16, 31, 32, 53, 63, 64, 128) for more in (-1, 0, 1)),
    *(b"9" * 400, b"9" * 5000),
)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


class Mutator:
    """Makes inputs of seeds and words."""

    def __init__(self, seeds: Sequence[bytes], words: Sequence[bytes], seed: str) -> None:
        self.seeds = list(seeds)
        self.words = [*words, b"", b"\xc3\xa9", b"\xf0\x9f\x8e\xb2", b"\xed\xa0\x80"]
        self.random = random.Random(seed)
        self._changes = (
            *(self._flip, self._set, self._insert, self._delete, self._double, self._splice, self._cut, self._put_word),
            *(self._swap_word, self._change_number, self._repeat, self._nest),
        )

    def make(self) -> bytes:
        """Return the next input: a seed with a few changes, often one alone."""
        data = self.random.choice(self.seeds)
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
            data = self.random.choice(self._changes)(data)[:LONGEST]
        return data

    def _place(self, data: bytes) -> int:
        return self.random.randrange(len(data) + 1)

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._place(data)
        return start, min(len(data), start + self.random.choice((1, 1, 2, 4, 8, 32, 200)))

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return data
        at, changed = self.random.randrange(len(data)), bytearray(data)
        changed[at] ^= 1 << self.random.randrange(8)
        return bytes(changed)

    def _set(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + bytes([self.random.choice(BYTES)]) + data[at + 1 :]

    def _insert(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + self.random.randbytes(self.random.choice((1, 1, 2, 4, 16))) + data[at:]

    def _delete(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _double(self, data: bytes) -> bytes:
        (start, end), at = self._span(data), self._place(data)
        return data[:at] + data[start:end] + data[at:]

    def _splice(self, data: bytes) -> bytes:
        other = self.random.choice(self.seeds)
        return data[: self._place(data)] + other[self._place(other) :]

    def _cut(self, data: bytes) -> bytes:
        return data[: self._place(data)]

    def _put_word(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + self.random.choice((*self.words, *NUMBERS)) + data[at:]

    def _swap_word(self, data: bytes) -> bytes:
        found = list(re.finditer(rb"\w+", data))
        if not found:
            return data
        word = self.random.choice(found)
        return data[: word.start()] + self.random.choice(self.words) + data[word.end() :]

    def _change_number(self, data: bytes) -> bytes:
        found = list(NUMBER.finditer(data))
        if not found:
            return data
        number = self.random.choice(found)
        return data[: number.start()] + self.random.choice(NUMBERS) + data[number.end() :]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[start:end] * self.random.choice((2, 10, 100, 2000)) + data[end:]

    def _nest(self, data: bytes) -> bytes:
        (start, end), (left, right) = (
            self._span(data),
            self.random.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"))),
        )
        depth = self.random.choice((1, 3, 20, 3000))
        return data[:start] + left * depth + data[start:end] + right * depth + data[end:]
