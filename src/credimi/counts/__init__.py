"""Counts, and the counters that make them of coded rows: by target, by stratum, by pair, by node."""
