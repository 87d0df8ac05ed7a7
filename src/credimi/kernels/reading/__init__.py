"""From bytes to codes."""
