"""Experiments: prequential runs, and those of Hutter and Zaffalon (2003) done again."""
