"""How Sphinx builds these pages: `python3 tools/bootstrap.py docs`, into build/docs.

Nothing is fetched, neither while building nor by a reader's browser. Formulas are text, so that no script has to draw
them.
"""

import sys
from pathlib import Path

from credimi import __version__

sys.path.insert(0, str(Path(__file__).resolve().parent / "extensions"))

project = "credimi"
author = "the credimi developers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "command_help",
    "offline",
    "session",
]
exclude_patterns = ["extensions"]

myst_heading_anchors = 3

# The docstrings write names between single backticks. Those that are documented become links, the others are code.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", ".*"),  # see default_role
    ("py:class", r"(sklearn|numpy)\..*"),  # the bases of scikit-learn, whose pages are elsewhere
]
autodoc_typehints = "none"  # the docstrings say what may be passed, in words
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_param = False  # types are words, not names to link to
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

copybutton_prompt_text = "$ "  # commands are copied without it, and their output is not copied

html_theme = "furo"
html_title = f"credimi {release}"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "tango"
