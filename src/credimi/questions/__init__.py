"""One folder for each question: the function, its answer, how it is found and what it draws."""
