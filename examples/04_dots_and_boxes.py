"""Dots and Boxes on 2 by 2 boxes: a game whose averages mislead, and a search that knows what is certain."""

import numpy as np

import anabranch as ab

# Twelve lines: six across, row by row, then six down, row by row; a box is four of them.
BOXES = [(r * 2 + c, r * 2 + c + 2, 6 + r * 3 + c, 7 + r * 3 + c) for r in range(2) for c in range(2)]


class DotsAndBoxes(ab.CompiledGame):
    """Players draw one of twelve lines in turn; who closes a box owns it and goes on. The most boxes win."""

    zero_sum = True

    def __init__(self):
        self.players, self.actions = 2, 12
        self.boxes = np.array([sum(1 << line for line in box) for box in BOXES], np.int64)
        self.state = ab.record(lines=np.int16, mover=np.int8, lead=np.int8)

    def turn(self, state):
        return ab.OVER if state.lines == 4095 else ab.player(state.mover)

    def legal(self, state, player, actions):
        count = 0
        for line in range(12):
            if not state.lines >> line & 1:
                actions[count] = line
                count += 1
        return count

    def step(self, state, actions, rewards):
        mover = state.mover
        line = actions[mover]
        state.lines |= 1 << line
        closed = 0
        for box in self.boxes:
            if box >> line & 1 and state.lines & box == box:
                closed += 1
        state.lead += closed if mover == 0 else -closed
        if closed == 0:
            state.mover = 1 - mover
        if state.lines == 4095:
            rewards[0] = (state.lead > 0) - (state.lead < 0)
            rewards[1] = -rewards[0]

    def action_name(self, action):
        return f"{'across' if action < 6 else 'down'} {action % 6 + 1}"


game = DotsAndBoxes()
ab.check(game, seconds=1).raise_if_failed()
exact = ab.solve(game)
best = exact.best_of(game.start())[0]
names = ", ".join(map(game.action_name, best))
print(f"{exact.states} states, worth {exact.value[0]:+.0f} to the first; best: {names}")
for proofs in ("off", "on"):
    for simulations in (1000, 5000, 30_000):
        result = ab.search(game.start(), simulations=simulations, config=ab.SearchConfig(proofs=proofs))
        verdict = "best" if result.action in best else "not best"
        known = ", solved" if result.proven else ""
        print(
            f"proofs {proofs}, {result.simulations} simulations: {game.action_name(result.action)}, {verdict}; "
            f"value {result.value[0]:+.3f}{known}"
        )
