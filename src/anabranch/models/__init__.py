"""Planning in learned models: `ab.plan(model, observations, simulations=50)`.

A model says where an action leads instead of rules: `initial` makes a latent of what is seen, `recurrent` steps from
latent to latent. It is searched by the same engine as games are; a latent equals no other, so the graph is a tree.
"""
