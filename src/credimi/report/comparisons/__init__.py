"""Comparisons, shown."""
