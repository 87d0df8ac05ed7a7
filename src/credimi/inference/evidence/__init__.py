"""The evidence of a prior, and of independence."""
