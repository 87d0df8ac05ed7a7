"""Moments of mutual information: of one table, and of many at once."""
