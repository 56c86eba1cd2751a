"""Goofspiel, the game of pure strategy: players bid their cards at once for prizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.pieces import card_table
from anabranch.errors import UsageError, shown
from anabranch.game.parameters import one_of, whole
from anabranch.game.pictures import player_names

ASCENDING, DESCENDING, RANDOM = 0, 1, 2
# As `text` writes them.
HAND = re.compile(r"player ([0-9]): ([0-9 ]+|none) +([0-9]{1,4}) points")
TABLE = re.compile(r"(?:prize ([0-9]{1,2})|the next prize is drawn|over); to come ([0-9 ]+|none)")
ORDERS = {"ascending": ASCENDING, "descending": DESCENDING, "random": RANDOM}
WIN, DIFFERENCE, POINTS = 0, 1, 2
SCHEMES = {"win": WIN, "difference": DIFFERENCE, "points": POINTS}


class Goofspiel(ab.CompiledGame):
    """Players bid cards worth 1 to n, all at once, for prizes worth 1 to n.

    Each starts with all n cards. One prize is turned up and everyone bids one card for it. The single highest bid
    takes the prize, a tie for the highest loses it; the bids are gone either way. With one card left nobody has a
    choice, so the last prize is settled together with the one before. Action = card − 1; hands are open. Prizes
    come in "ascending" or "descending" order, or "random": then chance states turn them up, outcome = prize − 1.

    Rewards: "win" pays at the end, 1 shared by those with the most points and −1 shared by the others, 0 if all are
    level; "difference" pays, as prizes are taken, own points less the mean of the others' (zero-sum); "points" pays
    own points.

    These are the rules of OpenSpiel's `goofspiel` with open hands; "win" and "points" are its `win_loss` and
    `total_points`, "difference" is its `point_difference` times P/(P−1), which for two players is own points less
    the other's.

    States are one node where the future is the same: points matter only under "win", and there only up to a
    constant. A player observes rows of n: the cards of each player, itself first, then in seat order; the prizes to
    come; the prize on the table; and under "win" one row per player of the lead over the last, as a share of all
    points.
    """

    title = "goofspiel"

    def __init__(self, cards: int = 4, prizes: str = "descending", players: int = 2, rewards: str = "win") -> None:
        one_of("order of prizes", prizes, ORDERS)
        one_of("reward scheme of goofspiel", rewards, SCHEMES)
        self.actions = self.outcomes = self.cards = whole("cards", cards, 1, 62)
        self.players = whole("players", players, 2, 10)
        self.order, self.scheme = ORDERS[prizes], SCHEMES[rewards]
        self.total = cards * (cards + 1) // 2
        self.rewards_along = self.scheme != WIN
        self.zero_sum = players == 2 and self.scheme != POINTS
        total = float(self.total)
        self.returns = ((-1.0, 1.0), (-total / (players - 1), total), (0.0, total))[self.scheme]
        self.observation = (2 * players + 2, cards)
        bits = np.int16 if cards <= 15 else np.int32 if cards <= 31 else np.int64
        self.state = ab.record(
            hands=(bits, players),  # bit c: holds card c + 1
            deck=bits,  # bit c: prize c + 1 is still to come
            points=(np.int16, players),
            prize=np.int8,  # on the table, 0 for none
        )
        self.key_record = self.state

    def setup(self, state: Any, random: Any) -> None:
        all_cards = (1 << self.cards) - 1
        for seat in range(self.players):
            state.hands[seat] = all_cards
        state.deck = all_cards
        turn_up(state, self.order, self.cards)

    def turn(self, state: Any) -> int:
        if state.hands[0] == 0:
            return ab.OVER
        return ab.CHANCE if state.prize == 0 else (1 << self.players) - 1

    def legal(self, state: Any, player: int, actions: Any) -> int:
        count = 0
        for card in range(self.cards):
            if state.hands[player] >> card & 1:
                actions[count] = card
                count += 1
        return count

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        count = 0
        for prize in range(self.cards):
            if state.deck >> prize & 1:
                outcomes[count] = prize
                count += 1
        for index in range(count):
            chances[index] = 1.0 / count
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        if state.prize == 0:
            state.prize = actions[0] + 1
            state.deck ^= 1 << actions[0]
            return
        settle(state, highest(actions, self.players), self.scheme, rewards, self.players)
        for seat in range(self.players):
            state.hands[seat] ^= 1 << actions[seat]
        state.prize = 0
        hand = state.hands[0]
        if hand != 0:
            turn_up(state, self.order, self.cards)
            if hand & (hand - 1) == 0:
                # One card each: their bits compare as the cards do.
                state.prize = lowest(state.deck, self.cards) if state.prize == 0 else state.prize
                settle(state, highest(state.hands, self.players), self.scheme, rewards, self.players)
                state.deck = 0
                state.prize = 0
                for seat in range(self.players):
                    state.hands[seat] = 0
        if state.hands[0] == 0 and self.scheme == WIN:
            pay_winners(state, rewards, self.players)

    def key(self, state: Any, key: Any) -> None:
        ab.copy(key.hands, state.hands)
        key.deck = state.deck
        key.prize = state.prize
        if self.scheme == WIN:
            last = fewest(state.points, self.players)
            for seat in range(self.players):
                key.points[seat] = state.points[seat] - last

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        to_come = float(state.prize)
        for prize in range(self.cards):
            if state.deck >> prize & 1:
                to_come += prize + 1
        for seat in range(self.players):
            if self.scheme != WIN:
                high[seat] = to_come
                low[seat] = 0.0 if self.scheme == POINTS else -to_come / (self.players - 1)
            elif state.hands[0] != 0:
                low[seat], high[seat] = -1.0, 1.0

    def observe(self, state: Any, player: int, planes: Any) -> None:
        players = self.players
        last = fewest(state.points, players)
        for card in range(self.cards):
            for row in range(players):
                seat = (player + row) % players
                planes[row, card] = state.hands[seat] >> card & 1
                if self.scheme == WIN:
                    planes[players + 2 + row, card] = (state.points[seat] - last) / self.total
            planes[players, card] = state.deck >> card & 1
        if state.prize > 0:
            planes[players + 1, state.prize - 1] = 1.0

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Every player may take the next one's seat; observations, which begin with oneself, stay."""
        seats = range(self.players)
        return [ab.Symmetry(players=tuple((p + k) % self.players for p in seats)) for k in range(1, self.players)]

    def text(self, state: ab.State) -> str:
        points = state.points.tolist()
        lines = [f"player {p}: {_faces(hand)}  {points[p]} points" for p, hand in enumerate(state.hands.tolist())]
        table = "over" if state.over else f"prize {state.prize}" if state.prize else "the next prize is drawn"
        return "\n".join([*lines, f"{table}; to come {_faces(state.deck)}"])

    def read(self, text: str) -> ab.State:
        """Read hands, points and prizes as they are printed; whose points came from which prize nobody asks."""
        held, table = HAND.findall(text), TABLE.search(text)
        if table is None or [int(seat) for seat, *_ in held] != list(range(self.players)):
            raise UsageError(f"goofspiel: write a position as it is printed, e.g.\n{self.start()}\nfound {shown(text)}")
        hands = [_read_cards(f"player {seat}", cards, self.cards) for seat, cards, _ in held]
        deck, prize = _read_cards("to come", table[2], self.cards), int(table[1] or 0)
        points = [int(won) for *_, won in held]
        left = len(deck) + (prize > 0)
        if any(len(hand) != left for hand in hands) or left == 1 < self.cards:
            raise UsageError(
                f"goofspiel: the players hold {', '.join(str(len(hand)) for hand in hands)} cards and {left} prizes "
                f"are left; these numbers are equal, and never 1, as the last prize is settled with the one before"
            )
        first = min if self.order == ASCENDING else max
        if prize in deck or prize > self.cards or (left and self.order != RANDOM and prize != first([*deck, prize])):
            raise UsageError(f"goofspiel: prize {prize} cannot be on the table while {deck} are to come")
        if sum(points) > self.total - sum(deck) - prize:
            raise UsageError(f"goofspiel: {points} points are more than the prizes that are gone; correct the points")
        return self.start().replace(hands=[_bits(hand) for hand in hands], deck=_bits(deck), points=points, prize=prize)

    def svg(self, state: ab.State) -> str:
        """Draw the prizes and each player's cards and points."""
        hands = [_cards(hand) for hand in state.hands.tolist()]
        points, to_come = state.points.tolist(), _cards(int(state.deck))
        return card_table(player_names(self), hands, points, int(state.prize), to_come, self.cards)

    def action_name(self, action: int) -> str:
        return str(action + 1)

    def outcome_name(self, outcome: int) -> str:
        return f"prize {outcome + 1}"


def turn_up(state: Any, order: int, cards: int) -> None:
    """Put the next prize on the table, unless chance has to."""
    if order != RANDOM:
        state.prize = lowest(state.deck, cards) if order == ASCENDING else top(state.deck, cards)
        state.deck ^= 1 << (state.prize - 1)


def lowest(deck: int, cards: int) -> int:
    """Return the lowest card of a set, 0 if it is empty."""
    for card in range(cards):
        if deck >> card & 1:
            return card + 1
    return 0


def top(deck: int, cards: int) -> int:
    """Return the highest card of a set, 0 if it is empty."""
    for card in range(cards - 1, -1, -1):
        if deck >> card & 1:
            return card + 1
    return 0


def highest(bids: Any, players: int) -> int:
    """Return the seat of the single highest bid, -1 after a tie for it."""
    best = 0
    tied = False
    for seat in range(1, players):
        if bids[seat] > bids[best]:
            best, tied = seat, False
        elif bids[seat] == bids[best]:
            tied = True
    return -1 if tied else best


def settle(state: Any, winner: int, scheme: int, rewards: Any, players: int) -> None:
    """Give the prize on the table to the winner, if there is one, and pay for it where points are paid."""
    if winner < 0:
        return
    prize = state.prize
    state.points[winner] += prize
    if scheme != WIN:
        rewards[winner] += prize
    if scheme == DIFFERENCE:
        for seat in range(players):
            if seat != winner:
                rewards[seat] -= prize / (players - 1)


def pay_winners(state: Any, rewards: Any, players: int) -> None:
    """Pay 1 among those with the most points and -1 among the others; nothing if all are level."""
    most = state.points[0]
    for seat in range(1, players):
        most = max(most, state.points[seat])
    winners = 0
    for seat in range(players):
        if state.points[seat] == most:
            winners += 1
    if winners < players:
        for seat in range(players):
            rewards[seat] = 1.0 / winners if state.points[seat] == most else -1.0 / (players - winners)


def fewest(points: Any, players: int) -> int:
    """Return the lowest score."""
    least = points[0]
    for seat in range(1, players):
        least = min(least, points[seat])
    return int(least)


def _cards(bits: int) -> list[int]:
    return [card + 1 for card in range(bits.bit_length()) if bits >> card & 1]


def _read_cards(whose: str, text: str, most: int) -> list[int]:
    """Return the cards in a list of them."""
    words = [] if text == "none" else text.split()
    cards = [int(word) for word in words if len(word) < 3]
    if len(set(cards)) != len(words) or not all(0 < card <= most for card in cards):
        raise UsageError(f"goofspiel: {whose}: {shown(text.strip())} are not different cards from 1 to {most}")
    return cards


def _bits(cards: list[int]) -> int:
    return sum(1 << card - 1 for card in cards)


def _faces(bits: int) -> str:
    return " ".join(map(str, _cards(bits))) or "none"
