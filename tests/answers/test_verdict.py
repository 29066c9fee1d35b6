# SPDX-License-Identifier: MIT
"""Do properties hold exactly where the reference finds no unsafe corner, and are witnesses unsafe?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import draw
from regions import Domain, Network, Polygon, Segment, reference
from regions.errors import DomainError
from regions.networks.network import with_graph
from regions.networks.parts import signing, with_forms

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
CROSS = Network([(np.vstack([np.eye(2), -np.eye(2)]), None), ([[1.0, 1.0, 1.0, 1.0]], None)])  # |x| + |y|
Polytopes = list[tuple[np.ndarray, np.ndarray]]


def unsafe_in_reference(net: Network, domain: Domain, polytopes: Polytopes) -> tuple[bool, Fraction]:
    """Return whether a corner of the reference's regions, cut by all rows, is unsafe, and the unsafe share of the
    domain.
    """
    rows, bounds = (np.concatenate(parts) for parts in zip(*polytopes, strict=True))
    ends = np.cumsum([len(each) for each, _ in polytopes])
    owners = [range(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    graph = with_forms(net.graph, -rows, bounds)
    violated, unsafe, total = False, Fraction(0), Fraction(0)
    for part in reference.enumerate(with_graph(net, signing(graph)), domain):
        corners = []
        for vertex in part.vertices:
            y = [form[0] + sum(a * x for a, x in zip(form[1:], vertex, strict=True)) for form in part.output]
            corners.append(y)
        total += part.volume
        # The output of the cut network is 0: values come from the network itself, at the corner.
        points = [_outputs(net, domain, vertex) for vertex in part.vertices]
        signs = [[_row(rows, bounds, i, y) >= 0 for i in range(len(rows))] for y in points]
        violated |= any(all(sign[i] for i in own) for sign in signs for own in owners)
        if any(all(sign[i] for sign in signs for i in own) for own in owners):
            unsafe += part.volume
    return violated, unsafe / total


def least_depth(net: Network, domain: Domain, polytopes: Polytopes) -> Fraction:
    """Return the least violation at a corner of the reference's regions, cut where rows of a polytope are equal."""
    rows, bounds = (np.concatenate(parts) for parts in zip(*polytopes, strict=True))
    pairs = [(i, j) for i in range(len(rows)) for j in range(i)]
    apart = np.array([rows[i] - rows[j] for i, j in pairs]).reshape(-1, net.n_out)
    graph = with_forms(
        net.graph, np.vstack([apart, rows]), np.array([bounds[j] - bounds[i] for i, j in pairs] + [*-bounds])
    )
    depths = []
    for part in reference.enumerate(with_graph(net, signing(graph)), domain):
        for vertex in part.vertices:
            y = _outputs(net, domain, vertex)
            depths.append(min(max(-_row(A, b, i, y) for i in range(len(b))) for A, b in polytopes))
    return min(depths)


def _row(rows: np.ndarray, bounds: np.ndarray, i: int, y: list[Fraction]) -> Fraction:
    return Fraction(bounds[i]) - sum(Fraction(a) * value for a, value in zip(rows[i].tolist(), y, strict=True))


def _outputs(net: Network, domain: Domain, vertex: tuple[Fraction, ...]) -> list[Fraction]:
    """Return the outputs of a ReLU network in fractions, layer by layer."""
    x = [
        Fraction(o) + sum(p * Fraction(d) for p, d in zip(vertex, column, strict=True))
        for o, column in zip(domain.origin.tolist(), domain.directions.T.tolist(), strict=True)
    ]
    for index, layer in enumerate(net.layers):
        x = [
            Fraction(b) + sum(Fraction(w) * value for w, value in zip(row, x, strict=True))
            for row, b in zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)
        ]
        if index + 1 < len(net.layers):
            x = [max(value, Fraction(0)) for value in x]
    return x


def drawn_property(net: Network, rng: np.random.Generator, values: np.ndarray) -> Polytopes:
    """Return polytopes near the values of the network, with bounds that corners attain exactly."""
    polytopes = []
    for _ in range(int(rng.integers(1, 3))):
        rows = rng.integers(-1, 2, (int(rng.integers(1, 3)), net.n_out)).astype(float)
        polytopes.append((rows, rows @ values[rng.integers(len(values))]))
    return polytopes


RELU = [
    "generic",
    "ternary_weights",
    "zero_bias",
    "small_integer",
    "one_bit_weights",
    "sparse_discrete",
    "touching",
    "strips",
]


@pytest.mark.parametrize("family", RELU)
@pytest.mark.parametrize("dimension", [1, 2])
def test_verdicts_are_those_of_the_reference(family: str, dimension: int) -> None:
    rng, seen = np.random.default_rng(1), 0
    for seed in range(8):
        net, domain = draw(family, dimension, seed)
        if not domain.bounded or any(each.name != "relu" for each in net.activations):
            continue
        part = regions.enumerate(net, domain)
        values = net(domain.to_input(part.vertices)).reshape(-1, net.n_out)
        polytopes = drawn_property(net, rng, values)
        found = regions.verify(net, domain, polytopes)
        violated, share = unsafe_in_reference(net, domain, polytopes)
        assert found.holds != violated
        assert found.margin == float(least_depth(net, domain, polytopes))
        assert abs(Fraction(found.violated_share) - share) <= Fraction(found.errors) + Fraction(1, 2**50)
        if violated:
            assert found.witness is not None
            outputs = list(found.witness.outputs)
            assert outputs == _outputs(net, domain, found.witness.point)
            assert any(all(_row(rows, bounds, i, outputs) >= 0 for i in range(len(rows))) for rows, bounds in polytopes)
        seen += 1
    assert seen


@pytest.mark.parametrize("seed", [158, 160])
def test_values_beyond_the_largest_double_are_compared_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net, domain = draw("overflowing", 2, seed)
    values = net(domain.to_input(regions.enumerate(net, domain).vertices)).reshape(-1, net.n_out)
    polytopes = drawn_property(net, rng, values)
    found = regions.verify(net, domain, polytopes)
    violated, share = unsafe_in_reference(net, domain, polytopes)
    assert found.holds != violated and abs(Fraction(found.violated_share) - share) < Fraction(1, 10**12)


def test_touching_a_corner_is_unsafe() -> None:
    touched = regions.verify(CROSS, SQUARE, [([[-1.0]], [-2.0])])  # |x| + |y| >= 2, at the corners of the square
    assert not touched.holds and touched.violated_share == 0.0
    assert touched.witness is not None and touched.witness.outputs == (2,) and touched.witness.replayed
    assert regions.verify(CROSS, SQUARE, [([[-1.0]], [-np.nextafter(2.0, 3.0)])]).holds
    lowest = regions.verify(CROSS, SQUARE, [([[1.0]], [0.0])])  # at the origin alone
    assert lowest.witness is not None and lowest.witness.point == (0, 0)


def test_the_margin_is_how_far_bounds_can_move() -> None:
    far = regions.verify(CROSS, SQUARE, [([[-1.0]], [-2.5])])
    assert far.holds and far.margin == 0.5
    assert regions.verify(CROSS, SQUARE, [([[-1.0]], [-2.0])]).margin == 0
    # |x| + |y| from 1 to 1.5 is unsafe, and 1.25 is deepest inside.
    assert regions.verify(CROSS, SQUARE, [([[-1.0], [1.0]], [-1.0, 1.5])]).margin == -0.25


def test_a_margin_below_the_smallest_double_is_positive() -> None:
    tiny = Network([([[2.0**-1000, 0.0], [-(2.0**-1000), 0.0]], [0.0, 0.0]), ([[2.0**-60, 2.0**-60]], [0.0])])
    half = Polygon([[0.5, -1.0], [1.0, -1.0], [1.0, 1.0], [0.5, 1.0]])
    found = regions.verify(tiny, half, [([[2.0**-60]], [0.0])])
    assert found.holds and found.margin == 2.0**-1074


def test_a_plateau_counts_with_its_area() -> None:
    flat = Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])  # 0 on the left half
    found = regions.verify(flat, SQUARE, [([[1.0]], [0.0])])
    assert not found.holds and found.violated_share == 0.5


def test_rows_of_several_outputs() -> None:
    net = Network([(np.eye(2), None), (np.eye(2), None)])  # relu(x), relu(y)
    both = [([[-1.0, 0.0], [0.0, -1.0]], [-0.5, -0.5])]  # both at least a half
    assert regions.verify(net, SQUARE, both).violated_share == pytest.approx(0.0625)
    either = [([[-1.0, 0.0]], [-0.5]), ([[0.0, -1.0]], [-0.5])]
    assert regions.verify(net, SQUARE, either).violated_share == pytest.approx(0.4375)
    assert regions.verify(net, SQUARE, [([[1.0, 1.0]], [-0.25])]).holds


@pytest.mark.parametrize(
    ("unsafe", "message"),
    [
        ([], "unsafe is empty"),
        ([([[1.0]],)], r"unsafe\[0\] must be a pair"),
        ([([[1.0, 2.0]], [0.0])], r"unsafe\[0\]: A must have one row for each inequality and 1 columns"),
        ([([[1.0]], [0.0, 1.0])], r"got shapes \[1, 1\] and \[2\]"),
    ],
)
def test_what_does_not_fit_is_refused(unsafe: Polytopes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        regions.verify(CROSS, SQUARE, unsafe)


def test_domains_without_an_end_are_refused() -> None:
    with pytest.raises(DomainError, match="verdicts exist in bounded domains"):
        regions.verify(CROSS, regions.Plane([0, 0], [1, 0], [0, 1]), [([[1.0]], [0.0])])


def test_reports() -> None:
    found = regions.verify(CROSS, SQUARE, [([[-1.0]], [-1.0])])
    assert repr(found) == "Verdict(violated, after 8 regions)" and "no" in found._repr_html_()
    assert found.as_dict()["witness"]["replayed"] is True
    assert regions.verify(CROSS, Segment([0.0, 0.0], [1.0, 0.0]), [([[-1.0]], [-3.0])]).as_dict() == {
        "holds": True,
        "regions": 0,
    }
