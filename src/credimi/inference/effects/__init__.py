"""What each value of a feature means for the classes: the posterior of their shares, and of their order."""
