"""Games that `anabranch new` copies; they are checked like any other game."""
