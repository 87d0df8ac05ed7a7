"""Columns together: the smallest set, all that matter, pairs that tell more together."""
