"""What rules are: the verbs of a game, compiled games, object games, symmetries, and `check`."""
