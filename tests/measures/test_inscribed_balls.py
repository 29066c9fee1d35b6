# SPDX-License-Identifier: MIT
"""Are the largest balls in regions right in three and more dimensions, by hand and by all sets of facets?"""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
import pytest

import regions
from random_networks import random_network
from regions.constructions import arrangement
from regions.domains import Box, Polytope
from regions.measures import inscribed_discs
from regions.measures.inscribed_balls import inscribed_balls
from regions.networks.network import Network

CUBE = Box([-1.0] * 3, [1.0] * 3)


def require_radii(net: Network, domain: Polytope, by_hand: list[float]) -> None:
    found = inscribed_discs(regions.enumerate(net, domain))
    assert (abs(np.sort(found.radii) - sorted(by_hand)) <= found.errors.max() + 1e-15 * max(by_hand)).all()
    assert (found.errors <= 2.0**-30 * found.radii).all() and "Largest balls" in found._repr_html_()


@pytest.mark.parametrize("dimension", [3, 4, 5])
def test_octants(dimension: int) -> None:
    net, box = arrangement(np.eye(dimension)), Box([-1.0] * dimension, [1.0] * dimension)
    require_radii(net, box, [0.5] * 2**dimension)
    assert (abs(inscribed_discs(regions.enumerate(net, box)).centers) == 0.5).all()


def test_a_simplex_and_a_whole_cube() -> None:
    simplex = Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [0, 0, 0, 1])
    require_radii(arrangement([[0, 0, 0]]), simplex, [1 / (3 + sqrt(3))])
    require_radii(arrangement([[1, 0, 0]] * 2), CUBE, [0.5, 0.5])
    require_radii(arrangement([[0, 0, 0]]), CUBE, [1.0])


@pytest.mark.parametrize("thin", [2.0**-20, 2.0**-45])
def test_thin_slabs(thin: float) -> None:
    net = arrangement([[1, 0, 0], [1, 0, 0]], [0, -thin])
    require_radii(net, CUBE, [0.5, thin / 2, (1 - thin) / 2])


def test_lengths_are_of_input_space() -> None:
    # The chart's coordinates are 3, 4 and 5 long, and not perpendicular.
    directions = np.array([[3.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [0.0, 3.0, 0.0, 4.0]])
    box = Box.around(np.zeros(4), 1.0, directions)
    # Facets 6 apart along x; a rhomboid of sides 8 and 10 with heights of 6.4 and 8.
    require_radii(arrangement([[0, 0, 0, 0]]), box, [3.0])
    require_radii(arrangement([[1, 0, 0, 0]]), box, [1.5, 1.5])


@pytest.mark.parametrize("seed", range(3))
def test_all_sets_of_facets(seed: int) -> None:
    """The largest ball touches d + 1 facets, or more: in a cube, solve all sets of four."""
    part = regions.enumerate(random_network([3, 3, 2, 1], bias=1.0, seed=seed), CUBE)
    radii, _, errors = inscribed_balls(part)
    for region in range(len(part)):
        facets = part.cell_facets[slice(*part.cell_facet_offsets[region : region + 2])]
        rows, ends = [], []
        for facet in facets.tolist():
            corners = part.vertices[part.facet_vertices[slice(*part.facet_offsets[facet : facet + 2])]]
            normal = np.linalg.svd(corners - corners.mean(axis=0))[2][-1]
            normal *= np.sign((part.interior_points[region] - corners[0]) @ normal)
            rows.append([*normal, -1.0])
            ends.append(normal @ corners[0])
        best = 0.0
        for chosen in combinations(range(len(rows)), 4):
            matrix = np.array(rows)[list(chosen)]
            if abs(np.linalg.det(matrix)) > 1e-9:
                found = np.linalg.solve(matrix, np.array(ends)[list(chosen)])
                if (np.array(rows) @ found >= np.array(ends) - 1e-9).all():
                    best = max(best, found[-1])
        assert abs(radii[region] - best) <= errors[region] + 1e-8


def test_a_solver_that_fails_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import optimize

    class Failed:
        status = 2

    monkeypatch.setattr(optimize, "linprog", lambda *given, **options: Failed())
    radii, _, errors = inscribed_balls(regions.enumerate(arrangement(np.eye(3)), CUBE))
    assert np.isinf(errors).all() and (radii <= 0.5).all()


def test_a_solver_that_is_wrong_has_large_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import optimize

    right = optimize.linprog

    def wrong(*given: object, **options: object) -> object:
        found = right(*given, **options)
        found.x = found.x + 0.25
        found.ineqlin.marginals = found.ineqlin.marginals * np.linspace(0.5, 1.5, len(found.ineqlin.marginals))
        return found

    monkeypatch.setattr(optimize, "linprog", wrong)
    radii, _, errors = inscribed_balls(regions.enumerate(arrangement(np.eye(3)), CUBE))
    assert (abs(radii - 0.5) <= errors).all()
