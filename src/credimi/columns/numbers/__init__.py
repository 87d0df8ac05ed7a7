"""Columns of numbers: sorted, cut into ranges, or used as codes."""
