"""From tables of counts to posteriors of mutual information."""
