"""Counts in a file."""
