"""Where `engine/` still looks for the noise on a root's priors; it lives in `root_rule`."""

from anabranch.search.maths.root_rule import noised_priors as noised_priors
