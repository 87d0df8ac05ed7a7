"""What an answer is and how it is shown: text, notebook, page, figure, JSON, CSV."""
