"""From data to counts: how often each class of the target occurs with each value of each feature."""
