"""Counts that grow."""
