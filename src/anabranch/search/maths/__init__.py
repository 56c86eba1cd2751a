"""Pure functions under their equations: scores, policies, random draws, matrix games."""
