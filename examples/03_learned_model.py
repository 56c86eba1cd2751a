"""Plan in a learned model: a corridor that a model has learnt, planned through in a batch, and the tree drawn."""

from pathlib import Path

import numpy as np

import anabranch as ab

LENGTH = 8
LEFT, RIGHT = 0, 1


class Corridor:
    """What a network might have learnt of a corridor: a step costs a little, its right end pays; left is safe and dull.

    A latent is a position with one row per state; here it is computed, where a network would multiply matrices.
    """

    actions, players, discount = 2, 1, None  # None: `recurrent` says it step by step, 0 where it ends
    returns = (-1.0, 1.0)

    def initial(self, observations):
        position = np.asarray(observations, np.float32)
        return ab.Initial(position, self.logits(position), self.value(position))

    def recurrent(self, latent, action):
        position = np.maximum(latent + np.where(action == RIGHT, 1.0, -1.0), 0.0).astype(np.float32)
        arrived = position >= LENGTH
        reward = np.where(arrived, 1.0, -0.02)
        discount = np.where(arrived, 0.0, 0.98)
        return ab.Transition(position, reward, self.logits(position), self.value(position), discount)

    def logits(self, position):
        """A prior that is wrong: it prefers to go back."""
        return np.tile(np.array([0.8, 0.0], np.float32), (len(position), 1))

    def value(self, position):
        """Only near the end does it see that something is to be gained."""
        return np.where(position >= LENGTH - 3, 0.5, 0.0).astype(np.float32)

    def action_name(self, action):
        return ("left", "right")[action]


config = ab.SearchConfig(selector=ab.Puct(c_off=2.0, scale="node", first_play=ab.FirstPlay.lowest()))  # MuZero's
plan = ab.plan(Corridor(), [0, 3, 5, 7], config, simulations=100)

print("position  action  visits     value")
for position, action, visits, value in zip([0, 3, 5, 7], plan.action, plan.visits, plan.value[:, 0], strict=True):
    print(f"{position:8}  {('left', 'right')[action]:6}  {visits[LEFT]:3} {visits[RIGHT]:3}   {value:+.3f}")

result = plan[2]
print(result)
picture = result.graph.picture(depth=3)
Path("corridor.svg").write_text(picture.svg, encoding="utf-8")
print("the tree below position 5 is in corridor.svg")
