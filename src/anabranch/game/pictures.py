"""A state as a picture: the board as its game draws it, or its text, and whose turn it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.draw.inert import inert
from anabranch.draw.palette import PAPER, PLAYERS, SOFT
from anabranch.draw.picture import Picture, text_picture
from anabranch.draw.svg import circle, document, rect, text, text_width
from anabranch.draw.words import wrapped
from anabranch.errors import GameError, UsageError
from anabranch.game.players import together
from anabranch.game.words import CHANCE, OVER

if TYPE_CHECKING:
    from anabranch.game.game import Game
    from anabranch.game.state import State

LONGEST_LINE = 40  # letters across of a text that stands for a board


def board_picture(state: State) -> Picture:
    """Return the board alone, as small pictures inside others want it."""
    drawn = state.game.svg(state)
    if drawn is None:
        return text_picture("\n".join(wrapped(str(state), LONGEST_LINE)))
    if not isinstance(drawn, str):
        raise GameError(f"{state.game.name}: svg(state) must return SVG text or None, found {type(drawn).__name__}")
    try:
        picture = Picture(inert(drawn))
        _ = picture.size, picture.board
    except UsageError as error:
        raise GameError(f"{state.game.name}: svg(state) returned what cannot be shown: {error}") from None
    return picture


def player_name(game: Game, seat: int) -> str:
    """Return what a player is called in pictures and tables."""
    return game.player_name(seat)


def player_names(game: Game) -> list[str]:
    """Return what all players are called, in the order of their seats."""
    return [player_name(game, seat) for seat in range(game.players)]


def situation(state: State) -> str:
    """Say who acts, in words."""
    turn = state.turn
    if turn == OVER:
        return "the game is over"
    if turn == CHANCE:
        return "chance decides"
    assert isinstance(turn, tuple)
    if len(turn) == 1:
        return f"{player_name(state.game, turn[0])} to move"
    return f"{together(state.game, turn)} choose at once"


def state_picture(state: State) -> Picture:
    """Return the board with a line below that says who acts, each acting player with a dot like its stones."""
    board, words, size = board_picture(state), situation(state), 13
    seats = state.turn if isinstance(state.turn, tuple) else ()
    # Where the board has no colours of players there is nothing a dot could stand for.
    dots = [board.stones[seat % len(board.stones)] for seat in seats[:8]] if board.stones else []
    wide = 15 * len(dots) + text_width(words, size) + 4
    width, height = max(board.width, wide + 24), board.height + 28
    left = (width - wide) / 2
    caption = [
        circle(left + 15 * at + 5, height - 18, 5, fill=colour, stroke=None if colour in PLAYERS else SOFT)
        for at, colour in enumerate(dots)
    ]
    caption.append(text(left + 15 * len(dots) + 2, height - 13.5, words, size=size, fill=SOFT))
    ground = rect(0, 0, width, height, fill=PAPER, rx=6)
    placed = board.inside(0, 0, width, board.height)
    return Picture(document(width, height, ground, placed, *caption, background=None))
