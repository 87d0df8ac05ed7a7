"""A number and classes: the posterior averaged over all cuts, and the most probable ranges."""
