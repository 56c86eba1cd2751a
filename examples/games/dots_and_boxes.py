"""Dots and Boxes on 3 by 3 boxes, to be trained: anabranch train examples/games/dots_and_boxes.py:DotsAndBoxes."""

import numpy as np

import anabranch as ab

# Twenty-four lines: twelve across, row by row, then twelve down, row by row; a box is four of them.
BOXES = [(r * 3 + c, r * 3 + c + 3, 12 + r * 4 + c, 13 + r * 4 + c) for r in range(3) for c in range(3)]


class DotsAndBoxes(ab.CompiledGame):
    """Players draw a line in turn; who closes a box owns it and goes on. The most boxes win."""

    zero_sum = True

    def __init__(self):
        self.players, self.actions = 2, 24
        self.boxes = np.array([sum(1 << line for line in box) for box in BOXES], np.int64)
        self.observation = (34,)  # lines drawn; how many lines each box still needs, /4; the observer's lead, /9
        self.state = ab.record(lines=np.int32, mover=np.int8, lead=np.int8)

    def turn(self, state):
        return ab.OVER if state.lines == (1 << 24) - 1 else ab.player(state.mover)

    def legal(self, state, player, actions):
        count = 0
        for line in range(24):
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
        if state.lines == (1 << 24) - 1:
            rewards[0] = (state.lead > 0) - (state.lead < 0)
            rewards[1] = -rewards[0]

    def observe(self, state, player, planes):
        for line in range(24):
            planes[line] = state.lines >> line & 1
        for number in range(9):
            missing = self.boxes[number] & ~state.lines
            while missing:
                missing &= missing - 1
                planes[24 + number] += 0.25
        planes[33] = (state.lead if player == 0 else -state.lead) / 9

    def action_name(self, action):
        return f"{'across' if action < 12 else 'down'} {action % 12 + 1}"
