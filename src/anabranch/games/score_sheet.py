"""Yatzy and Yahtzee on paper: a position as text, read back from it, and drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from anabranch.draw.sheets import score_sheets
from anabranch.errors import UnknownNameError, UsageError, shown
from anabranch.games import dice
from anabranch.games.dice import DICE, HANDS, MULTISETS
from anabranch.games.scores import UPPER

if TYPE_CHECKING:
    from anabranch.game.state import State
    from anabranch.games.yatzy import Yatzy

ROLLS = 3
DOING = re.compile(
    r"(?:player (?P<mover>[01]), )?(?P<after>after )?roll (?P<roll>[123]) of 3: (?P<dice>(?:\[[1-6 ]\] ?){5})"
)
SHEET = re.compile(
    r"(?:player (?P<seat>[01]): )?(?P<points>[0-9]{1,4}) points, (?P<upper>[0-9]{1,2}) of 63 above"
    r"(?P<fifty>, 50 for yahtzee)?; open: (?P<open>[a-z0-9_, ]+)"
)


def sheet_text(game: Yatzy, state: State) -> str:
    """Write the dice and each player's points and open categories, with what the dice count there for the mover."""
    lines = ["over"]
    if not state.over:
        who = f"player {state.mover}, " if game.players > 1 else ""
        roll = f"roll {state.rolls + 1}" if state.rolling else f"after roll {state.rolls}"
        lines = [f"{who}{roll} of {ROLLS}: {dice.shown(int(state.hand))}"]
    for seat in range(game.players):
        who = f"player {seat}: " if game.players > 1 else ""
        fifty = ", 50 for yahtzee" if state.fifty[seat] else ""
        points, upper = int(state.points[seat]), int(state.upper[seat])
        names = [f"{name} {count}" if count >= 0 else name for name, count in _open(game, state, seat)]
        lines.append(f"{who}{points} points, {upper} of {UPPER} above{fifty}; open: {', '.join(names) or 'none'}")
    return "\n".join(lines)


def sheet_picture(game: Yatzy, state: State, names: Sequence[str]) -> str:
    """Draw the dice of the mover and the sheets of all players."""
    mover = None if state.over else int(state.mover)
    hand = int(state.hand)
    faces: list[int | None] = [*MULTISETS[hand], *(None,) * (DICE - len(MULTISETS[hand]))]
    sheets = []
    for seat in range(game.players):
        opened = dict(_open(game, state, seat))
        sheets.append([opened.get(name) for name in game.category_names])
    note = "over" if mover is None else f"roll {state.rolls + bool(state.rolling)} of {ROLLS}"
    totals = [(int(state.upper[seat]), int(state.points[seat])) for seat in range(game.players)]
    return score_sheets(
        names,
        game.category_names,
        sheets,
        totals,
        UPPER,
        faces if mover is not None else [],
        mover,
        note,
        rolling=bool(state.rolling),
    )


def _open(game: Yatzy, state: State, seat: int) -> list[tuple[str, int]]:
    """Return a player's open categories and what the dice count there, −1 where they are not its own to mark."""
    own = not state.over and not state.rolling and seat == state.mover
    found = []
    for number, name in enumerate(game.category_names):
        if int(state.open[seat]) >> number & 1:
            found.append((name, int(game.points[int(state.hand) - HANDS, number]) if own else -1))
    return found


def read_sheet(game: Yatzy, text: str) -> State:
    """Return the state that a text shows."""
    doing, sheets = DOING.search(text), list(SHEET.finditer(text))
    over = text.strip().startswith("over")
    seats = [int(sheet["seat"] or 0) for sheet in sheets]
    if (doing is None) != over or seats != list(range(game.players)):
        raise UsageError(f"{game.name}: write a position as it is printed, e.g.\n{game.start()}\nfound {shown(text)}")
    opened = [_bits(game, sheet["open"]) for sheet in sheets]
    upper = [int(sheet["upper"]) for sheet in sheets]
    points = [int(sheet["points"]) for sheet in sheets]
    fifty = [sheet["fifty"] is not None for sheet in sheets]
    for seat in range(game.players):
        _check_sheet(game, opened[seat], upper[seat], points[seat], fifty[seat])
    mover = 0 if doing is None else int(doing["mover"] or 0)
    marks = [bits.bit_count() for bits in opened]
    if mover >= game.players or any(
        marks[seat] != marks[mover] - (seat < mover) for seat in range(game.players) if not over
    ):
        raise UsageError(
            f"{game.name}: {' and '.join(map(str, marks))} categories are open and player {mover} is to move; players "
            f"take turns, player 0 first, so they have as many, or player 0 one less"
        )
    if over != (not any(opened)):
        raise UsageError(f"{game.name}: the game is over once no category is open, and not before")
    state = game.start().replace(open=opened, upper=upper, points=points, fifty=fifty, mover=mover)
    if doing is None:
        return state.replace(rolling=True, hand=0, rolls=0)
    faces = [int(face) for face in re.findall("[1-6]", doing["dice"])]
    rolling = doing["after"] is None
    rolls = int(doing["roll"]) - rolling
    if (not rolling and len(faces) != DICE) or (rolling and rolls == 0 and faces):
        raise UsageError(
            f"{game.name}: after a roll all five dice show a face, before the first none does; found {doing['dice']}"
        )
    return state.replace(hand=dice.number_of(faces), rolls=rolls, rolling=rolling)


def _bits(game: Yatzy, text: str) -> int:
    bits = 0
    for part in text.split(","):
        name = re.sub(r" [0-9]+$", "", part.strip())
        if name == "none" and not bits:
            continue
        if name not in game.category_names:
            raise UnknownNameError(f"category of {game.name}", name, game.category_names)
        bits |= 1 << game.category_names.index(name)
    return bits


def _check_sheet(game: Yatzy, opened: int, upper: int, points: int, fifty: bool) -> None:
    """Refuse totals that no marks add up to."""
    gone = [face for face in range(1, 7) if not opened >> (face - 1) & 1]
    sums = {min(UPPER, sum(marks)) for marks in product(*(range(0, 5 * face + 1, face) for face in gone))}
    sums |= {min(UPPER, each + game.first_upper) for each in sums}
    if upper not in sums:
        raise UsageError(f"{game.name}: {upper} points above cannot be, with {len(gone)} of ones to sixes marked")
    earned = game.bonus if upper == UPPER > game.first_upper else 0
    if points + game.first_upper < upper + earned:
        raise UsageError(f"{game.name}: {points} points in all are less than the {upper} above and the bonus for them")
    if fifty and (game.jokers == 0 or opened >> game.five & 1):
        raise UsageError(f"{game.name}: there are no 50 points for yahtzee while it is open, or without jokers")
