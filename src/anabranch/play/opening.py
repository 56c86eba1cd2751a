"""Random openings: so that two agents without randomness of their own do not play one game again and again."""

from __future__ import annotations

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.random import Random, below, fold
from anabranch.play.agent import Move
from anabranch.play.played import PlayedGame
from anabranch.play.seeds import Purpose, seed_for

USUAL = 4  # plies, where the game is long enough
TRIES = 200


def opened(game: Game, seed: int, pair: int, plies: int) -> PlayedGame:
    """Return the game a pair begins with: so many random plies after the start, and not over.

    Every ply is drawn uniformly over the choices of whoever acts; rolls of the dice are no plies. Openings that end the
    game are drawn again.
    """
    start = game.start(seed_for(seed, Purpose.START, pair))
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


def usual_plies(game: Game, seed: int) -> int:
    """Return how many random plies suit a game: four, or half of the shortest of a few random games."""
    shortest = 2 * USUAL
    for number in range(16):
        played = opened(game, seed, number, 0)
        random, plies = Random(seed_for(seed, Purpose.OPENING, number)), 0
        while plies < shortest and not played.state.over:
            played.play(_random_move(played, random))
            plies += 1
        shortest = min(shortest, plies)
    return shortest // 2


def _random_move(played: PlayedGame, random: Random) -> Move:
    state, turn = played.state, played.state.turn
    assert isinstance(turn, tuple)
    chosen = []
    for seat in turn:
        choices = list(state.choices(seat))
        chosen.append(choices[below(random, len(choices))])
    return chosen[0] if len(chosen) == 1 else tuple(chosen)
