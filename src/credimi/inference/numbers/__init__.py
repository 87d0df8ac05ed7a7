"""Numbers without a single cut that decides: the posterior averaged over all cuts."""
