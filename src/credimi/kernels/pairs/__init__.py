"""All pairs of columns."""
