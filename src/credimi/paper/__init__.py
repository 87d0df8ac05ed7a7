"""Prequential runs, and the experiments of Hutter and Zaffalon (2003) repeated."""
