"""Networks by name, as torch modules: `ab.nets.make("tower", game, channels=64, blocks=5)`.

A network is given what one player sees and answers with a logit per action and a value per player, from that player's
seat: itself first, then the next one, and so on around the table. Importing this needs no torch; making a network does.
"""

from anabranch.nets.files import load, save
from anabranch.nets.registry import make, names

__all__ = ["load", "make", "names", "save"]
