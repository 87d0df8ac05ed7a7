"""Ways to obtain `Counts`: each engine turns one kind of source into batches of columns, and `batches` counts them."""
