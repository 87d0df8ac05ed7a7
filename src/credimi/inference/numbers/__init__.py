"""Numbers without a single cut that decides: posteriors over all cuts."""
