"""Bounds on information."""
