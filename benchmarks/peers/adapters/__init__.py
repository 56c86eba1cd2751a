"""One file per peer: how its users would write the search a question asks for."""

EXPLORATION = 1.4  # for every UCT, and for OpenSpiel's PUCT
