"""Tic-tac-toe in plain Python, for whoever takes rules as objects: the same lines run in ours and in the peers'.

A board is (cells of x, cells of o, plies) with nine bits a side.
"""

from __future__ import annotations

LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
HAS_LINE = [any(cells & line == line for line in LINES) for cells in range(512)]
Board = tuple[int, int, int]


def free_cells(board: Board) -> list[int]:
    """Return the cells not taken."""
    taken = board[0] | board[1]
    return [cell for cell in range(9) if not taken >> cell & 1]


def play(board: Board, cell: int) -> Board:
    """Return the board after a move."""
    first, second, ply = board
    return (first, second | 1 << cell, ply + 1) if ply & 1 else (first | 1 << cell, second, ply + 1)


def is_over(board: Board) -> bool:
    """Whether somebody has a line or the board is full."""
    return HAS_LINE[board[0]] or HAS_LINE[board[1]] or board[2] == 9


def payoffs(board: Board) -> list[float]:
    """Return what both players get at the end."""
    return [1.0, -1.0] if HAS_LINE[board[0]] else [-1.0, 1.0] if HAS_LINE[board[1]] else [0.0, 0.0]


class PlainState:
    """A board with the methods of an OpenSpiel state that the adapters call."""

    __slots__ = ("board",)

    def __init__(self, board: Board = (0, 0, 0)) -> None:
        self.board = board

    def clone(self) -> PlainState:
        """Return a copy."""
        return PlainState(self.board)

    def current_player(self) -> int:
        """Return who acts, a negative number when nobody does."""
        return -4 if is_over(self.board) else self.board[2] & 1

    def legal_actions(self) -> list[int]:
        """Return the free cells."""
        return free_cells(self.board)

    def child(self, action: int) -> PlainState:
        """Return the board after a move."""
        return PlainState(play(self.board, action))

    def apply_action(self, action: int) -> None:
        """Move, here."""
        self.board = play(self.board, action)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return is_over(self.board)

    def returns(self) -> list[float]:
        """Return what both players get."""
        return payoffs(self.board)

    def __str__(self) -> str:
        return str(self.board)
