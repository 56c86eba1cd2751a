"""Agents that choose moves, matches between them, and a game at the terminal."""
