"""Fuzzers: random inputs against plain oracles and laws that have to hold. `python -m fuzz --seconds 60` runs them."""
