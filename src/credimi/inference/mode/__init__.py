"""The mode of the cell probabilities."""
