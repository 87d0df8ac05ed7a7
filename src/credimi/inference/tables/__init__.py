"""Posteriors of many tables at once."""
