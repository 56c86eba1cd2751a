"""An environment that cannot be copied, learnt by muzero: a pole on a cart, balanced from what is seen alone.

    anabranch train examples/05_cart_pole.py:CartPole --method muzero

Run as it is, it lets a random player and a simple rule balance the pole. Barto, Sutton and Anderson 1983; constants and
the end after 500 steps are those of Gymnasium's CartPole-v1. Any environment with its reset and step will do.
"""

import math

import numpy as np

import anabranch as ab

GRAVITY, CART, POLE, HALF, FORCE, TICK = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
FAR, STEEP, LONGEST = 2.4, 12 * math.pi / 180, 500


class Pole:
    """The environment: four numbers, and a push to the left or to the right."""

    def reset(self, *, seed):
        self.numbers = np.random.default_rng(seed).uniform(-0.05, 0.05, 4)  # place, speed, angle, its speed
        self.steps = 0
        return self.numbers, {}

    def step(self, action):
        _, speed, angle, turning = self.numbers
        force = FORCE if action == 1 else -FORCE
        sine, cosine = math.sin(angle), math.cos(angle)
        pushed = (force + POLE * HALF * turning**2 * sine) / (CART + POLE)
        angular = (GRAVITY * sine - cosine * pushed) / (HALF * (4 / 3 - POLE * cosine**2 / (CART + POLE)))
        linear = pushed - POLE * HALF * angular * cosine / (CART + POLE)
        self.numbers = self.numbers + TICK * np.array([speed, linear, turning, angular])
        self.steps += 1
        fallen = abs(self.numbers[0]) > FAR or abs(self.numbers[2]) > STEEP
        return self.numbers, 1.0, fallen, self.steps >= LONGEST, {}


class CartPole(ab.EnvironmentGame):
    """A point for every step; with a discount of .99 no episode is worth more than 100."""

    def __init__(self):
        self.players, self.actions, self.observation = 1, 2, (4,)
        self.returns, self.discount, self.rewards_along = (0.0, 100.0), 0.99, True

    def make(self):
        return Pole()

    def action_name(self, action):
        return ("left", "right")[action]


def length(choose, seed):
    """Return how many steps an episode takes."""
    state, steps = CartPole().start(seed), 0
    while not state.over:
        state, _ = state.step(choose(state))
        steps += 1
    return steps


if __name__ == "__main__":
    dice = np.random.default_rng(0)
    at_random = [length(lambda state: int(dice.integers(2)), seed) for seed in range(10)]
    by_rule = [length(lambda state: int(state.observe(0)[2] + state.observe(0)[3] > 0), seed) for seed in range(10)]
    print(f"at random: {np.mean(at_random):.0f} steps, pushing where it falls: {np.mean(by_rule):.0f} of {LONGEST}")
