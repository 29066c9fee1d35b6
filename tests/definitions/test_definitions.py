# SPDX-License-Identifier: MIT
"""Are the numbers of linear regions in each sense right, according to papers and to calculations by hand?

Tested are the tables of docs/what-is-counted.md, the foldings, whose pieces are known, and small networks whose level
sets can be drawn by hand. An independent program for comparison: `test_definitions_judged.py`.
"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

import regions
from definitions_judge import counts
from known_counts import DEFINITIONS as EXAMPLES
from known_counts import PLANE, SQUARE, around_zero
from random_networks import random_network
from regions.constructions import arrangement, montufar_fold, sawtooth, serra_fold
from regions.domains import Domain, Line, Polygon, Ray, Rectangle, Segment
from regions.errors import CountNotDecided
from regions.networks.named_activations import hard_tanh
from regions.networks.network import Network
from regions.results.definitions import DEFINITIONS, linear_regions

UNIT, LINE = Segment([0.0], [1.0]), Line([0.0], [1.0])
# R1 to R6 over R^2.
PUBLISHED = {
    "E1": [7, 5, 4, 3, 3, 3],
    "E3": [2, 2, 2, 2, 2, 2],
    "E4": [2, 2, 1, 1, 1, 1],
    "E5": [3, 2, 1, 1, 1, 1],
    "E6": [3, 2, 2, 2, 2, 2],
    "E8": [4, 4, 4, 4, 4, 3],
}


def numbers(network: Network, domain: Domain) -> list[int]:
    """Counts by all definitions but "convex", from the finest to the coarsest."""
    partition = regions.enumerate(network, domain)
    return [linear_regions(partition, definition).count for definition in DEFINITIONS if definition != "convex"]


def box(half: float) -> Domain:
    return Rectangle([-half, -half], [2 * half, 0], [0, 2 * half])


# Published numbers.


@pytest.mark.parametrize("name", PUBLISHED)
@around_zero
def test_published_examples(name: str, domain: Domain) -> None:
    r1, r2, _, *coarser = PUBLISHED[name]
    assert numbers(EXAMPLES[name][0], domain) == [r1, r2, *coarser]


@pytest.mark.parametrize("name", PUBLISHED)
@around_zero
def test_convex_regions_where_they_are_known(name: str, domain: Domain) -> None:
    """If the count is refused, the published number lies between the bounds in the error."""
    _, most, published, least, *_ = PUBLISHED[name]
    partition = regions.enumerate(EXAMPLES[name][0], domain)
    if name != "E1":
        found = linear_regions(partition, "convex")
        assert found.count == published and sorted(set(found.labels.tolist())) == list(range(published))
    else:
        with pytest.raises(CountNotDecided, match=rf"between {least} \(open\) and {most} \(activation\)") as refused:
            linear_regions(partition, "convex")
        assert refused.value.least == least <= published <= most == refused.value.most


def test_convex_regions_on_a_line_are_its_open_ones() -> None:
    """A kink without a jump, and separate pieces with one map."""
    network = Network([([[1.0]] * 4, [0.0, 0.0, -1.0, -2.0]), ([[2.0, -1.0, -2.0, 1.0]], [0.0])])
    for domain, pieces in ((LINE, [0, 1, 2, 3]), (Segment([-3.0], [-1.0]), [0])):
        assert linear_regions(regions.enumerate(network, domain), "convex").labels.tolist() == pieces
    cancelled = Network([([[1.0]] * 3, [0.0, 0.0, -1.0]), ([[1.0, -1.0, 1.0]], [0.0])])
    assert linear_regions(regions.enumerate(cancelled, LINE), "convex").labels.tolist() == [0, 0, 1]


@pytest.mark.parametrize("depth", range(1, 8))
def test_pieces_of_the_sawtooth(depth: int) -> None:
    assert numbers(sawtooth(depth), UNIT)[1:] == [2**depth] * 4
    pieces = 2**depth + (2 if depth > 1 else 1)
    assert numbers(sawtooth(depth), LINE)[1:] == [pieces] * 3 + [min(pieces, 2**depth + 1)]


@pytest.mark.parametrize(
    ("size", "depth", "activation", "pieces"),
    [(2, 2, 6, 6), (2, 3, 12, 11), (3, 2, 12, 11), (3, 3, 36, 32), (4, 2, 20, 19), (4, 3, 80, 73), (4, 4, 320, 289)],
)
def test_pieces_of_montufars_fold(size: int, depth: int, activation: int, pieces: int) -> None:
    """Fewer than activation regions: the last layer is inactive on both sides of a fold."""
    assert numbers(montufar_fold(size, depth), UNIT)[1:4] == [activation, pieces, pieces]


@pytest.mark.parametrize("widths", [[3], [3, 3], [4, 3], [3, 3, 3], [5, 5], [4, 4, 4], [8, 8, 8]])
@pytest.mark.parametrize("domain", [UNIT, LINE], ids=["unit", "line"])
def test_pieces_of_serras_fold(widths: list[int], domain: Domain) -> None:
    assert numbers(serra_fold(widths), domain) == [prod(n + 1 for n in widths)] * 5


def test_generic_networks_agree_in_all_senses() -> None:
    network = random_network([2, 16, 16, 3], bias=1.0)
    for domain in (SQUARE, PLANE):
        assert set(numbers(network, domain)) == {regions.count(network, domain, "convex")}


# Patterns on edges and vertices.


def test_the_border_of_the_domain_belongs_to_it() -> None:
    """The unit is at its breakpoint on an edge of the domain, and above it everywhere else."""
    network = arrangement([[1.0, 0.0]])
    assert numbers(network, Rectangle([0, 0], [1, 0], [0, 1]))[:2] == [2, 1]
    assert numbers(network, Rectangle([1, 0], [1, 0], [0, 1]))[:2] == [1, 1]
    assert numbers(network, Polygon([[0, 0], [1, -1], [1, 1]]))[:2] == [2, 1]
    assert numbers(network, Segment([0, 0], [1, 5]))[:2] == [2, 1]
    assert numbers(network, Ray([0, 0], [1, 5]))[:2] == [2, 1]
    assert numbers(network, Ray([0, 0], [-1, 5]))[:2] == [1, 1]


def test_a_kink_that_only_touches() -> None:
    """relu(|x|), relu(|x| + |y|): above zero on both sides of a line, and all around a point."""
    line, point = (
        Network([(np.eye(2), None), (row, None), ([[1]], None)], ["abs", "relu"]) for row in ([[1, 0]], [[1, 1]])
    )
    # Quadrants; on the axis x = 0 the unit is inactive, above and below y = 0; only the sign of x differs.
    assert numbers(line, PLANE)[:2] == numbers(line, SQUARE)[:2] == [6, 4]
    assert numbers(point, PLANE)[:2] == numbers(point, SQUARE)[:2] == [5, 4]


def test_networks_without_biases_are_off_at_the_origin() -> None:
    rng = np.random.default_rng(3)
    network = Network([(rng.standard_normal((b, a)), None) for a, b in ((2, 9), (9, 9), (9, 1))])
    partition = regions.enumerate(network, PLANE)
    assert partition.patterns.any(axis=1).all()  # but nowhere else
    assert numbers(network, PLANE) == [len(partition) + 1] + 4 * [len(partition)]


# Closed sets.

# |x| + |y| - |x - y|: 0 in two opposite quadrants, which touch.
TOUCHING = Network([([[1, 0], [0, 1], [1, -1]], None), ([[1, 1, -1]], None)], "abs")


def frames(*rows: list[int]) -> Network:
    """c(x) - c(y), with c(x) = |x| clipped to the interval from 1 to 2; the rows are outputs."""
    return Network([(np.eye(2), None), (np.eye(2), None), (rows, None)], ["abs", hard_tanh(1, 2)])


@around_zero
def test_pieces_that_touch_in_a_vertex(domain: Domain) -> None:
    assert numbers(TOUCHING, domain) == [6, 6, 6, 5, 5]


@pytest.mark.parametrize("rows", [[[1, -1]], [[1, -1], [-2, 2], [0, 0]]], ids=["one output", "parallel outputs"])
def test_pieces_that_a_path_joins(rows: list[list[int]]) -> None:
    """0 is in the middle and in four corners, joined by diagonals; and x - 2 above and below, joined at x = 3."""
    network = frames(*rows)
    assert numbers(network, PLANE) == numbers(network, box(4)) == [36, 36, 25, 17, 15]
    # At x = 2.5 the domain ends. The paths to x = 3 and back are cut, also for the other three maps.
    assert numbers(network, box(2.5)) == [36, 36, 25, 21, 15]


def test_outputs_that_agree_apart_do_not_join() -> None:
    """Each output equals its map on some path, but nowhere do both."""
    assert numbers(frames([1, -1], [1, 0], [0, 1]), PLANE)[2:] == [25, 25, 16]


def test_strips_do_not_meet_at_infinity() -> None:
    hat = EXAMPLES["E8"][0]
    assert linear_regions(regions.enumerate(hat, PLANE), "closed").labels.max() == 3


# On lines.


def test_components_on_a_line_are_open_and_closed_alike() -> None:
    network = Network([([[1.0]] * 5, [0.0, -1.0, -2.0, -3.0, -4.0]), ([[1.0, -2.0, 2.0, -2.0, 1.0]], [0.0])])
    partition = regions.enumerate(network, LINE)
    assert linear_regions(partition, "closed").labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert linear_regions(partition, "affine").labels.tolist() == [0, 1, 2, 3, 4, 0]


def test_maps_match_the_chart() -> None:
    """Along y = x the functions x and y are the same."""
    network = Network([([[1, 0], [0, 1]], None), ([[1, 0], [0, 1]], [-2, -2]), ([[1, -1]], [0])])
    assert numbers(network, Line([0, 0], [1, 1]))[2:] == [1, 1, 1]
    assert counts(network, Segment([-4, -4], [4, 4]))["affine"] == 1
    assert numbers(network, PLANE)[2] > 1
