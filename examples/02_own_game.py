"""A game of one's own, from the rules to the comparison of searches with the exact solution."""

import numpy as np

import anabranch as ab

STOP, ROLL = 0, 1


class HighRoll(ab.CompiledGame):
    """Each player in turn rolls a die up to three times and may stop after any roll; the higher last roll wins."""

    def __init__(self, rolls=3, sides=6):
        self.rolls = rolls
        self.players, self.actions, self.outcomes = 2, 2, sides
        self.state = ab.record(mover=np.int8, left=np.int8, face=np.int8, target=np.int8)

    def setup(self, state, random):
        state.left = self.rolls

    def turn(self, state):
        return ab.OVER if state.mover == 2 else ab.CHANCE if state.face == 0 else ab.player(state.mover)

    def chance(self, state, outcomes, chances):
        for side in range(self.outcomes):
            outcomes[side], chances[side] = side, 1.0 / self.outcomes
        return self.outcomes

    def legal(self, state, player, actions):
        actions[0], actions[1] = STOP, ROLL
        return 2 if state.left > 0 else 1

    def step(self, state, actions, rewards):
        if state.face == 0:  # the die was rolled
            state.face, state.left = actions[0] + 1, state.left - 1
        elif actions[state.mover] == ROLL:
            state.face = 0
        elif state.mover == 0:
            state.mover, state.left, state.face, state.target = 1, self.rolls, 0, state.face
        else:
            state.mover = 2
            rewards[0] = (state.target > state.face) - (state.target < state.face)
            rewards[1] = -rewards[0]

    def action_name(self, action):
        return ("stop", "roll")[action]


game = HighRoll()
ab.check(game, seconds=1).raise_if_failed()
start, exact = game.start(), ab.solve(game)
print(f"exact value {exact.value[0]:+.4f}")
for simulations in (300, 10_000):
    print(f"{simulations} simulations: value {ab.search(start, simulations=simulations).value[0]:+.4f}")
for outcome, _ in start.outcomes():
    state, _ = start.step(outcome)
    searched, best = ab.search(state, simulations=1000).action, exact.best_of(state)[0]
    print(f"after a {outcome + 1}: search {game.action_name(searched)}, exact {game.action_name(best[0])}")
