"""Where names stand in a picture of a network: not over lines, arrow heads and other names, if there is room."""

from __future__ import annotations

import numpy as np
import pytest
from command_helpers import CLINIC

import credimi
from credimi.questions.network.view import label_sides


def test_a_name_stands_on_the_side_without_lines() -> None:
    dots = np.array([[0.0, 0.0], [0.0, 200.0], [200.0, 0.0], [-200.0, 0.0]])
    (offset, horizontal, vertical), *_ = label_sides(dots, [(1, 0), (0, 2), (3, 0)], ["middle", "up", "right", "left"])
    assert offset[1] < 0.0
    assert (horizontal, vertical) == ("center", "top")


def test_names_of_neighbours_do_not_overlap() -> None:
    dots = np.array([[0.0, 0.0], [20.0, 0.0]])
    (first, *_), (second, *_) = label_sides(dots, [], ["a long name", "another one"])
    assert first != second


def test_no_name_of_the_clinic_covers_another_or_the_end_of_an_arrow() -> None:
    pytest.importorskip("matplotlib")
    network = credimi.network(str(CLINIC), exclude=["patient"])
    axes = network.plot()
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    names = [text for text in axes.texts if text.get_text() in network.names]
    boxes = {text.get_text(): text.get_window_extent() for text in names}
    assert set(boxes) == set(network.names)
    for name, box in boxes.items():
        assert not any(box.overlaps(other) for another, other in boxes.items() if another != name)
    for edge in network.edges:
        ends = [next(text.xy for text in names if text.get_text() == end) for end in (edge.a, edge.b)]
        if edge.direction == "<-":
            ends.reverse()
        (x, y), tip = axes.transData.transform(ends)
        pointing = tip + (np.array([x, y]) - tip) / np.hypot(*(np.array([x, y]) - tip)) * 10.0 * figure.dpi / 72.0
        if edge.direction != "--":
            assert not any(box.contains(*pointing) for box in boxes.values())
