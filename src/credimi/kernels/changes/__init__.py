"""Differences of information between two samples."""
