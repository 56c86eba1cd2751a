"""Results as people read them: one sheet of facts, written as text, as HTML and as a picture; and the graph drawn."""
