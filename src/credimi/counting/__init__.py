"""From data to counts."""
