"""Scripts, style and markup of the page."""
