# SPDX-License-Identifier: MIT
"""Can the colours of classes and of layers be told apart, with each kind of colour vision?

The measure is the closest two colours of Okabe and Ito. A test in the browser measures the colours of pages.
"""

from __future__ import annotations

import numpy as np
import pytest

from color_distances import OKABE_ITO, ciede2000, least_distance, rgb
from regions.results.pages.colors import class_colors, layer_colors


@pytest.mark.parametrize(
    ("first", "second", "distance"),  # from the table of Sharma, Wu and Dalal
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (61, -5, 29), 22.8977),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_formula_of_distances(first: tuple[float, ...], second: tuple[float, ...], distance: float) -> None:
    assert ciede2000(np.array([first]), np.array([second]))[0] == pytest.approx(distance, abs=1e-4)


def test_colours_are_as_far_apart_as_those_of_okabe_and_ito() -> None:
    least = least_distance(rgb(OKABE_ITO))
    assert least == pytest.approx(10.9, abs=0.05)
    assert least_distance(class_colors(13)) > least
    for count in range(2, 7):
        assert least_distance(layer_colors(count)) > least


@pytest.mark.parametrize(("count", "least"), [(16, 8.3), (24, 7.2)])
def test_further_classes_have_colours_of_their_own(count: int, least: float) -> None:
    assert least_distance(class_colors(count)) > least


def test_no_class_is_nearly_white_and_after_all_colours_they_repeat() -> None:
    colors = class_colors(60)
    for color in colors:
        assert least_distance(np.stack([color, np.ones(3)])) > 7.2
    np.testing.assert_array_equal(colors[24:48], colors[:24])
