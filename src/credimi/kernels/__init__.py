"""The compiled loops: plain functions on plain arrays. Nothing here knows a label, a frame or a file."""
