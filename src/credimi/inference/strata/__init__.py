"""Information given other columns."""
