# SPDX-License-Identifier: MIT
"""Which colours do regions, classes and layers have?

Regions are filled with light colours so that neighbours differ: a greedy colouring of their graph, starting with
regions that have many neighbours. A hash of the pattern picks one of the free colours, so the same partition has the
same colours in every picture and on every machine. If the colours run out, paler ones follow: neighbours always differ.
Classes have colours that a legend can name. Layers are ordered, so their colours get lighter one by one.
All can be distinguished by people with colour-vision deficiencies. The light colours are from Paul Tol (*Colour
schemes*, 2021, "light", without its olive). The colours of classes are from Matthew Petroff (*Accessible color
sequences for data visualization*, 2021), and the colours of layers from matplotlib's plasma, without its end that is
too light for a line.
Cost: about two microseconds a region.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.pattern_index import hash_patterns
from regions.arithmetic.types import Floats, Integers
from regions.cells.complex import CellComplex

__all__ = ["class_colors", "color_numbers", "layer_colors", "light_colors", "region_colors"]

LIGHT = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#dddddd")
CLASSES = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
# Plasma up to three quarters, in equal steps: red, green, blue, from 0 to 255.
PLASMA = ((13, 8, 135), (76, 2, 161), (126, 3, 168), (170, 35, 149), (204, 71, 120), (230, 108, 92), (248, 149, 64))


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
    return 1 - 0.75 * (1 - _repeated(LIGHT, count))


def class_colors(count: int) -> Floats:
    """Return that many colours for classes, float64 [count, 3]."""
    return 1 - 0.85 * (1 - _repeated(CLASSES, count))


def layer_colors(count: int) -> Floats:
    """Return a colour for each layer, float64 [count, 3], from dark blue over purple to orange."""
    places = np.linspace(0, len(PLASMA) - 1, max(count, 2))[:count]
    anchors = np.array(PLASMA) / 255
    return np.stack([np.interp(places, range(len(PLASMA)), column) for column in anchors.T], axis=1)


def _repeated(words: tuple[str, ...], count: int) -> Floats:
    base = np.array([[int(word[start : start + 2], 16) for start in (1, 3, 5)] for word in words]) / 255
    rounds, places = np.divmod(np.arange(count), len(words))
    return 1 - (1 - base[places]) * 0.5 ** rounds[:, np.newaxis]
