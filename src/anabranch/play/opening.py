"""Random openings: so that two agents without randomness of their own do not play one game again and again."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from anabranch.errors import UsageError, shown
from anabranch.game.game import Game
from anabranch.game.random import Random, below, fold
from anabranch.game.state import State
from anabranch.play.agent import Move
from anabranch.play.played import PlayedGame
from anabranch.play.seeds import Purpose, seed_for

USUAL = 4  # plies, where the game is long enough
MEASURED = 65  # random games whose median length is taken
CERTAIN = 5  # long games in a row after which no more are played
SHARE = 10  # times as long as its opening a game is at least
TRIES = 200


def given_openings(game: Game, openings: Sequence[str | State]) -> tuple[State, ...]:
    """Return the positions that pairs begin with, in turn; each must be one that its text tells, for the records."""
    if not openings:
        raise UsageError("openings is empty; give positions, or a number of random plies")
    states = []
    for number, given in enumerate(openings, 1):
        if not isinstance(given, (str, State)):
            raise UsageError(f"opening {number} must be a text or a state, found {shown(given)}")
        state = game.position(str(given))
        if isinstance(given, State) and state != given:
            raise UsageError(
                f"opening {number} has more to it than its text tells, so its games could not be recorded; give the "
                f"text, str(state), if that is what is meant\n{given}"
            )
        if state.over:
            raise UsageError(f"opening {number} is a game that is over; leave it out\n{state}")
        states.append(state)
    return tuple(states)


def opened(game: Game, seed: int, pair: int, plies: int, position: State | None = None) -> PlayedGame:
    """Return the game a pair begins with: so many random plies after the start or a position, and not over.

    Every ply is drawn uniformly over the choices of whoever acts; rolls of the dice are no plies. Openings that end the
    game are drawn again.
    """
    start = game.start(seed_for(seed, Purpose.START, pair)) if position is None else position
    dice = seed_for(seed, Purpose.DICE, pair)
    stream = seed_for(seed, Purpose.OPENING, pair)
    for attempt in range(TRIES):
        played, random = PlayedGame(start, dice), Random(fold(stream, attempt))
        for _ in range(plies):
            if played.state.over:
                break
            played.play(_random_move(played, random))
        if not played.state.over:
            return played
    raise UsageError(
        f"{game.name}: {TRIES} random openings of {plies} plies ended the game; choose fewer openings plies, or 0"
        if plies
        else f"{game.name}: the game is over before anybody has moved"
    )


def usual_plies(game: Game) -> int:
    """Return how many random plies suit a game: four, but at most a tenth of the median length of random games."""
    lengths = []
    for number in range(MEASURED):
        played = opened(game, 0, number, 0)  # always the same games, so that a match's seed does not matter here
        random, plies = Random(seed_for(0, Purpose.OPENING, number)), 0
        while plies < SHARE * USUAL and not played.state.over:
            played.play(_random_move(played, random))
            plies += 1
        lengths.append(plies)
        if len(lengths) == CERTAIN and min(lengths) == SHARE * USUAL:
            break
    return int(median(lengths)) // SHARE


def _random_move(played: PlayedGame, random: Random) -> Move:
    state, turn = played.state, played.state.turn
    assert isinstance(turn, tuple)
    chosen = []
    for seat in turn:
        choices = list(state.choices(seat))
        chosen.append(choices[below(random, len(choices))])
    return chosen[0] if len(chosen) == 1 else tuple(chosen)
