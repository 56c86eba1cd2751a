"""The oracle of Yatzy and Yahtzee: values of turns, from the solver or its file, and from these what lies within."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.games.dice import FIRST, HANDS, KEPT, MASKS
from anabranch.games.scores import UPPER, expected
from anabranch.games.yatzy import DIFFERENCE, NO_JOKERS, ROLLS, WIN, Yatzy
from anabranch.search.exact import kept_values
from anabranch.search.exact.oracle import EQUAL, Oracle
from anabranch.search.exact.turn_solver import UPPERS, TurnProgress, gains_of, solve_turns

Floats = npt.NDArray[np.float64]
Card = tuple[bool, int, int]  # fifty, open categories, upper total
VERSION = 1  # of the values: another one is another file
REMEMBERED = 512  # turns, of 30 kB each
TOGETHER = 64  # turns computed side by side
CHOICES = [  # of each hand: the masks that stand for choices, and what they keep
    [(mask, int(keep)) for mask, keep in enumerate(row) if row.index(keep) == mask] for row in KEPT.tolist()
]


def counts_points(game: Game, goal: str | None = None) -> bool:
    """Whether a game is one of Yatzy's kind in which everybody's points are its own affair."""
    return isinstance(game, Yatzy) and (game.scheme != WIN or goal == "points")


class TurnOracle(Oracle):
    """What every state of solitaire Yatzy or Yahtzee is worth.

    Two players who play for points or for the difference of points do not meet, so it knows their games too.
    """

    def __init__(
        self,
        game: Game,
        *,
        threads: int | None = None,
        progress: Callable[[TurnProgress], None] | None = None,
        goal: str | None = None,
    ) -> None:
        if not isinstance(game, Yatzy) or not counts_points(game, goal):
            raise UsageError(f"the oracle of points knows Yatzy and Yahtzee for points, not {game!r}")
        super().__init__(game)
        self.rules: Yatzy = game
        self._threads, self._progress = threads, progress
        self._turns: dict[Card, Floats] = {}  # the oldest first

    @property
    def kept_as(self) -> str:
        """The name of the file that its values are kept in: rules that score alike share one."""
        game = self.rules
        facts = json.dumps([VERSION, game.categories, game.five, game.bonus, game.jokers, game.joker_points.tolist()])
        return f"{game.name}-{hashlib.sha256(facts.encode() + game.points.tobytes()).hexdigest()[:16]}"

    @cached_property
    def starts(self) -> Floats:
        """What starts of turns are worth: (fifty, open categories, upper total); read or solved when first wanted."""
        game = self.rules
        shape = (2 if game.jokers != NO_JOKERS else 1, 1 << game.categories, UPPERS)
        found = kept_values.read(self.kept_as, shape)
        if found is None:
            found = solve_turns(game, threads=self._threads, progress=self._progress)
            if game.first_open == (1 << game.categories) - 1:  # values of an endgame alone are soon found again
                kept_values.write(self.kept_as, found)
        found.flags.writeable = False
        return found

    def values(self, state: State) -> Floats:
        return np.array(self.values_of([state])[0])

    def values_of(self, states: Sequence[State]) -> Floats:
        records = self._records(states)
        worth: Floats = self.starts[records["fifty"].astype(np.int64), records["open"], records["upper"]]
        rows = np.arange(len(states))
        for card, some in self._by_card(records):
            here = records[some]
            within = self._turn(card)[here["rolling"].astype(np.int64), here["rolls"], here["hand"]]
            worth[rows[some], here["mover"]] = within
        if self.rules.scheme == DIFFERENCE:
            worth = worth - worth[:, ::-1]
        return worth

    def action_values(self, state: State) -> dict[int, float]:
        seat = self.mover(state)
        card, hand = self._card(state, seat), int(state.hand)
        less = self._start(self._card(state, 1 - seat)) if self.rules.scheme == DIFFERENCE else 0.0
        if state.rolls == ROLLS:
            return {action: value - less for action, value in self._marks(card, hand).items()}
        worth = self._turn(card)[1, state.rolls] - less
        return {choice: float(worth[keep]) for choice, keep in CHOICES[hand - HANDS]}

    def best_of(self, states: Sequence[State]) -> list[int]:
        for state in states:
            self.mover(state)
        records = self._records(states)
        best = np.full(len(states), -1, np.int64)
        for card, some in self._by_card(records):
            here = records[some]
            within, keeping = self._turn(card), here["rolls"] < ROLLS
            kept = within[1, here["rolls"][keeping, None], KEPT[here["hand"][keeping] - HANDS]]
            best[some[keeping]] = (kept >= kept.max(axis=1, keepdims=True) - EQUAL).argmax(axis=1)
        for row in np.flatnonzero(best < 0).tolist():
            best[row] = self.best(states[row])
        return best.tolist()

    def _records(self, states: Sequence[State]) -> npt.NDArray[np.void]:
        """Return states as one array of records."""
        for state in states:
            if state.game is not self.game and state.game != self.game:
                raise UsageError(f"this is an oracle of {self.game!r}, a state belongs to {state.game!r}")
        records = np.frombuffer(b"".join(state.data for state in states), self.rules.state)
        if (records["open"] & ~self.rules.first_open).any():
            raise UsageError(f"this is an oracle of {self.game!r}, and more categories are open in a state it is asked")
        return records

    def _by_card(self, records: npt.NDArray[np.void]) -> list[tuple[Card, npt.NDArray[np.int64]]]:
        """Return which records are within a turn of which card, once all these turns are known."""
        groups: dict[Card, list[int]] = {}
        cards = np.stack([_of_mover(records, name) for name in ("fifty", "open", "upper")], axis=1).tolist()
        inside = (~records["rolling"] | (records["rolls"] > 0)) & (records["open"][:, -1] != 0)
        for row in np.flatnonzero(inside).tolist():
            fifty, opened, upper = cards[row]
            groups.setdefault((bool(fifty), opened, upper), []).append(row)
        missing = [card for card in groups if card not in self._turns]
        while len(self._turns) + len(missing) > max(REMEMBERED, len(groups)):
            oldest = next((card for card in self._turns if card not in groups), None)
            if oldest is None:
                break
            del self._turns[oldest]
        for at in range(0, len(missing), TOGETHER):
            self._compute(missing[at : at + TOGETHER])
        return [(card, np.array(rows)) for card, rows in groups.items()]

    def _card(self, state: State, seat: int) -> Card:
        return bool(state.fifty[seat]), int(state.open[seat]), int(state.upper[seat])

    def _start(self, card: Card) -> float:
        fifty, opened, upper = card
        return float(self.starts[int(fifty), opened, upper])

    def _marks(self, card: Card, hand: int) -> dict[int, float]:
        """Return what each mark is worth with these dice."""
        fifty, opened, upper = card
        game, worth = self.rules, {}
        for category, gain in enumerate(gains_of(game, opened, fifty)[hand - HANDS].tolist()):
            if gain < 0:
                continue
            above = int(game.points[hand - HANDS, category]) if category < 6 else 0
            reached = min(UPPER, upper + above)
            marked = fifty or (game.jokers != NO_JOKERS and category == game.five and gain == 50)
            earned = game.bonus if upper < UPPER == reached else 0
            worth[MASKS + category] = gain + earned + self._start((marked, opened ^ 1 << category, reached))
        return worth

    def _turn(self, card: Card) -> Floats:
        """Return (dice are rolled, rolls made, multiset) → what is to come, within a turn."""
        if card not in self._turns:
            self._compute([card])
        return self._turns[card]

    def _compute(self, cards: Sequence[Card]) -> None:
        """Work out turns as the solver does: W_0 from marks, E_0, W_1, E_1, W_2."""
        within = np.full((len(cards), 2, ROLLS + 1, FIRST[-1]), np.nan)
        hands = np.stack([self._last_hands(card) for card in cards], axis=1)
        for rolls in (3, 2):
            kept = expected(hands)
            within[:, 0, rolls, HANDS:] = hands.T
            within[:, 1, rolls - 1] = kept.T
            hands = kept[KEPT].max(axis=1)
        within[:, 0, 1, HANDS:] = hands.T
        for number, card in enumerate(cards):
            self._turns[card] = within[number].copy()

    def _last_hands(self, card: Card) -> Floats:
        """Return W_0: what each hand is worth when it must be marked."""
        fifty, opened, upper = card
        game, gains = self.rules, gains_of(self.rules, opened, fifty)
        worth = np.full(len(gains), -1.0)
        for category in range(game.categories):
            if not opened >> category & 1:
                continue
            gain, rest = gains[:, category], opened ^ 1 << category
            if category < 6:
                reached = np.minimum(UPPER, upper + game.points[:, category].astype(np.int64))
                total = gain + self.starts[int(fifty), rest, reached]
                total += np.where((reached == UPPER) & (upper < UPPER), game.bonus, 0)
            elif category == game.five and game.jokers != NO_JOKERS:
                total = gain + self.starts[np.where(gain == 50, 1, int(fifty)), rest, upper]
            else:
                total = gain + self.starts[int(fifty), rest, upper]
            worth = np.where(gain >= 0, np.maximum(worth, total), worth)
        return worth

    def __repr__(self) -> str:
        return f"<oracle of {self.game}: {self.rules.categories} categories>"


def _of_mover(records: npt.NDArray[np.void], name: str) -> npt.NDArray[np.int64]:
    """Return a field of the player who moves."""
    column: npt.NDArray[np.int64] = records[name].astype(np.int64)[np.arange(len(records)), records["mover"]]
    return column
