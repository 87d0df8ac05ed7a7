"""Shows rankings and distributions: terminal, notebook, one HTML page, figures, CSV."""
