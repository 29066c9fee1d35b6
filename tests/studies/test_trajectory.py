# SPDX-License-Identifier: MIT
"""Do lengths, transitions and pieces of curves agree with known ones, and with sampled curves?"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from math import pi

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions import Arc, Circle, Curve, GreatCircle, Network, Polyline, Segment, trajectory
from regions.ground.arithmetic.proven import Proven
from regions.studies.trajectory_picture import GRID, _seen

PLANE = [[1.0, 0.0], [0.0, 1.0]]
SIGNS = [(x, y) for x in (-1, 1) for y in (-1, 1)]


def identity(activation: str) -> Network:
    return Network([(PLANE, [0.0, 0.0]), (PLANE, [0.0, 0.0])], activation=activation)


def test_circle_through_relu() -> None:
    path = trajectory(identity("relu"), Circle([0, 0], *PLANE))
    assert abs(path.lengths - [2 * pi, pi / 2 + 2, pi / 2 + 2]).max() < 1e-12
    assert path.breakpoints.round(12).tolist() == [0, 0.25, 0.5, 0.75]
    assert (path.n_patterns, path.pieces.tolist(), path.kink_transitions.tolist()) == (4, [4], [2, 2])


@pytest.mark.parametrize(("radius", "patterns"), [(1.25, 5), (2**0.5, 8), (2.0, 8), (100.0, 8)])
def test_circle_through_hard_tanh(radius: float, patterns: int) -> None:
    path = trajectory(identity("hardtanh"), Circle([0, 0], [radius, 0], [0, radius]))
    assert path.pieces.tolist() == [8] and path.n_patterns == patterns
    assert path.transitions.tolist() == [8]
    if radius >= 2**0.5:
        assert abs(path.lengths[1:] - 8).max() < 1e-12


def test_a_hard_tanh_that_goes_through_at_once_switches_twice() -> None:
    steep = Network([([[1e9]], [0.0]), ([[1.0]], [0.0])], activation="hardtanh")
    assert trajectory(steep, Segment([-1], [1])).transitions.tolist() == [2]
    assert trajectory(steep, Segment([-1], [1])).lengths.tolist() == pytest.approx([2.0, 2.0, 2.0])


def test_ellipses() -> None:
    # A flat curve, out and back along a line, and a curve of known length.
    flat = Network([([[1.0, 0.0]], [5.0]), ([[1.0]], [0.0])])
    assert trajectory(flat, Circle([0, 0], [3, 0], [0, 1])).lengths[1] == pytest.approx(12, abs=1e-12)
    assert trajectory(flat, Circle([0, 0], [2, 0], [0, 1])).lengths[0] == pytest.approx(9.688448220547675, abs=1e-13)


CURVES = {
    "segment": Segment([-1, 0.5, 2], [1, 1, -2]),
    "polyline": Polyline([[0, 0, 1], [1, 0, 0], [-1, 2, 0], [0, 0, 1]]),
    "arc": Arc([1, 0.5, 0], [-1, 2, 1]),
    "circle": Circle([0.1, 0, 0.3], [1, 1, 0], [0, -1, 2]),
    "great": GreatCircle([0, 3, 0], [0, -1.8, 2.4]),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("activation", ["relu", "hardtanh", "leaky_relu"])
def test_lengths_match_many_points(name: str, activation: str) -> None:
    net = random_network([3, 12, 12, 12, 2], seed=3, activation=activation)
    path = trajectory(net, CURVES[name])
    # A multiple of six parts, so that joints are among them.
    points = path.curve.to_input(np.union1d(np.linspace(0, 1, 24_001), path.breakpoints))
    images, here = [points], points
    for layer in net.layers:
        here = layer.activation(here @ layer.weights.T + layer.biases)
        images.append(here)
    sampled = np.array([np.linalg.norm(np.diff(image, axis=0), axis=1).sum() for image in images])
    assert (sampled <= path.lengths + path.length_errors + 1e-10).all()
    assert (sampled >= path.lengths * (1 - 1e-7) - path.length_errors - 1e-10).all()
    patterns = net.pattern(points[1:-1])
    assert path.n_patterns >= len(np.unique(patterns, axis=0)) - 2


def test_pieces_of_lines_are_regions() -> None:
    net = random_network([3, 12, 12, 12, 2], seed=4)
    segment = Segment([-3, 0.5, 2], [3, 1, -2])
    part = regions.enumerate(net, segment)
    path = trajectory(net, segment)
    assert path.pieces[-1] == path.n_patterns == len(part) == regions.count(net, segment)
    assert np.allclose(path.breakpoints, np.sort(part.vertices[:, 0])[1:-1], atol=1e-15)
    assert path.transitions.sum() == len(part) - 1
    assert path.lengths[0] == pytest.approx(segment.volume, rel=1e-14)
    assert np.diff(path.pieces).min() >= 0


def test_a_straight_joint_is_not_a_breakpoint() -> None:
    net = random_network([2, 8, 8, 1], seed=5)
    ends = [[-2.0, 1.0], [2.0, -1.0]]
    once, twice = trajectory(net, Polyline(ends)), trajectory(net, Polyline([ends[0], [1.0, -0.5], ends[1]]))
    assert once.pieces.tolist() == twice.pieces.tolist()
    assert np.allclose(once.lengths, twice.lengths, rtol=1e-14)


def test_text_json_and_several() -> None:
    net = random_network([3, 6, 6, 2], seed=6)
    paths = trajectory(net, list(CURVES.values()))
    assert [str(path) for path in paths] == [str(trajectory(net, curve)) for curve in CURVES.values()]
    facts = json.loads(paths[0].to_json())
    assert facts["lengths"] == paths[0].lengths.tolist() and len(facts["growth"]) == 3
    assert repr(paths[3]).startswith("Trajectory(Circle(in R^3, 4 legs), ")
    assert "<table>" in paths[0]._repr_html_()
    affine = trajectory(Network([([[1.0, 2.0]], [3.0])]), Arc(*PLANE))
    assert (affine.pieces.tolist(), affine.n_patterns, len(affine.lengths)) == ([], 1, 2)


def test_no_more_digits_are_printed_than_are_proven() -> None:
    """A length with a large bound is printed as a digit with a mark; growth has the errors of both."""
    short = trajectory(random_network([2, 8, 8, 1], seed=1), GreatCircle([1, 0], [1, 1e-12]))
    rows = [line.split() for line in str(short).splitlines()[1:]]
    assert rows[0][1:3] == ["~1e-12", "2e-13"]
    long = random_network([8] * 40 + [1], seed=1, he=True)
    path = trajectory(long, Arc([1] * 8, [1, -1] * 4))
    assert (path.length_errors[30:] > path.lengths[30:]).any() and path.growth_errors[-1] == np.inf
    for length, error, line in zip(path.lengths, path.length_errors, str(path).splitlines()[1:], strict=True):
        shown, off = line.split()[1:3]
        assert float(off) >= error
        if shown.startswith("~"):
            assert error > length / 20
        else:
            unit = Decimal(10) ** Decimal(shown).as_tuple().exponent
            assert abs(Decimal(shown) - Decimal(length)) + Decimal(error) <= unit


@pytest.mark.parametrize("share", [0.0, 2.0**-52, 0.3, 1.0])
def test_growth_errors_hold_all_quotients(share: float) -> None:
    ends = np.array([1.0, 3.0, 0.1, 1e300, 5e-324])
    below, above = (each.reshape(-1) for each in np.meshgrid(ends, ends))
    with np.errstate(all="ignore"):
        off = (Proven(above, above * share) / Proven(below, below * share)).checked.error
    for a, b, error in zip(above.tolist(), below.tolist(), off.tolist(), strict=True):
        corners = [(Fraction(a) + x * Fraction(a * share), Fraction(b) + y * Fraction(b * share)) for x, y in SIGNS]
        if any(under <= 0 for _, under in corners) or a / b == np.inf:
            assert error == np.inf
        elif error < np.inf:
            assert max(abs(over / under - Fraction(a / b)) for over, under in corners) <= Fraction(error)


def test_dead_layers_have_no_length() -> None:
    dead = Network([([[1.0, 1.0]], [-9.0]), ([[1.0]], [0.0]), ([[1.0]], [0.0])])
    path = trajectory(dead, Arc(*PLANE))
    assert path.lengths[1:].tolist() == [0, 0, 0]
    assert path.growth[0] == 0 and np.isnan(path.growth[1:]).all()
    assert json.loads(path.to_json())["growth"][1] is None


def test_stopped() -> None:
    net = random_network([3, 12, 12, 2], seed=7)
    many = [CURVES["circle"], CURVES["segment"]]
    pieces = [int(trajectory(net, curve).pieces[-1]) for curve in many]
    with pytest.raises(regions.LimitReached) as stopped:
        trajectory(net, many[0], limit=pieces[0] - 1)
    assert stopped.value.partial >= pieces[0] - 1
    with pytest.raises(regions.LimitReached) as stopped:
        trajectory(net, many[::-1], limit=pieces[1])
    assert [path.curve for path in stopped.value.partial] == [Curve([CURVES["segment"]], False)]  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"curve\[1\]: expected a curve"):
        trajectory(net, [many[0], 3])  # type: ignore[list-item]


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160, 1e200])
def test_sizes_at_the_ends_of_the_range(scale: float) -> None:
    small = Network([([[scale, 0.0], [0.0, scale]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    path = trajectory(small, Arc(*PLANE))
    assert path.lengths[1] == pytest.approx(scale * pi / 2, rel=1e-13)
    assert path.length_errors[1] >= abs(path.lengths[1] - scale * pi / 2)
    ends = np.array(PLANE) * scale
    assert trajectory(identity("relu"), Arc(*ends)).lengths == pytest.approx([scale * pi / 2] * 3, rel=1e-13)


def test_beyond_the_largest_double_nothing_is_known() -> None:
    large = Network([([[1e200, 0.0], [0.0, 1e200]], [0.0, 0.0]), ([[1e200, 1e200]], [0.0])])
    path = trajectory(large, Arc(*PLANE))
    assert np.isfinite(path.length_errors[:2]).all() and path.length_errors[2] == np.inf


def test_what_a_short_segment_is_called() -> None:
    path = trajectory(identity("relu"), Segment([1, 1], [2, 1]))
    assert repr(path) == "Trajectory(Segment(in R^2), 1 piece, length 1 -> 1)"


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_images_are_what_the_network_says(curve: Curve | Segment) -> None:
    net = random_network([3, 5, 4, 2], seed=5, activation="relu")
    path = trajectory(net, curve)
    for layer in range(4):
        points, corners = path.image(layer, between=2)
        assert len(points) == 3 * (corners.sum() - 1) + 1 and corners[0] and corners[-1]
        alone, all_corners = path.image(layer)
        assert all_corners.all() and np.array_equal(alone, points[corners])
    inputs = path.image(0, between=9)[0]
    assert inputs.shape[1] == 3 and np.array_equal(path.image(3)[0][[0, -1]], net(inputs[[0, -1]]))


def test_corners_of_an_image_match_the_layers_up_to_it() -> None:
    net = random_network([3, 5, 4, 2], seed=5, activation="relu")
    path = trajectory(net, CURVES["segment"])
    assert [len(path.image(layer)[0]) - 1 for layer in range(4)] == [1, *path.pieces.tolist(), path.pieces[-1]]
    lengths = [np.linalg.norm(np.diff(path.image(layer)[0], axis=0), axis=1).sum() for layer in range(4)]
    assert lengths == pytest.approx(path.lengths.tolist(), rel=1e-12)


@pytest.mark.parametrize("layer", [-1, 4, 0.5, "1"])
def test_no_such_layer(layer: object) -> None:
    path = trajectory(random_network([3, 5, 4, 2], seed=5, activation="relu"), CURVES["arc"])
    with pytest.raises((TypeError, ValueError), match="layer"):
        path.image(layer)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "net",
    [
        random_network([3, 5, 4, 2], seed=5, activation="relu"),
        random_network([3] + [4] * 9 + [1], seed=5, activation="hardtanh"),
        Network([(np.zeros((2, 3)), [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]),
        Network([(np.eye(3) * 1e100, np.zeros(3)), (np.eye(3) * 1e60, np.zeros(3))]),
    ],
    ids=["two layers", "ten", "of length zero", "beyond squares"],
)
@pytest.mark.parametrize("curve", ["segment", "circle"])
def test_pictures(net: Network, curve: str) -> None:
    figure = trajectory(net, CURVES[curve]).plot()[0].figure
    figure.draw_without_rendering()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:2] == ["length", "input"] and titles[-1] == "output" and len(titles) <= 7


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_the_same_for_any_number_of_workers(workers: int) -> None:
    network = random_network([2, 8, 8, 1], 1, bias=0.1, he=True)
    curves = [regions.Arc([1, k], [-k, 1]) for k in range(1, 12)]
    alone, found = regions.trajectory(network, curves), regions.trajectory(network, curves, workers=workers)
    for one, other in zip(alone, found, strict=True):
        assert one.as_dict() == other.as_dict()
        assert one.strands.ends.tobytes() == other.strands.ends.tobytes()
    most = max(int(one.pieces[-1]) for one in alone)
    limited = next(index for index, one in enumerate(alone) if int(one.pieces[-1]) == most)
    with pytest.raises(regions.LimitReached) as stopped:
        regions.trajectory(network, curves, limit=most - 1, workers=workers)
    assert [path.as_dict() for path in stopped.value.partial] == [path.as_dict() for path in alone[:limited]]


def test_no_more_is_drawn_than_is_seen() -> None:
    """Many points close together are reduced to those in different cells of a grid; the ends are always kept."""
    angles = np.linspace(0.0, 2 * pi, 20_001)
    flat = np.column_stack([np.cos(angles), np.sin(angles)])
    seen = _seen(flat)
    assert seen[0] == 0 and seen[-1] == 20_000 and 2000 < len(seen) < 5000
    assert np.abs(np.diff(flat[seen], axis=0)).max() < 3 / GRID
    assert _seen(np.zeros((5, 2))).tolist() == [0, 4]
