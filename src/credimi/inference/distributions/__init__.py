"""The distribution of mutual information, and what it is made of."""
