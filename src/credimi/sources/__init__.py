"""One module for each kind of source, and the door from any data to counts and codes."""
