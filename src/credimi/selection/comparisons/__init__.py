"""Two samples, or the groups of one, compared."""
