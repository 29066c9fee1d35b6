# SPDX-License-Identifier: MIT
"""Are units called dead or on only where they are, and is every unit that switches found in enumerated regions?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from random_networks import random_network
from regions import Network, measures, reference
from regions.measures import unit_states, unit_states_in_box

SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def by_reference(net: Network, domain: Any) -> list[list[str]]:
    """The state of each unit, from the rational reference."""
    bits = np.array([region.pattern for region in reference.enumerate(net, domain)], dtype=np.uint8)
    found = []
    for node, pieces in net.graph.pieces(bits):
        slopes = node.units.on_pieces(pieces)[0]
        each = zip(pieces.T.tolist(), slopes.T.tolist(), strict=True)
        found.append(["switching" if len(set(one)) > 1 else "dead" if slope[0] == 0 else "on" for one, slope in each])
    return found


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
@pytest.mark.parametrize("dimension", [1, 2])
def test_regions_of_every_family(family: str, dimension: int) -> None:
    net, domain = draw(family, dimension, 1)
    found = unit_states(regions.enumerate(net, domain))
    assert [layer.tolist() for layer in found.layers] == by_reference(net, domain)
    assert found.counts.sum() == sum(net.widths) and not found.units("open")


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
def test_pieces_along_a_path(family: str) -> None:
    net, domain = draw(family, 1, 1)
    if not (domain.bounded and net.graph.kinks):
        return
    ends = domain.to_input(np.sort(domain.generators[:, 1:] / domain.generators[:, :1], axis=0))
    path = regions.trajectory(net, regions.Polyline(ends.reshape(2, -1)))
    along, states = unit_states(path), unit_states(regions.enumerate(net, domain))
    assert [layer.tolist() for layer in along.layers] == [layer.tolist() for layer in states.layers]


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
def test_boxes_of_every_family(family: str) -> None:
    net, _ = draw(family, 2, 2)
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 3.0):
        middle = rng.uniform(-1, 1, net.n_in)
        found = unit_states_in_box(net, measures.Hyperrectangle(middle - size, middle + size))
        assert not found.units("switching")
        try:
            bits = net.pattern(rng.uniform(middle - size, middle + size, (200, net.n_in)))
        except regions.errors.NonFiniteError:  # values beyond the largest double
            continue
        for layer, (node, pieces) in zip(found.layers, net.graph.pieces(bits), strict=True):
            known = layer != "open"
            slopes = node.units.on_pieces(pieces)[0]
            assert ((slopes == 0) == (layer == "dead"))[:, known].all()
            assert (pieces[:, known] == pieces[:1, known]).all()


def test_regions_of_three_dimensions() -> None:
    net = random_network([3, 6, 6, 2], 1, bias=0.5)
    box = regions.Box([-1] * 3, [1] * 3)
    assert [layer.tolist() for layer in unit_states(regions.enumerate(net, box)).layers] == by_reference(net, box)


def test_bounds_decide_what_regions_decide_in_small_boxes() -> None:
    net = random_network([2, 12, 12, 2], 0, bias=0.3)
    corners = regions.Polygon([[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01]])
    exact, bound = (
        unit_states(regions.enumerate(net, corners)),
        unit_states_in_box(net, measures.Hyperrectangle([0, 0], [0.01, 0.01])),
    )
    for here, there in zip(exact.layers, bound.layers, strict=True):
        assert (here == there)[there != "open"].all() and (there == "open").sum() <= (here == "switching").sum() + 1


def test_a_range_that_ends_at_the_kink() -> None:
    net = Network([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0] * 3], [0.0])])
    part = regions.enumerate(net, regions.Segment([0.0], [1.0]))
    assert unit_states(part).layers[0].tolist() == ["on", "dead", "dead"]
    assert unit_states_in_box(net, measures.Hyperrectangle([0.0], [1.0])).layers[0].tolist()[2] == "dead"


def test_large_numbers_are_open() -> None:
    net = Network([([[1e300], [1.0]], [0.0, 9.0]), ([[1e300, 1.0]], [0.0]), ([[1.0]], [0.0])])
    states = unit_states_in_box(net, measures.Hyperrectangle([-1.0], [1.0]))
    assert [layer.tolist() for layer in states.layers] == [["open", "on"], ["open"]]


def test_reports_and_errors() -> None:
    net = random_network([2, 4, 4, 2], 0)
    part = regions.enumerate(net, SQUARE)
    states = unit_states(part)
    assert states.as_dict()["layers"][0]["name"] == states.names[0]
    assert "switching" in states._repr_html_() and repr(states).startswith("UnitStates(")
    affine = Network([([[1.0, 2.0]], [0.0])])
    assert repr(unit_states(regions.enumerate(affine, SQUARE))) == "UnitStates(no units)"
    for given, error, message in (
        ((net, SQUARE), TypeError, "Ball or Hyperrectangle, or a regions.Box"),
        ((net, measures.Ball([0, 0], 1)), TypeError, r"box must be a regions\.measures\.Hyperrectangle"),
        ((part, measures.Hyperrectangle([0, 0], [1, 1])), TypeError, "Network"),
        ((net, measures.Hyperrectangle([0], [1])), regions.errors.ShapeMismatchError, "a space of 1 dimension"),
    ):
        with pytest.raises(error, match=message):
            unit_states_in_box(*given)
    with pytest.raises(ValueError, match="state must be one of"):
        states.units("off")
    with pytest.raises(regions.LimitReached) as stopped:
        regions.enumerate(net, SQUARE, limit=2)
    with pytest.raises(ValueError, match="partial"):
        unit_states(stopped.value.partial)
