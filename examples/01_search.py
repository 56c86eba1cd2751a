"""Search a position of connect four: x has two stones side by side, and two of the seven moves win by force."""

import anabranch as ab

game = ab.games.load("connect_four")
state = game.start()
for column in "ddee":
    state, rewards = state.step(game.parse_action(column))
print(state)

result = ab.search(state, simulations=1000)
print(result)
