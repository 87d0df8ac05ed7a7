"""How columns hang together: networks, learned from conditional evidence, with the probability of every edge."""
