"""Ours beside the peers': the questions, who answers them and how, and the race between two processes."""
