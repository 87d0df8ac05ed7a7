"""The colours: one palette for pages, figures and terminals.

Those of classes and lines are the colours of Okabe and Ito, which remain distinct for all kinds of colour blindness;
shapes and words show the same.
"""

from __future__ import annotations

BLUE, ORANGE, GREEN, PINK, SKY, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a828c"
LINE = "#9aa2ab"  # between the nodes of a tree
CLASSES = (BLUE, ORANGE, GREEN, PINK, SKY, RED, "#f0e442", GREY)
LINES = (BLUE, RED, GREEN, PINK, SKY)
VERDICTS = {"keep": BLUE, "unsure": RED, "drop": GREY}
TERMINAL = {"keep": "green", "unsure": "yellow", "drop": "dim", "not ranked": "dim"}
TERMINAL |= {"more": "green", "less": "red", "same": "dim", "not compared": "dim"}
TERMINAL |= {"synergy": "green", "redundancy": "red"}
HEAT = ((242, 246, 251), (8, 48, 107))  # from no row of a class to all
