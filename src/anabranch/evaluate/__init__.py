"""Positions in, (logits, values) out: what the search asks about states it has never seen."""
