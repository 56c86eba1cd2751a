"""Two layers of randomness: the played game's dice belong to its events, and a search cannot see them."""

from __future__ import annotations

import math

import pytest

import anabranch as ab
from anabranch.play.played import PlayedGame
from anabranch.play.seeds import Purpose, seed_for

YATZY = ab.games.load("yatzy")
FACES = 6


class Guess(ab.ObjectGame):
    """Say what a die will show; one point if it does. Whoever sees the die to come is always right."""

    returns = (0.0, 1.0)

    def __init__(self):
        self.players, self.actions, self.outcomes = 1, FACES, FACES

    def setup(self, random):
        return ("guess", 0)

    def turn(self, state):
        return {"guess": ab.player(0), "roll": ab.CHANCE, "over": ab.OVER}[state[0]]

    def legal(self, state, player):
        return list(range(FACES))

    def chance(self, state):
        return [(face, 1 / FACES) for face in range(FACES)]

    def step(self, state, actions):
        if state[0] == "guess":
            return ("roll", actions[0]), [0.0]
        return ("over", 0), [float(actions[0] == state[1])]


MODES = {
    "spread": ab.Chance(exact_up_to=0),
    "sampled": ab.Chance(draw="sampled", exact_up_to=0),
    "inside": ab.Chance(draw="in_transition"),
    "exact": ab.Chance(exact_up_to=FACES),
    "default": ab.Chance(),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("simulations", [6, 30])
def test_a_search_that_knows_every_seed_does_not_see_the_die(mode, simulations):
    """It is given the seed of the dice as its own, and as its stream: it guesses no better than one in six.

    Searches that saw the die to come would be right always. Five standard errors.
    """
    game, right, runs = Guess(), 0, 600
    for dice in range(runs):
        played = PlayedGame(game.start(), dice)
        config = ab.SearchConfig(chance=mode, seed=dice, selector=ab.Puct(ties="random"))
        searcher = ab.Searcher(game, ab.Uniform(), config, threads=1)
        root = searcher.root(played.state, stream=dice)
        (result,) = searcher.run(root, simulations=simulations)
        assert isinstance(result.action, int)
        played.play(result.action)
        right += int(played.returns[0])
    assert abs(right / runs - 1 / FACES) < 5 * math.sqrt(5 / 36 / runs)


def test_a_player_who_sees_the_dice_would_be_noticed():
    """The same measurement catches a cheat: one who asks the played game what its die will show."""
    game, right = Guess(), 0
    for dice in range(50):
        played = PlayedGame(game.start(), dice)
        face = played.state.step(0)[0].draw(dice, len(played.moves) + 1)
        played.play(face)
        right += int(played.returns[0])
    assert right == 50


def test_turns_do_not_tell_the_seed_of_the_dice():
    """What agents are given to draw from rolls other dice than the game does."""
    seeds = {seed_for(7, purpose, 3) for purpose in Purpose}
    assert len(seeds) == len(Purpose)


def faces(state: ab.State, outcome: int) -> str:
    return state.game.outcome_name(outcome)


def test_players_who_keep_different_dice_see_the_same_faces_in_the_same_order():
    """Of one event the dice fall one by one: who rerolls two sees the first two of those who reroll five."""
    game = YATZY
    for seed in range(20):
        first = PlayedGame(game.start(), seed)
        hand = first.state
        by_size: dict[int, list[str]] = {}
        for mask in hand.choices(0):
            rolled = 5 - bin(mask).count("1")
            after = hand.step(mask)[0]
            name = faces(after, after.draw(seed, 99))
            by_size.setdefault(rolled, []).append(name)
        assert all(len(set(names)) == 1 for names in by_size.values())  # whatever was kept, the faces are the same
        for few in range(1, 5):
            some, more = sorted(by_size[few][0]), sorted(by_size[few + 1][0])
            for face in some:
                more.remove(face)
            assert len(more) == 1


def test_played_dice_do_not_depend_on_what_was_played_before():
    """Two agents in a match of Yatzy roll the same first dice in every turn of theirs."""
    game = ab.games.load("yatzy", players=2)
    match = ab.match(game, "random", lambda state, seat: state.legal(seat)[0], games=4, openings=0, seed=5)
    for pair in range(2):
        seen = []
        for record in match.records[2 * pair : 2 * pair + 2]:
            states = record.states(game)
            firsts = {}
            for state, move in zip(states, record.moves, strict=False):
                if state.turn == ab.CHANCE and len(state.outcomes()) == 252:
                    event = tuple(game.rules.event(state.data))
                    firsts[event] = move
            seen.append(firsts)
        common = set(seen[0]) & set(seen[1])
        assert len(common) >= 30
        assert all(seen[0][event] == seen[1][event] for event in common)
