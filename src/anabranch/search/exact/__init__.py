"""Exact solutions of finite games, which share no formula with the search they are held against."""
