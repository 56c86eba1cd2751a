"""Shut the box, a dice game for one, to be trained: anabranch train examples/games/shut_the_box.py:ShutTheBox."""

import itertools

import numpy as np

import anabranch as ab


class ShutTheBox(ab.CompiledGame):
    """Roll two dice and shut open tiles, 1 to 9, that add up to them; when that cannot be done the game is over.

    Tiles are shut one by one. The return is the sum of all tiles that were shut, up to 45.
    """

    def __init__(self):
        self.players, self.actions, self.outcomes = 1, 9, 11
        self.returns = (0.0, 45.0)
        self.rewards_along = True
        self.observation = (22,)  # tiles that are open; what is left to be shut, one of 0 to 12
        # Which sums can be made of a set of tiles.
        self.sums = np.zeros((512, 13), np.bool_)
        for tiles in range(512):
            open_tiles = [tile + 1 for tile in range(9) if tiles >> tile & 1]
            for count in range(len(open_tiles) + 1):
                for some in itertools.combinations(open_tiles, count):
                    if sum(some) <= 12:
                        self.sums[tiles, sum(some)] = True
        self.state = ab.record(tiles=np.int16, left=np.int8, over=np.bool_)

    def setup(self, state, random):
        state.tiles = 511

    def turn(self, state):
        if state.over:
            return ab.OVER
        return ab.CHANCE if state.left == 0 else ab.player(0)

    def chance(self, state, outcomes, probabilities):
        for total in range(2, 13):
            outcomes[total - 2] = total - 2
            probabilities[total - 2] = (6 - abs(total - 7)) / 36
        return 11

    def legal(self, state, player, actions):
        count = 0
        for tile in range(9):
            rest = state.left - tile - 1
            if state.tiles >> tile & 1 and rest >= 0 and self.sums[state.tiles & ~(1 << tile), rest]:
                actions[count] = tile
                count += 1
        return count

    def step(self, state, actions, rewards):
        if state.left == 0:
            state.left = actions[0] + 2
            state.over = not self.sums[state.tiles, state.left]
            return
        tile = actions[0]
        state.tiles &= ~(1 << tile)
        state.left -= tile + 1
        rewards[0] = tile + 1
        state.over = state.tiles == 0

    def observe(self, state, player, planes):
        for tile in range(9):
            planes[tile] = state.tiles >> tile & 1
        planes[9 + state.left] = 1.0

    def action_name(self, action):
        return str(action + 1)
