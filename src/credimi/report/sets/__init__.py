"""Selections and interactions, shown."""
