"""A ranking to look at: one HTML page, figures, small tables for notebooks."""
