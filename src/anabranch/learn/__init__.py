"""Learning by self-play: self-play → replay → targets → learner → export → gate → rating, one file each.

`loop.py` reads like this line. Importing this needs no torch; training does.
"""
