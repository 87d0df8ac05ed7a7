"""A tree that splits only where it is credible."""
