"""Networks, shown."""
