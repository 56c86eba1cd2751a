"""Yahtzee: the thirteen categories and 35 points of bonus that Americans know, with jokers or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from anabranch.game.parameters import one_of, whole
from anabranch.games import scores
from anabranch.games.yatzy import FORCED, FREE, NO_JOKERS, Yatzy

JOKERS = {"none": NO_JOKERS, "free": FREE, "forced": FORCED}


class Yahtzee(Yatzy):
    """Yatzy with thirteen categories: no pairs, three and four alike count all dice, the straights 30 and 40.

    Ones to sixes as in Yatzy, with a `bonus` of 35 for 63 points. Three and four alike and chance count all dice, a
    full house 25, a small straight (four in a row) 30, a large one (five) 40, yahtzee 50. Five alike are no full house.

    `jokers` says what five alike are when the box for them is marked. "none": what they are otherwise. "free": with 50
    points in that box they earn 100 more, and once the box of their face is marked too they count in full as a full
    house or a straight. "forced", as the rules of the shops have it: besides, they must go to the box of their face if
    it is open, else to one below if any is. All else, actions and outcomes too, is as in Yatzy.
    """

    title = "yahtzee"
    scoring: ClassVar[Mapping[str, scores.Scoring]] = scores.YAHTZEE

    def __init__(
        self,
        players: int = 1,
        rewards: str | None = None,
        categories: str | Sequence[str] | None = None,
        upper: int = 0,
        bonus: int = 35,
        jokers: str = "none",
    ) -> None:
        kind = JOKERS[one_of("kind of jokers", jokers, JOKERS)]
        self._settle(players, rewards, categories, upper, bonus=whole("bonus", bonus, 0, 1000), jokers=kind)
