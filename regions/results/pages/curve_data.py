# SPDX-License-Identifier: MIT
"""What does a page know about a curve?

The same arrays as about a partition of a segment, so that the page reads both: the regions are the pieces of the curve,
and the coordinate is its parameter, from 0 to 1. The vertices are in the order of the curve. An arc has vertices inside
its pieces too, because its images are bent; outputs between two vertices are interpolated there.
Cost: a forward pass at each vertex for each layer that is shown.
"""

from __future__ import annotations

import numpy as np

from regions.domains import Segment
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.strands import Strands
from regions.results.pages.curve_images import dense_times, images_of
from regions.results.pages.further_bits import further_bits, further_kinks
from regions.results.pages.page_data import PageData, chosen_outputs
from regions.results.pages.sections import Sections, narrowest

__all__ = ["curve_data"]

# A curve with arcs has at least this many vertices.
DRAWN = 1000


def curve_data(strands: Strands, starts: Floats) -> PageData:
    """Collect what a page needs; ``starts`` are the parameters at which the strands begin, float64 [m].

    Raises
    ------
    NonFiniteError
        A value beyond the largest double.
    """
    straight = isinstance(strands.curve.legs[0], Segment)
    between = 0 if straight else -(-DRAWN // len(strands))
    times = dense_times(starts, between)
    inputs = strands.curve.to_input(times)
    values = np.asarray(strands.network(inputs), dtype=np.float64)
    outputs, factor = chosen_outputs([values])
    # A piece that runs through the end of a closed curve has two regions with one number.
    begins = strands.starts(strands.depth - 1)
    begins[0] = True
    firsts = np.flatnonzero(begins)
    kinks = _kinks_at(strands, firsts)
    facet_regions = np.stack([np.arange(len(kinks)) - 1, np.arange(len(kinks))], axis=1)
    facet_regions[[0, -1]] = [[0, -1], [len(firsts) - 1, -1]]
    patterns = strands.packed_patterns[firsts]
    places, bits = further_bits(patterns, facet_regions, kinks)
    also = further_kinks(strands.network.graph, kinks, places, bits)
    corners = np.append(firsts, len(strands)) * (between + 1)
    sections = Sections()
    sections.add("corners", np.stack([corners[:-1], corners[1:]], axis=1), "i4")
    sections.add("facets", np.stack([np.arange(len(firsts)), np.arange(len(firsts)) + 1], axis=1), "i4", new=True)
    sections.add("kinks", kinks, narrowest(kinks))
    sections.add("vertices", times, "f8")
    sections.add("values", (values[:, outputs] / factor).T, "f4")  # a division by a power of two
    sections.add("extra", np.stack([places, bits], axis=1), "i4")
    sections.add("also", np.stack(also, axis=1), "i4")
    sections.add("roots", np.zeros(1), "i4")
    sections.add("patterns", patterns[0], "u1")
    if len(firsts) > strands.count:
        sections.add("numbers", np.append(np.arange(len(firsts) - 1), 0), "i4")
    panels, images = images_of(strands.network, inputs, times)
    sections.add("images", images, "f4")
    header = {
        "dimension": 1,
        "frame": [1.0],
        "centre": [0.5],
        "unit": 1.0,
        "ends": [1, 1],
        "view": [],
        "outputs": outputs.tolist(),
        "factor": factor,
        "curve": "straight" if straight else "bent",
        "steps": [
            {
                "regions": len(firsts),
                "found": strands.count,
                "vertices": len(times),
                "facets": len(kinks),
                "complete": True,
                "panels": panels,
                "index": sections.index,
            }
        ],
    }
    return PageData(header, sections.text())


def _kinks_at(strands: Strands, firsts: Integers) -> Integers:
    """Return the kink of each end of a piece, int64 [pieces + 1]: -1 at the ends of the curve."""
    places, switched = strands.switches
    found = np.searchsorted(places, firsts[1:])
    return np.concatenate([[-1], switched[found], [-1]])
