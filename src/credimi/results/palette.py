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

_LIGHT = {
    "ground": "#fcfcfb",
    "raised": "#ffffff",
    "ink": "#1b1f24",
    "quiet": "#59636e",
    "line": "#d8dde3",
    "accent": "#0b5cad",
    "keep": "#0b5cad",
    "unsure": "#a34a00",
    "drop": "#6a737d",
    "more": "#0b6e3b",
    "less": "#a3260c",
    "above": "#2f7fd0",  # behind the cells of a table: more rows than if independent
    "below": "#e08a2e",
} | {f"c{place}": colour for place, colour in enumerate(CLASSES)}
_LIGHT["c6"] = "#c9b800"  # yellow that is seen on white
_DARK = {
    "ground": "#14171b",
    "raised": "#1c2026",
    "ink": "#e8ebee",
    "quiet": "#a3adb8",
    "line": "#353c45",
    "accent": "#78b8ff",
    "keep": "#78b8ff",
    "unsure": "#ffb061",
    "drop": "#9aa5b1",
    "more": "#6fd39b",
    "less": "#ff9d86",
    "above": "#4a9be8",
    "below": "#d98324",
    "c0": "#4da3dc",
    "c6": "#f0e442",
}


def heat(share: float) -> tuple[str, str]:
    """The colour of a share from 0 to 1, and black or white, whichever is read better on it.

    The contrast is (L + .05)/.05 with black and 1.05/(L + .05) with white, L the relative luminance (WCAG 2): from
    L = .179 on black is better, and either side has at least 4.5.
    """
    parts = [round(low + share * (high - low)) for low, high in zip(*HEAT, strict=True)]
    linear = [(each / 255 + 0.055) ** 2.4 / 1.055**2.4 if each > 10 else each / 255 / 12.92 for each in parts]
    luminance = sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#" + "".join(f"{each:02x}" for each in parts), "#000" if luminance > 0.179 else "#fff"


def variables() -> str:
    """The colours as CSS variables, of light and of dark pages."""
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in each.items()) for each in (_LIGHT, _DARK))
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
