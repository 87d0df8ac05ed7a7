"""Compiled search for the mode of the cell probabilities."""
