"""The least and the largest information if values are missing not quite at random."""
