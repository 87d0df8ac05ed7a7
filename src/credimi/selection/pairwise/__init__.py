"""Every two columns: posteriors, and forests."""
