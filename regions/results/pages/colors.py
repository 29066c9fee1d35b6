# SPDX-License-Identifier: MIT
"""Which colours do regions, classes and layers have?

Regions are filled with light colours so that neighbours differ: a greedy colouring of their graph, starting with
regions that have many neighbours. A hash of the pattern picks one of the free colours, so the same partition has the
same colours in every picture and on every machine. If the colours run out, paler ones follow: neighbours always differ.
Classes have colours that a legend can name; after 24 classes the colours repeat. Layers are ordered, so their colours
get lighter one by one.
All can be distinguished by people with colour-vision deficiencies. The light colours are from Paul Tol (*Colour
schemes*, 2021, "light", without its olive). The colours of classes and layers were found by a search: as they are seen
in pictures and pages, any two of thirteen classes, or of up to six layers, are at least as far apart as the closest two
colours of Okabe and Ito (*Color universal design*, 2008), which is 10.9 in CIEDE2000. Any two of 16 classes are at
least 8.3 apart, and any two of 24 at least 7.2. This holds for normal vision and for protanopia, deuteranopia and
tritanopia in the model of Machado, Oliveira and Fernandes (2009). `tests/pictures/test_colors.py` measures it.
Cost: about two microseconds a region.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.pattern_index import hash_patterns
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.complex import CellComplex

__all__ = ["class_colors", "color_numbers", "layer_colors", "light_colors", "region_colors"]

LIGHT = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#dddddd")
CLASSES = (
    "#8186ff", "#c88403", "#98225d", "#60e5ff", "#399365", "#e6d484", "#4645b8", "#555910", "#c5d0c5", "#96869f",
    "#002d00", "#0f0087", "#b4ff00", "#2d003c", "#694b3c", "#0f6987", "#96a55a", "#4b00ff", "#5a5aff", "#ff96d2",
    "#87a596", "#e1ffd2", "#f0b43c", "#b45ab4",
)  # fmt: skip
# The colours of layers are between these, in equal steps.
LAYERS = ("#0f0052", "#17009a", "#752cb0", "#a34da7", "#d04874", "#ee7361", "#ffa451")


def region_colors(cells: CellComplex) -> Floats:
    """Return red, green and blue from 0 to 1 for each region, float64 [R, 3]; neighbours differ."""
    numbers = color_numbers(cells, np.arange(len(cells)))
    return light_colors(int(numbers.max(initial=0)) + 1)[numbers]


def color_numbers(cells: CellComplex, labels: Integers) -> Integers:
    """Return the number of each region's colour, int64 [R]: the same within a label, different for neighbours."""
    count = int(labels.max(initial=-1)) + 1
    pairs = labels[cells.facet_regions[cells.facet_regions[:, 1] >= 0]]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    degrees = np.bincount(ends[:, 0], minlength=count)
    starts = np.concatenate([[0], np.cumsum(degrees)]).tolist()
    others = ends[:, 1].tolist()
    first = np.full(count, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    hashes = hash_patterns(cells.packed_patterns)[first].tolist()
    every = range(len(LIGHT))
    numbers = [-1] * count
    for label in np.argsort(-degrees, kind="stable").tolist():
        used = {numbers[other] for other in others[starts[label] : starts[label + 1]]}
        free = [number for number in every if number not in used] or [max(used) + 1]
        numbers[label] = free[hashes[label] % len(free)]
    return np.array(numbers, dtype=np.int64)[labels]


def light_colors(count: int) -> Floats:
    """Return that many light colours, float64 [count, 3]: the listed colours, then paler and paler ones."""
    base = _numbers(LIGHT)
    rounds, places = np.divmod(np.arange(count), len(LIGHT))
    return 1 - 0.75 * (1 - base[places]) * 0.5 ** rounds[:, np.newaxis]


def class_colors(count: int) -> Floats:
    """Return that many colours for classes, float64 [count, 3]: the listed colours, again and again."""
    return 1 - 0.68 * (1 - _numbers(CLASSES)[np.arange(count) % len(CLASSES)])


def layer_colors(count: int) -> Floats:
    """Return a colour for each layer, float64 [count, 3], from dark blue over purple to orange.

    Two or three layers leave out the light end, which faces may hide.
    """
    places = np.linspace(0, min(count + 2, len(LAYERS) - 1), max(count, 2))[:count]
    return np.stack([np.interp(places, range(len(LAYERS)), column) for column in _numbers(LAYERS).T], axis=1)


def _numbers(words: tuple[str, ...]) -> Floats:
    return np.array([[int(word[start : start + 2], 16) for start in (1, 3, 5)] for word in words]) / 255
