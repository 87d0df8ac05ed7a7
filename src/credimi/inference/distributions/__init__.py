"""The distribution of mutual information, and its components."""
