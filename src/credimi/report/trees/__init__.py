"""Trees, shown."""
