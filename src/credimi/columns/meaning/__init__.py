"""What the labels of a column are read as: numbers, dates and missing values as people write them."""
