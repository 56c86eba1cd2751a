"""Yatzy: five dice, two rerolls, fifteen categories to be marked once each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError, shown
from anabranch.game.parameters import one_of, whole
from anabranch.game.pictures import player_names
from anabranch.games import dice, scores
from anabranch.games.dice import ADDED, DICE, FIRST_MASKS, HANDS, KEPT, MASKS, SIZES
from anabranch.games.score_sheet import read_sheet, sheet_picture, sheet_text
from anabranch.games.scores import UPPER

ROLLS = 3
WIN, DIFFERENCE, POINTS = 0, 1, 2
SCHEMES = {"win": WIN, "difference": DIFFERENCE, "points": POINTS}
NO_JOKERS, FREE, FORCED = 0, 1, 2
EXTRA = 100  # points for five alike again, under jokers
PARTS = 256  # of a point, in which the rollout policy counts


class Yatzy(ab.CompiledGame):
    """Roll five dice, reroll what you don't keep up to twice, and mark one of fifteen categories; until all are marked.

    Ones to sixes count the dice that show them; 63 points there earn a bonus of 50. A pair counts twice the highest
    face that lies twice; two pairs are of different faces; three and four alike count three and four times the face;
    the small straight is 1 to 5 for 15, the large one 2 to 6 for 20; a house is three and two of different faces and
    counts all dice, as chance does; yatzy is five alike for 50. Five alike are no house, four alike no two pairs.

    Actions 0 to 31 keep some of the *sorted* dice, bit 4 − i the i-th, and reroll the others; masks that keep the same
    faces are one choice. With rerolls left only these are legal (31 keeps all dice and spends a reroll), without only
    marks: 32 + category. Every roll is a chance state; outcomes are multisets of the dice rolled, numbered as in
    `games/dice.py`.

    One player plays for points. Two play fifteen rounds in turn: "win" pays 1, 0 or −1 at the end, "difference" own
    points less the other's and "points" own points, both as they are scored. `categories` leaves only some open, for
    endgames, with `upper` points above so far.

    A roll of a played game is named by (player, marks it has made, roll of the turn), and faces are drawn one by one:
    players who keep different dice see the same faces in the same order. States are one node where the future is the
    same: points scored count only under "win", and there only their difference, and the upper total only while the
    bonus is neither earned nor out of reach.

    A player observes one row, its own things first. Of each player: open categories; the upper total, and while the
    bonus can still be earned that it can, how far the total is ahead of three of each face, and how much may be missed.
    Then the lead in hundreds under "win"; how many dice show each face; which roll it was (1, 2, 3), whether dice are
    rolled now, whether the turn is its own; and of each open category of the mover what the dice count there, and how
    much more than usual a player can expect who wants that one alone, points above counted twice.
    """

    title = "yatzy"
    scoring: ClassVar[Mapping[str, scores.Scoring]] = scores.YATZY

    def __init__(
        self,
        players: int = 1,
        rewards: str | None = None,
        categories: str | Sequence[str] | None = None,
        upper: int = 0,
    ) -> None:
        self._settle(players, rewards, categories, upper, bonus=50, jokers=NO_JOKERS)

    def _settle(
        self,
        players: int,
        rewards: str | None,
        categories: str | Sequence[str] | None,
        upper: int,
        *,
        bonus: int,
        jokers: int,
    ) -> None:
        """Store what the verbs read."""
        self._names = tuple(self.scoring)
        self.players = whole("players", players, 1, 2)
        usual = "points" if players == 1 else "win"
        scheme = one_of(f"reward scheme of {self.name}", usual if rewards is None else rewards, SCHEMES)
        if players == 1 and scheme != "points":
            raise UsageError(
                f"{self.name}: one player plays for points, found rewards={scheme!r}; players=2 for others"
            )
        self.scheme, self.bonus, self.jokers = SCHEMES[scheme], bonus, jokers
        self.categories = len(self.scoring)
        self.first_open = sum(1 << number for number in category_numbers(self._names, categories, self.name))
        self.first_upper = whole("upper", upper, 0, UPPER)
        self.five = self._names.index(self.title)
        self.chance_bit = 1 << self._names.index("chance")
        self.actions, self.outcomes = MASKS + self.categories, dice.FIRST[-1] - HANDS
        self.points = scores.points_table(self.scoring)
        self.joker_points = np.array([scores.JOKERS.get(name, 0) for name in self._names], np.int8)
        self.least, self.most = scores.extremes(self.points)
        self.most_above = scores.category_sums(self.points.max(axis=0)[:6])
        self.most_below = scores.category_sums(self.points.max(axis=0)[6:])
        self.gains, self.aims = policy_tables(self.points)
        self.rewards_along, self.zero_sum = self.scheme != WIN, self.players == 2 and self.scheme != POINTS
        low, high = least_left(self.first_open, self.chance_bit), self._most_at_all()
        self.returns = ((-1.0, 1.0), (low - high, high - low), (low, high))[self.scheme]
        self.observation = (self.players * (self.categories + 4) + (self.scheme == WIN) + 11 + 2 * self.categories,)
        position = {
            "open": (np.int16, players),  # bit c: category c is open
            "hand": np.int16,  # the dice, or while they are rolled those that are kept
            "upper": (np.int8, players),  # points in ones to sixes, 63 at most
            "mover": np.int8,
            "rolls": np.int8,  # made in this turn
            "rolling": np.bool_,
            "fifty": (np.bool_, players),  # under jokers: five alike was marked with 50 points
        }
        self.state = ab.record(points=(np.int16, players), **position)
        self.key_record = ab.record(lead=np.int16, **position)

    def _most_at_all(self) -> float:
        most: float = most_left(
            self.first_open, self.first_upper, self.bonus, self.most_above, self.most_below
        ) + most_extra(self.first_open, False, self.five, self.jokers)
        return most

    def setup(self, state: Any, random: Any) -> None:
        for seat in range(self.players):
            state.open[seat] = self.first_open
            state.upper[seat] = self.first_upper
        state.rolling = True

    def turn(self, state: Any) -> int:
        if state.open[self.players - 1] == 0:  # the last player marks last
            return ab.OVER
        return ab.CHANCE if state.rolling else ab.player(state.mover)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        if state.rolls < ROLLS:
            for mask in range(MASKS):
                actions[mask] = mask
            return MASKS
        count = 0
        for category in range(self.categories):
            if may_mark(state.open[player], state.hand, category, self.five, self.jokers):
                actions[count] = MASKS + category
                count += 1
        return count

    def same(self, state: Any, player: int, action: int) -> int:
        return int(FIRST_MASKS[state.hand - HANDS, action]) if action < MASKS else action

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        return dice.list_rolls(state.hand, outcomes, chances)

    def draw(self, state: Any, random: Any) -> int:
        roll = 0
        for _ in range(DICE - SIZES[state.hand]):
            roll = ADDED[roll, ab.below(random, 6)]
        return roll

    def event(self, state: Any, event: Any) -> None:
        event[0] = state.mover
        event[1] = self.categories - ones_in(state.open[state.mover])
        event[2] = state.rolls

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.mover
        if state.rolling:
            state.hand = dice.joined(state.hand, actions[0])
            state.rolling = False
            state.rolls += 1
            return
        action = actions[mover]
        state.rolling = True
        if action < MASKS:
            state.hand = KEPT[state.hand - HANDS, action]
            return
        category = action - MASKS
        hand = state.hand - HANDS
        gained = int(self.points[hand, category])
        if self.jokers != NO_JOKERS and is_joker(state.open[mover], state.hand, self.five):
            if state.open[mover] >> face_of(state.hand) & 1 == 0 and category >= 6:
                gained = max(gained, self.joker_points[category])
            if state.fifty[mover]:
                gained += EXTRA
        if category == self.five and gained == 50:
            state.fifty[mover] = self.jokers != NO_JOKERS
        if category < 6 and state.upper[mover] < UPPER:
            state.upper[mover] = min(UPPER, state.upper[mover] + self.points[hand, category])
            if state.upper[mover] == UPPER:
                gained += self.bonus
        state.open[mover] ^= 1 << category
        state.points[mover] += gained
        state.hand = 0
        state.rolls = 0
        state.mover = (mover + 1) % self.players
        if self.scheme != WIN:
            rewards[mover] = gained
            if self.scheme == DIFFERENCE:
                rewards[1 - mover] = -gained
        elif state.open[1] == 0:
            lead = state.points[0] - state.points[1]
            rewards[0] = 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0
            rewards[1] = -rewards[0]

    def key(self, state: Any, key: Any) -> None:
        for seat in range(self.players):
            key.open[seat] = state.open[seat]
            key.upper[seat] = counting_upper(state.open[seat], state.upper[seat], self.bonus, self.most_above)
            key.fifty[seat] = state.fifty[seat]
        key.hand = state.hand
        key.mover = state.mover
        key.rolls = state.rolls
        key.rolling = state.rolling
        if self.scheme == WIN:
            key.lead = state.points[0] - state.points[1]

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        last = state.rolls == ROLLS or (state.rolls == ROLLS - 1 and state.rolling)  # no reroll will be left
        for seat in range(self.players):
            opened, upper = state.open[seat], state.upper[seat]
            if opened == 0:
                continue
            if last and seat == state.mover and self.jokers == NO_JOKERS:
                low[seat] = least_marked(opened, upper, self.bonus, state.hand, self.least, self.chance_bit)
                high[seat] = most_marked(
                    opened, upper, self.bonus, state.hand, self.most, self.most_above, self.most_below
                )
            else:
                low[seat] = least_left(opened, self.chance_bit)
                high[seat] = most_left(opened, upper, self.bonus, self.most_above, self.most_below) + most_extra(
                    opened, state.fifty[seat], self.five, self.jokers
                )
        if self.scheme != POINTS:
            least, most = low[0] - high[1], high[0] - low[1]
            if self.scheme == WIN and state.open[1] != 0:
                lead = state.points[0] - state.points[1]
                least, most = sign(lead + least), sign(lead + most)
            low[0], high[0] = least, most
            low[1], high[1] = -most, -least

    def rollout_action(self, state: Any, player: int, random: Any) -> int:
        needed = UPPER - state.upper[player]
        return wanted(
            state.open[player],
            needed if needed > 0 else 99,
            state.hand,
            state.rolls,
            self.points,
            self.bonus * PARTS,
            self.gains,
            self.aims,
            self.five,
            self.jokers,
        )

    def observe(self, state: Any, player: int, planes: Any) -> None:
        at = 0
        for row in range(self.players):
            seat = (player + row) % self.players
            for category in range(self.categories):
                planes[at + category] = state.open[seat] >> category & 1
            at += self.categories
            upper = counting_upper(state.open[seat], state.upper[seat], self.bonus, self.most_above)
            planes[at] = upper / UPPER
            if upper < UPPER:
                most = self.most_above[state.open[seat] & 63]
                planes[at + 1] = 1.0
                planes[at + 2] = (upper + 3 * most // 5 - UPPER) / 20
                planes[at + 3] = (upper + most - UPPER) / 40
            at += 4
        if self.scheme == WIN:
            planes[at] = (state.points[player] - state.points[1 - player]) / 100
            at += 1
        for die in range(SIZES[state.hand]):
            planes[at + dice.FACES[state.hand, die] - 1] += 0.2
        at += 6
        if state.rolls > 0:
            planes[at + state.rolls - 1] = 1.0
        planes[at + 3] = 1.0 if state.rolling else 0.0
        planes[at + 4] = 1.0 if state.mover == player else 0.0
        at += 5
        if state.hand >= HANDS:
            hand, left = state.hand - HANDS, ROLLS - state.rolls
            for category in range(self.categories):
                if state.open[state.mover] >> category & 1:
                    planes[at + category] = self.points[hand, category] / 50
                    planes[at + self.categories + category] = self.gains[left, category, hand] / (20 * PARTS)

    @property
    def category_names(self) -> tuple[str, ...]:
        """What the categories are called, in the order of their bits and actions."""
        return self._names

    def agents(self) -> Mapping[str, Callable[[ab.State, int], int]]:
        return {"greedy": greedy}

    def text(self, state: ab.State) -> str:
        return sheet_text(self, state)

    def read(self, text: str) -> ab.State:
        """Read a position as it is printed; points per category are not kept, so only their sums are read."""
        return read_sheet(self, text)

    def svg(self, state: ab.State) -> str:
        """Draw the dice and the score sheets: what is open, and what the dice would count there."""
        return sheet_picture(self, state, player_names(self))

    def action_name(self, action: int) -> str:
        return f"keep_{action:05b}" if action < MASKS else self._names[action - MASKS]

    def move_name(self, state: ab.State, player: int, action: int) -> str:
        """Name a keep by its faces: `keep_335`."""
        if action >= MASKS or state.hand < HANDS:
            return self.action_name(action)
        faces = dice.MULTISETS[int(KEPT[state.hand - HANDS, action])]
        return f"keep_{''.join(map(str, faces)) or 'none'}"

    def outcome_name(self, outcome: int) -> str:
        return "".join(map(str, dice.MULTISETS[outcome])) or "none"


def ones_in(bits: int) -> int:
    """Return how many bits are set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


def sign(number: float) -> float:
    """Return 1, 0 or −1."""
    return 1.0 if number > 0 else -1.0 if number < 0 else 0.0


def face_of(hand: int) -> int:
    """Return the lowest face of some dice, less 1; of five alike, the one they show."""
    return int(dice.FACES[hand, 0]) - 1


def is_joker(opened: int, hand: int, five: int) -> bool:
    """Whether dice are five alike when that category is gone."""
    return opened >> five & 1 == 0 and dice.FACES[hand, 0] == dice.FACES[hand, DICE - 1]


def may_mark(opened: int, hand: int, category: int, five: int, jokers: int) -> bool:
    """Whether a category may be marked: it is open, and a joker that is forced goes there.

    Forced: to the box of its face if that is open, else to a box below, else anywhere.
    """
    if opened >> category & 1 == 0:
        return False
    if jokers != FORCED or not is_joker(opened, hand, five):
        return True
    face = face_of(hand)
    if opened >> face & 1:
        return category == face
    return category >= 6 or opened >> 6 == 0


def counting_upper(opened: int, upper: int, bonus: int, most_above: Any) -> int:
    """Return the upper total as far as it counts: 63 where the bonus is earned, out of reach, or nothing."""
    return int(upper) if bonus != 0 and upper + most_above[opened & 63] >= UPPER else UPPER


def least_left(opened: int, chance_bit: int) -> float:
    """Return the fewest points that open categories can give: five ones in chance, nothing elsewhere."""
    return 5.0 if opened & chance_bit else 0.0


def most_left(opened: int, upper: int, bonus: int, most_above: Any, most_below: Any) -> float:
    """Return the most points that open categories can give, the bonus included if it can still be earned."""
    above = most_above[opened & 63]
    earned = bonus if upper < UPPER <= upper + above else 0
    return float(above + most_below[opened >> 6] + earned)


def most_extra(opened: int, fifty: bool, five: int, jokers: int) -> float:
    """Return the most points that jokers can add."""
    if jokers == NO_JOKERS:
        return 0.0
    turns = ones_in(opened)
    return float(EXTRA * (turns if fifty else turns - 1 if opened >> five & 1 else 0))


def most_marked(opened: int, upper: int, bonus: int, hand: int, most: Any, most_above: Any, most_below: Any) -> float:
    """Return the most points there can be when the dice of this turn, or those kept of them, are all it has."""
    best = 0.0
    for category in range(most.shape[1]):
        if opened >> category & 1:
            now = most[hand, category]
            rest = opened ^ 1 << category
            reached = min(UPPER, upper + now) if category < 6 else upper
            earned = bonus if upper < UPPER <= reached else 0
            best = max(best, now + earned + most_left(rest, reached, bonus, most_above, most_below))
    return best


def least_marked(opened: int, upper: int, bonus: int, hand: int, least: Any, chance_bit: int) -> float:
    """Return the fewest points there can be when the dice of this turn, or those kept of them, are all it has."""
    worst = 1e9
    for category in range(least.shape[1]):
        if opened >> category & 1:
            now = least[hand, category]
            earned = bonus if category < 6 and upper < UPPER <= upper + now else 0
            worst = min(worst, now + earned + least_left(opened ^ 1 << category, chance_bit))
    return worst


def wanted(
    opened: int,
    needed: int,
    hand: int,
    rolls: int,
    points: Any,
    bonus: int,
    gains: Any,
    aims: Any,
    five: int,
    jokers: int,
) -> int:
    """Return what a simple player does: pick the category that this hand helps most, and keep the best dice for it.

    The bonus helps where the dice hold the points above that are needed for it.
    """
    left = ROLLS - rolls
    best, most = -1, 0
    for category in range(gains.shape[1]):
        if opened >> category & 1 == 0 or (left == 0 and not may_mark(opened, hand, category, five, jokers)):
            continue
        gain = int(gains[left, category, hand - HANDS])
        if category < 6 and points[hand - HANDS, category] >= needed:
            gain += bonus
        if best < 0 or gain > most:
            best, most = category, gain
    return MASKS + best if left == 0 else int(aims[left - 1, best, hand - HANDS])


def greedy(state: ab.State, seat: int) -> int:
    """Choose as rollouts do: the category that the dice help most, and the best keep for that one alone."""
    return state.game.rules.rollout_action(state.data, seat, ab.Random(0))


# What a point above counts towards the bonus, by the rule of thumb that the simple player follows.
ABOVE = 1.0


def policy_tables(points: Any) -> tuple[Any, Any]:
    """Return (rerolls left, category, hand) → how much better than usual it stands, in parts of a point, and the keeps.

    A point in ones to sixes counts twice, as 63 of them earn the bonus; what a category usually gives, aimed at for a
    whole turn, is taken off. Whole games played so give 226.9 points on average.
    """
    worth, masks, start = scores.aims(points)
    weight = np.array([1.0 + ABOVE if category < 6 else 1.0 for category in range(points.shape[1])])
    gains = np.round(PARTS * (weight[:, None] * (worth - start[:, None]))).astype(np.int16)
    return gains, masks


def category_numbers(names: Sequence[str], given: str | Sequence[str] | None, game: str) -> list[int]:
    """Return the numbers of categories given by name, all if none are; a text has commas or + between them."""
    if given is None:
        return list(range(len(names)))
    parts = given.replace("+", ",").split(",") if isinstance(given, str) else given
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) for part in parts):
        raise UsageError(f"{game}: categories are given by name, e.g. 'ones,chance', found {shown(given)}")
    found = []
    for part in parts:
        name = part.strip().replace(" ", "_").lower()
        if name not in names:
            raise UnknownNameError(f"category of {game}", name, names)
        found.append(names.index(name))
    if len(set(found)) != len(found) or not found:
        raise UsageError(f"{game}: name at least one category, each once, found {shown(given)}")
    return found
