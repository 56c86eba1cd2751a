"""Go: surround the other's stones to take them; whoever holds more of the board wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.boards import EMPTY, points_board
from anabranch.game.board import cell_name, column_names, draw_board, square_symmetries
from anabranch.game.board_text import place as place_name
from anabranch.game.board_text import read_board, refuse
from anabranch.game.parameters import one_of, real, whole

LARGEST = 19
RECENT = 8  # boards that a player observes
#: Size → komi with which best play is a draw: van der Werf and Winands 2009 up to 5×5, the experts' verdict on 6 and 7.
FAIR = {2: 1.0, 3: 9.0, 4: 2.0, 5: 25.0, 6: 4.0, 7: 9.0}
USUAL = 7.5  # on other boards, as in tournaments that count areas

# What lies on a cell; a stone is its owner's seat + 1. The border spares asking whether a neighbour is on the board.
FREE, BORDER = 0, 3

ONE, WORD = np.uint64(1), 64
SHOWN = ("black (x)", "white (o)")  # the players and their marks, as `text` has them


class Go(ab.CompiledGame):
    """Place stones in turn; stones without a free neighbour left are taken, and whoever holds more of the board wins.

    Action = point, row by row from the top left; size² is the pass. A move that leaves its own chain without a free
    neighbour is illegal (no suicide), and so is one that brings back any earlier board of this game, whoever moved
    then (positional superko). Two passes in a row end the game, and so do `plies` plies, 2·size² unless given. The
    board is counted as it lies: a player's area is its stones and the empty regions that touch only its stones. The
    first player, black, wins if its area exceeds the other's by more than `komi`, loses if by less, draws if by
    exactly that. Komi is 9 on 7×7, by default what makes best play a draw on boards up to that size, else 7.5.

    A player observes 17 planes: its stones and the other's, now and before each of the last seven plies, then ones
    where black is to move (Silver et al. 2017).

    Which positions are one node. Superko lets all earlier boards decide what may be played, so with merge="none",
    the default, only games with the same moves meet: a search grows a tree. With merge="bounded" positions with the
    same board, ply and passes are one node while no board can come back within `bound` plies, and are told apart by
    their recent boards otherwise. After a move that leaves it in a chain of S stones, beside empty regions of E points
    in all, the board before the move cannot come back within S+E−1 plies, counting the move itself, whatever the
    players do. So a cycle of at most `bound` plies contains no move with S+E > bound, and boards before the last such
    move do not matter to it. That is sound for cycles of up to `bound` plies: nodes are shared only where all of these
    are forbidden or allowed alike. Of longer ones a search may allow what the way to a position forbids, or the other
    way round; the moves that are played obey superko in full, whatever the bound. A bound of size² and above forgets
    nothing.
    """

    title = "go"
    zero_sum = True

    def __init__(
        self,
        size: int = 7,
        komi: float | None = None,
        *,
        plies: int | None = None,
        merge: str = "none",
        bound: int = 11,
    ) -> None:
        self.size = whole("size", size, 2, LARGEST)
        self.points = size * size
        self.komi = real("komi", FAIR.get(size, USUAL) if komi is None else komi, -1000, 1000)
        self.plies = whole("plies", 2 * self.points if plies is None else plies, 1, 10_000)
        self.bounded = one_of("way to merge positions of go", merge, ("none", "bounded")) == "bounded"
        self.bound = whole("bound", bound, 1, 1_000_000)
        self.players, self.actions = 2, self.points + 1
        self.observation = (2 * RECENT + 1, size, size)
        self.fates = {"ownership": (size, size), "margin": ()}
        # Cells are the points and a border: a row of it above and below, a column at the left, which is also the right
        # neighbour of the row above.
        self.width = size + 1
        self.cells = (size + 2) * self.width
        self.sides = np.array([-self.width, -1, 1, self.width])
        boards = (np.uint64, (self.plies + 1, 2, -(-self.points // WORD)))
        self.state = ab.record(
            boards=boards,  # [ply, seat]: that seat's stones before this ply, a bit for each point; zeros to come
            board=(np.int8, self.cells),  # the last of them, cell by cell
            links=(np.int8 if self.cells < 128 else np.int16, self.cells),  # the next stone of a chain, all in a ring
            fallen=(np.int8, self.cells),  # whose stones were ever taken there: 1 the first player's, 2, or 3 both
            since=np.int16,  # the first of the boards that can still come back within the bound
            ply=np.int16,
            passes=np.int8,
        )
        self.key_record = ab.record(boards=boards, ply=np.int16, passes=np.int8)

    def setup(self, state: Any, random: Any) -> None:
        for cell in range(self.cells):
            row, column = cell // self.width, cell % self.width
            if row == 0 or row > self.size or column == 0:
                state.board[cell] = BORDER

    def turn(self, state: Any) -> int:
        return ab.OVER if state.passes == 2 or state.ply == self.plies else ab.player(state.ply % 2)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        count, mover = 0, state.ply % 2  # not `player`: rollouts would compile all of this once for each seat
        for point in range(self.points):
            cell = cell_of(point, self.size)
            if (
                state.board[cell] == FREE
                and can_breathe(state.board, state.links, self.sides, cell, mover)
                # Only where a stone of this colour was taken can placing one bring back a board that had it.
                and not (state.fallen[cell] >> mover & 1 and repeats(state, self.sides, self.size, point, mover))
            ):
                actions[count] = point
                count += 1
        actions[count] = self.points
        return count + 1

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.ply % 2
        action = actions[mover]
        now = state.ply + 1
        for seat in range(2):
            for word in range(state.boards.shape[2]):
                state.boards[now, seat, word] = state.boards[state.ply, seat, word]
        state.ply = now
        if action == self.points:
            state.passes += 1
        else:
            state.passes = 0
            cell = cell_of(action, self.size)
            place(state.board, state.links, self.sides, cell, mover)
            state.boards[now, mover, action // WORD] |= bit(action)
            for side in range(4):
                beside = cell + self.sides[side]
                if state.board[beside] == 2 - mover and not has_liberty(
                    state.board, state.links, self.sides, beside, cell
                ):
                    take(state, self.size, beside, 1 - mover)
            if self.bounded and least_cycle(state.board, state.links, self.sides, cell, self.bound) > self.bound:
                state.since = now
        if state.passes == 2 or now == self.plies:
            lead = area_lead(state.board, state.links, self.sides, self.size) - self.komi
            if lead != 0:
                rewards[0] = 1.0 if lead > 0 else -1.0
                rewards[1] = -rewards[0]

    def key(self, state: Any, key: Any) -> None:
        key.ply, key.passes = state.ply, state.passes
        for ply in range(state.since, state.ply + 1):
            for seat in range(2):
                for word in range(state.boards.shape[2]):
                    key.boards[ply, seat, word] = state.boards[ply, seat, word]

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for back in range(min(RECENT, state.ply + 1)):
            for side in range(2):
                for point in range(self.points):
                    if has_stone(state.boards, state.ply - back, (player + side) % 2, point):
                        planes[2 * back + side, point // self.size, point % self.size] = 1.0
        if state.ply % 2 == 0:
            for point in range(self.points):
                planes[2 * RECENT, point // self.size, point % self.size] = 1.0

    def fate(self, states: Sequence[ab.State], player: int) -> Mapping[str, Any]:
        """Tell whose area each point is in at the end, and the lead with komi, as a share of the board and komi."""
        areas = self._areas(states[-1])
        sign = 1 if player == 0 else -1
        lead = (areas.sum() - self.komi) / (self.points + abs(self.komi))
        return {"ownership": sign * areas, "margin": sign * lead}

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Return the seven turns and flips."""
        return square_symmetries(self.size, planes=2 * RECENT + 1, other_actions=1)

    def player_name(self, player: int) -> str:
        """Return the colour of the player's stones."""
        return ("black", "white")[player]

    def action_name(self, action: int) -> str:
        """Return the point's name, a1 at the bottom left and no letter left out, or "pass"."""
        return "pass" if action == self.points else cell_name(action, self.size, self.size)

    def text(self, state: ab.State) -> str:
        """Draw the board; x is black."""
        board = draw_board([[".xo"[mark] for mark in row] for row in self._rows(state)])
        if not state.over:
            passed = f"{SHOWN[1 - state.ply % 2]} passed, " if state.passes else ""
            return f"{board}\n{passed}{SHOWN[state.ply % 2]} to move"
        lead = area_lead(state.board, state.links, self.sides, self.size)
        balance = lead - self.komi
        result = f"{SHOWN[int(balance < 0)]} wins by {abs(balance):g}" if balance else "a draw"
        return f"{board}\n{SHOWN[0]} leads by {lead:g} before komi {self.komi:g}: {result}"

    def svg(self, state: ab.State) -> str:
        """Draw the board; a ring marks the last stone placed."""
        cells = [[mark - 1 if mark else EMPTY for mark in row] for row in self._rows(state)]
        placed = [
            divmod(point, self.size)
            for point in range(self.points)
            if state.ply
            and any(has_stone(state.boards, state.ply, seat, point) for seat in range(2))
            and not any(has_stone(state.boards, state.ply - 1, seat, point) for seat in range(2))
        ]
        last = placed if len(placed) == 1 else []  # a board that was set up has no last stone
        return points_board(cells, column_names(self.size), last, black_and_white=True)

    def read(self, text: str) -> ab.State:
        """Read a board and a line that says who moves; a line "black passed" says that the last ply was a pass.

        A text has no history: the board is taken for the first of the game after the empty one, so that nothing else is
        forbidden to come back, and for as early in it as can be.
        """
        drawn = read_board(self, text, self.size, self.size)
        over = drawn.over or "leads by" in drawn.said
        passed = not over and " passed" in drawn.said
        seats = [seat for row in drawn.cells for seat in row]
        if over and " to move" in drawn.said:
            refuse(self, "it is over, or somebody is to move, not both")
        if passed and drawn.mover is not None and f"{self.player_name(drawn.mover)} passed" in drawn.said:
            refuse(self, f"{self.player_name(drawn.mover)} passed, so the other is to move")
        if drawn.mover is None and not over and any(seat != EMPTY for seat in seats):
            refuse(self, "who moves? Add a line that says so, e.g. black to move")
        mover = drawn.mover or 0
        ply = 2 if over else mover + 2 * (passed and mover == 0)
        if ply > self.plies or (ply == self.plies and not over):
            refuse(self, f"the game ends after {self.plies} plies, and this position cannot come that early")
        start = self.start()
        board, links = start.board, start.links
        boards = np.zeros(self.state["boards"].shape, np.uint64)
        for point, seat in enumerate(seats):
            if seat != EMPTY:
                place(board, links, self.sides, cell_of(point, self.size), seat)
                boards[ply, seat, point // WORD] |= bit(point)
        for point, seat in enumerate(seats):
            if seat != EMPTY and not has_liberty(board, links, self.sides, cell_of(point, self.size), 0):
                where = place_name(*divmod(point, self.size), self.size, self.size)
                refuse(self, f"{where}: this chain has no free point beside it and would have been taken; remove it")
        for back in range(2 if over else int(passed)):
            boards[ply - 1 - back] = boards[ply]
        return start.replace(board=board, links=links, boards=boards, ply=ply, passes=2 if over else int(passed))

    def _rows(self, state: ab.State) -> list[list[int]]:
        """Return what lies on the points, top row first."""
        rows: list[list[int]] = state.board.reshape(-1, self.width)[1:-1, 1:].tolist()
        return rows

    def _areas(self, state: ab.State) -> Any:
        """Return 1 on the points of the first player's area, −1 on the second's."""
        areas = np.select([np.array(self._rows(state)) == mark for mark in (1, 2)], [1.0, -1.0])
        board, links = state.board, state.links
        for point in range(self.points):
            cell = cell_of(point, self.size)
            if board[cell] == FREE and links[cell] == 0:
                _, touched = tie(board, links, self.sides, cell, self.points)
                region, here = [point], cell
                while links[here] != here:
                    here = links[here]
                    region.append(point_of(here, self.size))
                areas.reshape(-1)[region] = (0.0, 1.0, -1.0, 0.0)[touched]
        return areas


def cell_of(point: int, size: int) -> int:
    """Return the cell of a point."""
    return (point // size + 1) * (size + 1) + point % size + 1


def point_of(cell: int, size: int) -> int:
    """Return the point that a cell is."""
    return (cell // (size + 1) - 1) * size + cell % (size + 1) - 1


def bit(point: int) -> Any:
    """Return the bit of a point in its word."""
    return ONE << np.uint64(point % WORD)


def has_stone(boards: Any, ply: int, seat: int, point: int) -> bool:
    """Whether a seat had a stone on a point before some ply."""
    return bool(boards[ply, seat, point // WORD] & bit(point) != np.uint64(0))


def has_liberty(board: Any, links: Any, sides: Any, stone: int, filled: int) -> bool:
    """Whether a chain, given by any stone of it, is beside a free cell other than `filled`."""
    here = stone
    while True:
        for side in range(4):
            beside = here + sides[side]
            if board[beside] == FREE and beside != filled:
                return True
        here = links[here]
        if here == stone:
            return False


def can_breathe(board: Any, links: Any, sides: Any, cell: int, mover: int) -> bool:
    """Whether a stone on a free cell would have a liberty: at once, through its chain, or by taking others."""
    for side in range(4):
        if board[cell + sides[side]] == FREE:
            return True
    for side in range(4):
        beside = cell + sides[side]
        if board[beside] != BORDER:
            own = board[beside] == mover + 1
            if has_liberty(board, links, sides, beside, cell) == own:
                return True
    return False


def repeats(state: Any, sides: Any, size: int, point: int, mover: int) -> bool:
    """Whether a stone on a point brings back an earlier board; boards are compared bit by bit, not by a hash."""
    boards, now, word, filled = state.boards, state.ply + 0, point // WORD, cell_of(point, size)
    sought = boards[now, mover, word] | bit(point)
    for ply in range(now - 1, -1, -1):
        same = bool(boards[ply, mover, word] == sought)
        if same:  # which is rare
            for other in range(boards.shape[2]):
                same &= bool(other == word or boards[ply, mover, other] == boards[now, mover, other])
                same &= bool(boards[ply, 1 - mover, other] & ~boards[now, 1 - mover, other] == np.uint64(0))
            for each in range(size * size):
                if same and has_stone(boards, now, 1 - mover, each):
                    stays = has_liberty(state.board, state.links, sides, cell_of(each, size), filled)
                    same = stays == has_stone(boards, ply, 1 - mover, each)
        if same:
            return True
    return False


def place(board: Any, links: Any, sides: Any, cell: int, mover: int) -> None:
    """Put a stone on a cell and join the chains of its colour beside it."""
    board[cell] = mover + 1
    links[cell] = cell
    for side in range(4):
        beside = cell + sides[side]
        if board[beside] == mover + 1 and not in_chain(links, cell, beside):
            # Two rings become one where two of their stones swap successors.
            following = links[cell]
            links[cell] = links[beside]
            links[beside] = following


def in_chain(links: Any, stone: int, sought: int) -> bool:
    """Whether a stone belongs to another one's chain."""
    here = links[stone]
    while here != stone and here != sought:
        here = links[here]
    return bool(here == sought)


def take(state: Any, size: int, stone: int, owner: int) -> None:
    """Take a chain off the board."""
    here = stone
    while state.board[here] != FREE:
        following = state.links[here]
        point = point_of(here, size)
        state.boards[state.ply, owner, point // WORD] &= ~bit(point)
        state.board[here] = FREE
        state.fallen[here] |= owner + 1
        state.links[here] = 0
        here = following


def least_cycle(board: Any, links: Any, sides: Any, cell: int, enough: int) -> int:
    """Return the fewest plies of a cycle that contains the move just played on a cell, or anything above `enough`.

        S + E,   S stones in the chain on the cell, E points in the empty regions beside the cell

    To bring the board before the move back, the cell must become free, so the whole chain is taken, and its other
    S−1 stones are placed again; and each of the E points is filled at some time: while one is not, the chain, or
    whoever took its other liberties, breathes through it. With the move itself that makes S+E plies. (KataGo's theorem;
    no move on 2×2 and 3×3 is an exception, and some need no more.)
    """
    total, here = 1, links[cell]
    while here != cell and total <= enough:
        total += 1
        here = links[here]
    for side in range(4):
        beside = cell + sides[side]
        if total <= enough and board[beside] == FREE and links[beside] == 0:
            total += tie(board, links, sides, beside, enough)[0]
    for side in range(4):
        beside = cell + sides[side]
        if board[beside] == FREE:
            untie(links, beside)
    return total


def tie(board: Any, links: Any, sides: Any, first: int, enough: int) -> tuple[int, int]:
    """Link the cells of a free region in a row from one of them on, the last to itself.

    Return how many they are, and whose stones they touch: 0 nobody's, 1 the first player's, 2 the second's, 3 both.
    Where there are more than `enough` the rest is left out.
    """
    links[first] = first
    count, touched, here, last = 1, 0, first, first
    while count <= enough:
        for side in range(4):
            beside = here + sides[side]
            if board[beside] != FREE:
                touched |= board[beside] % BORDER
            elif links[beside] == 0:
                links[last] = beside
                links[beside] = beside
                last = beside
                count += 1
        if links[here] == here:
            break
        here = links[here]
    return count, touched


def untie(links: Any, first: int) -> None:
    """Undo what `tie` did, from a cell on."""
    here = first
    while links[here] != 0:
        following = links[here]
        links[here] = 0
        here = following


def area_lead(board: Any, links: Any, sides: Any, size: int) -> int:
    """Return the first player's area less the second's."""
    lead = 0
    for point in range(size * size):
        cell = cell_of(point, size)
        if board[cell] != FREE:
            lead += 3 - 2 * board[cell]
        elif links[cell] == 0:
            count, touched = tie(board, links, sides, cell, size * size)
            if touched == 1:
                lead += count
            elif touched == 2:
                lead -= count
    for point in range(size * size):
        cell = cell_of(point, size)
        if board[cell] == FREE:
            links[cell] = 0
    return lead
