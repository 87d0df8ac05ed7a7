"""Tables kept as codes, row by row, and what is counted from them."""
