"""One report on a table and its target: all questions asked at once."""
