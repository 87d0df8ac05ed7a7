"""How many rows a table of survey weights is worth."""
