"""From values to codes: missing values, labels, types, discretization, and what a column is."""
