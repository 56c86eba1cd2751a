"""Pictures as SVG text: shapes, colours, boards, layouts. Knows nothing of games; games and searches draw with it."""
