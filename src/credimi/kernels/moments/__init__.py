"""Compiled moments of mutual information: one table, and many at once."""
