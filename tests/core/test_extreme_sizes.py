# SPDX-License-Identifier: MIT
"""Are lengths and areas right if a double can hold them, for any size of the coordinates?

They are compared with fractions. Larger numbers are infinite, or pictures refuse them, without numpy warnings.
"""

from __future__ import annotations

import io
import re
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

import regions
from raw_from_reference import partition_from_reference, sorted_regions
from regions.constructions import arrangement
from regions.domains import Domain, Line, Polygon, Rectangle, Segment
from regions.domains.gram import determinant, gram_matrix
from regions.errors import DomainError
from regions.ground.arithmetic.dyadic import square_root
from regions.networks.network import Network
from regions.pictures.plot import plot
from regions.results.partition import Partition

pytestmark = pytest.mark.filterwarnings("error")


def box(left: float, bottom: float, right: float, top: float) -> Polygon:
    return Polygon([[left, bottom], [right, bottom], [right, top], [left, top]])


def cut_at(x: float, slope: float = 0.0) -> Network:
    """One neuron, zero on a line through (x, 0)."""
    return arrangement([[1.0, slope]], [-x])


IN_PLANE = {
    "squares beyond the largest double": (cut_at(1e100, 1.0), box(0, 0, 1e200, 1e100)),
    "the large part beyond it": (cut_at(1e100), box(0, 0, 1e200, 1e200)),
    "products of coordinates beyond it": (cut_at(1.5e170), box(1e170, 1e170, 2e170, 2.0**10 * 1e170)),
    "wider than it": (cut_at(1e307, 1e308), box(-1.5e308, 0, 1.5e308, 0.25)),
    "squares below the smallest double": (cut_at(2e-170), box(0, 0, 1e-169, 1e-140)),
    "both parts below it": (cut_at(2e-170), box(0, 0, 1e-169, 1e-169)),
    "long and thin": (cut_at(1e200, 1e200), box(0, 0, 3e200, 1e-300)),
    "as thin as can be": (cut_at(1e300), box(0, 0, 1.5e300, 5e-324)),
    "a large chart": (cut_at(1e199, 1.0), Rectangle([0, 0], [1e200, 0], [0, 1e200])),
    "a small chart": (cut_at(1e-201, 1.0), Rectangle([0, 0], [1e-200, 0], [0, 1e-200])),
    "a chart of two sizes": (cut_at(1e-201), Rectangle([0, 0], [1e-200, 1e-250], [0, 1e200])),
    "a small chart of large coordinates": (
        cut_at(0.25),
        Polygon.in_chart([0, 0], [[1e-250, 0], [1e-250, 1e-250]], [[0, 0], [1e250, 0], [0, 1e250]]),
    ),
    "a side beyond it": (
        arrangement(np.ones((1, 9)), [-1e307]),
        Rectangle(np.zeros(9), np.full(9, 1e308), np.arange(-4.0, 5.0)),
    ),
}
ON_LINE = {
    "longer than the largest double": (
        arrangement([[1.0]], [1.0]),
        Domain([0.0], [[1e-10]], [[1.0, -1.5e308], [1.0, 1.5e308]]),
    ),
    "a direction beyond it": (cut_at(1.0), Segment([0, 0], [1.5e308, 1.5e308])),
    "a short direction": (cut_at(1e-310), Segment([0, 0], [1e-308, 1e-312])),
}
CASES = {**IN_PLANE, **ON_LINE}

everywhere = pytest.mark.parametrize(("network", "domain"), CASES.values(), ids=CASES)


def draw(partition: Partition) -> None:
    figure = Figure()
    plot(partition, figure.add_subplot())
    figure.savefig(io.BytesIO(), format="svg")


def near(true: float) -> object:
    return pytest.approx(true, rel=1e-12, abs=5e-324)


@everywhere
def test_volumes(network: Network, domain: Domain) -> None:
    squared_scale = determinant(gram_matrix(domain.directions))
    found = sorted_regions(network, domain)
    true = [square_root(squared_scale * region.volume**2) for region in found]
    assert len(true) == 2
    assert partition_from_reference(network, domain).volumes.tolist() == near(true)
    assert sorted(regions.enumerate(network, domain).volumes) == near(sorted(true))


@pytest.mark.parametrize(("network", "domain"), IN_PLANE.values(), ids=IN_PLANE)
def test_lengths_of_facets(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    gram = gram_matrix(domain.directions)
    for ends, length in zip(partition.vertices[partition.facet_vertices], partition.facet_volumes, strict=True):
        x, y = (Fraction(b) - Fraction(a) for a, b in ends.T.tolist())
        squared = x * x * gram[0][0] + 2 * x * y * gram[0][1] + y * y * gram[1][1]
        assert length == near(square_root(squared))


@everywhere
def test_points_inside(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    cells = np.split(partition.cell_vertices, partition.cell_offsets[1:-1])
    for corners, point in zip(cells, partition.interior_points, strict=True):
        axes = [[Fraction(x) for x in axis] for axis in partition.vertices[corners].T.tolist()]
        assert point.tolist() == near([float(sum(axis) / len(axis)) for axis in axes])


@everywhere
def test_drawings_for_notebooks(network: Network, domain: Domain) -> None:
    drawing = partition_from_reference(network, domain)._repr_html_().partition("<svg")[2]
    assert "nan" not in drawing and "inf" not in drawing
    corners = [x for points in re.findall("points='([^']*)'", drawing) for x in re.split("[ ,]", points)]
    bars = re.findall("<rect .* x='([^']*)' .*width='([^']*)'", drawing.replace("/>", "/>\n"))
    reached = max([float(x) for x in corners] + [float(x) + float(width) for x, width in bars])
    assert reached == 240.0  # the drawing fills its frame


@pytest.mark.parametrize(("network", "domain"), IN_PLANE.values(), ids=IN_PLANE)
def test_no_cell_is_folded(network: Network, domain: Domain) -> None:
    assert partition_from_reference(network, domain).folded_cells().tolist() == []


@pytest.mark.slow
def test_pictures() -> None:
    for name in ("a large chart", "a small chart", "a chart of two sizes", "both parts below it", "a short direction"):
        draw(partition_from_reference(*CASES[name]))
    for name in ("wider than it", "longer than the largest double"):
        with pytest.raises(DomainError, match=r"the chart reaches 1.5e\+308; numbers above 1e\+300 cannot be drawn"):
            draw(partition_from_reference(*CASES[name]))
    steep = arrangement([[1e300]], [0.0])
    with pytest.raises(DomainError, match=r"output 0 reaches 1e\+306"):
        draw(partition_from_reference(steep, Segment([-1.0], [1e6])))


def test_a_kink_that_no_double_reaches() -> None:
    """The kink is at 1e600 along the line. Its stored vertex is infinite, and it still counts as one point."""
    network = arrangement([[1e-300, 0.0], [0.0, 1.0]], [-1e300, 0.0])
    partition = partition_from_reference(network, Line([0, 0], [1, 1e-300]))
    assert partition.vertices[:, 0].tolist() == [-np.inf, 0.0, np.inf, np.inf]
    assert partition.facet_volumes.tolist() == [0.0, 1.0, 1.0, 0.0]
    assert partition.volumes.tolist() == [np.inf] * 3
    draw(partition)


@pytest.mark.slow
def test_terms_that_overflow_prove_nothing() -> None:
    """The second layer is positive from x = 3/4 on, and its first term alone is beyond the largest double."""
    large = 2.0**1021
    layers = [([[large]] * 3, None), ([[-16.0, 14.0, 3.0]], [-0.75 * large]), ([[1.0]], None)]
    network, segment = Network(layers), Segment([0.5], [1.0])
    partition = regions.enumerate(network, segment)
    assert partition.patterns[:, 3].tolist() == [False, True]
    assert partition.locate([[0.625], [0.875]]).tolist() == [0, 1]
    near = regions.measures.distance_to_boundary(network, [[0.625], [0.875]])
    assert (near.distances.tolist(), near.kinks.tolist()) == ([0.125, 0.125], [3, 3])
    report = regions.certify(partition, network)
    assert report.conclusion == "proved: there are exactly 2 regions"
    assert [item.name for item in report.unchecked] == ["affine maps"]
    assert "beyond the largest double" in report.unchecked[0].finding
    assert regions.check(network, segment).ok
