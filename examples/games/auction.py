"""An auction for three, to be trained: anabranch train examples/games/auction.py:Auction."""

import numpy as np

import anabranch as ab

COINS, ITEMS = 8, 5


class Auction(ab.CompiledGame):
    """Five items worth 1 to 5 come in an order drawn at the start; all three bid for each at once, out of eight coins.

    The highest bid takes the item and is paid; a tie of the highest takes nothing and costs nothing. The largest total
    worth wins: 1 to who has most, shared by those who have as much.
    """

    def __init__(self):
        self.players, self.actions = 3, COINS + 1
        self.returns = (0.0, 1.0)
        self.observation = (6 + ITEMS + 3 * (COINS + 1),)  # worths, what is to come, item by item, everybody's coins
        self.state = ab.record(coins=(np.int8, 3), worth=(np.int8, 3), order=(np.int8, ITEMS), round=np.int8)

    def setup(self, state, random):
        for seat in range(3):
            state.coins[seat] = COINS
        for item in range(ITEMS):
            other = ab.below(random, item + 1)
            state.order[item] = state.order[other]
            state.order[other] = item + 1

    def turn(self, state):
        return ab.OVER if state.round == ITEMS else ab.player(0) | ab.player(1) | ab.player(2)

    def legal(self, state, player, actions):
        for bid in range(state.coins[player] + 1):
            actions[bid] = bid
        return state.coins[player] + 1

    def step(self, state, actions, rewards):
        best, winner = -1, -1
        for seat in range(3):
            if actions[seat] > best:
                best, winner = actions[seat], seat
            elif actions[seat] == best:
                winner = -1
        if winner >= 0:
            state.coins[winner] -= best
            state.worth[winner] += state.order[state.round]
        state.round += 1
        if state.round == ITEMS:
            most = max(state.worth[0], state.worth[1], state.worth[2])
            shared = 0
            for seat in range(3):
                shared += state.worth[seat] == most
            for seat in range(3):
                if state.worth[seat] == most:
                    rewards[seat] = 1.0 / shared

    def observe(self, state, player, planes):
        if state.round < ITEMS:
            planes[0] = state.order[state.round] / ITEMS
        for place in range(3):
            seat = (player + place) % 3
            planes[1 + place] = state.worth[seat] / 15
            planes[6 + ITEMS + place * (COINS + 1) + state.coins[seat]] = 1.0
        planes[4] = state.round / ITEMS
        planes[5] = 1.0
        for item in range(state.round, ITEMS):
            planes[6 + state.order[item] - 1] = 1.0
