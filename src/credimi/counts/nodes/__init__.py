"""The nodes of a tree: which rows are there, and the tables of all columns."""
