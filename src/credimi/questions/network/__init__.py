"""How columns depend on each other: a network, with the probability of every edge."""
