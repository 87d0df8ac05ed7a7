"""DOT and GraphML hold every name of a column, whatever characters are in it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from credimi.questions.network.result import dot, graphml

NAMES = ['say "hi"', "back\\slash", "two\nlines", "red\x1b[31m", "tab\there"]
NAMES += ["nul\0end", "\r", "&amp;", "R&D", "\u202egnp"]


def _network(names: list[str]) -> dict[str, object]:
    return {"columns": names, "edges": []}


@pytest.mark.parametrize("name", NAMES)
def test_dot_has_no_control_characters(name: str) -> None:
    lines = dot(_network([name])).splitlines()
    assert len(lines) == 4
    assert lines[2].isprintable()
    assert re.fullmatch(r'  "(\\.|[^"\\])*";', lines[2])


def test_names_stay_different_in_dot() -> None:
    names = [*NAMES, "two\\nlines", "red[31m", "nulend", "&", "tab here"]
    assert len(set(dot(_network(names)).splitlines()[2:-1])) == len(names)


def test_graphml_keeps_names_as_far_as_xml_can_hold_them() -> None:
    root = ET.fromstring(graphml(_network(NAMES)))  # noqa: S314  (written by ourselves)
    labels = [each.text for each in root.iter("{http://graphml.graphdrawing.org/xmlns}data")]
    assert labels == [re.sub("[\x00\x1b]", "\ufffd", name) for name in NAMES]
