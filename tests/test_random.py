"""Random numbers: the published ones, the engine's word for word, and even."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch import _native
from anabranch.game.random import MASK, Random, below, fold, key_of, key_of_bytes, mix, uniform, unit

words = st.integers(0, MASK)


def test_splitmix64_gives_the_published_numbers():
    """The first numbers from seed 1234567 (the test vector of Steele, Lea and Flood's generator at Rosetta Code)."""
    random = Random(1234567)
    assert [random.next() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(words)
def test_python_mixes_like_the_engine(word):
    assert mix(word) == _native.mix(word)


@given(st.lists(words, max_size=6))
def test_python_keys_words_like_the_engine(given_words):
    assert key_of(given_words) == _native.key_of(given_words)


@given(st.binary(max_size=40))
def test_python_keys_bytes_like_the_engine(data):
    assert key_of_bytes(data) == _native.key_of_bytes(data)


@given(words, st.integers(1, 2**31 - 1))
def test_python_draws_like_the_engine(key, n):
    random = Random(key)
    assert [below(random, n) for _ in range(8)] == _native.numbers(key, n, 8)


def test_negative_words_are_their_two_complements():
    assert key_of([-1]) == key_of([MASK])
    assert Random(-1).word == MASK


@given(words, words)
def test_mixing_loses_nothing(one, other):
    """`mix` is one to one: undone step by step, it gives the word back; and folding tells words apart."""
    word = mix(one)
    word ^= (word >> 31) ^ (word >> 62)
    word = word * pow(0x94D0_49BB_1331_11EB, -1, 2**64) & MASK
    word ^= (word >> 27) ^ (word >> 54)
    word = word * pow(0xBF58_476D_1CE4_E5B9, -1, 2**64) & MASK
    word ^= (word >> 30) ^ (word >> 60)
    assert word == one
    assert (fold(7, one) == fold(7, other)) == (one == other)


def test_order_and_length_matter():
    assert len({key_of(case) for case in [(), (0,), (0, 0), (1, 2), (2, 1)]}) == 5
    assert len({key_of_bytes(bytes(n)) for n in range(20)}) == 20


def test_units_lie_in_the_half_open_interval():
    assert unit(0) == 0.0
    assert unit(MASK) == 1.0 - 2.0**-53
    assert unit(1 << 63) == 0.5


@pytest.mark.parametrize("n", [2, 6, 37])
def test_draws_are_even(n):
    """χ² of 20,000 draws stays within five standard deviations of its mean, n − 1."""
    random, count = Random(key_of((n,))), 20_000
    seen = [0] * n
    for _ in range(count):
        seen[ab.below(random, n)] += 1
    statistic = sum((k - count / n) ** 2 / (count / n) for k in seen)
    assert abs(statistic - (n - 1)) < 5 * math.sqrt(2 * (n - 1)) + 5


def test_keys_that_differ_in_one_bit_draw_apart():
    """The means of streams from neighbouring keys scatter as independent ones do: variance 1/(12·n)."""
    n, streams = 16, 400
    means = []
    for key in range(streams):
        random = Random(key)
        means.append(sum(uniform(random) for _ in range(n)) / n)
    centre = sum(means) / streams
    assert centre == pytest.approx(0.5, abs=5 * math.sqrt(1 / 12 / n / streams))
    variance = sum((mean - centre) ** 2 for mean in means) / (streams - 1)
    assert variance == pytest.approx(1 / 12 / n, rel=5 * math.sqrt(2 / streams))
