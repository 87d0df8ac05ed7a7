"""Trees that split only where it is credible."""
