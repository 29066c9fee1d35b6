# SPDX-License-Identifier: MIT
"""Damage to a result in a plane: whole regions, the network, the domain, derived arrays; see `damages.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from damage_parts import (
    Case,
    Cell,
    Result,
    assembled,
    cells_of,
    changed,
    fails,
    flipped,
    inner_facet,
    region_inside,
    undamaged,
)
from regions.domains import Domain
from regions.networks.network import Network
from regions.results.partition import Partition

# Regions.


@fails("arrays")
def region_dropped(case: Case) -> Case:
    cells = cells_of(case)
    del cells[region_inside(cells)]
    return assembled(case, cells)


@fails("vertices")
def region_dropped_and_its_facets_called_a_border(case: Case) -> Case:
    left = region_dropped(case)
    hole = (left.raw["facet_regions"][:, 1] < 0) & (left.raw["facet_kinks"] >= 0)
    return left.put("facet_kinks", hole, -1)


@fails("arrays")
def region_listed_twice(case: Case) -> Case:
    cells = cells_of(case)
    return assembled(case, [*cells, cells[0]])


@fails("disjoint", "vertices", "euler")
def all_listed_twice(case: Case) -> Case:
    """List all regions twice, as two independent copies with their own vertices."""
    count = len(case.raw["vertices"])
    cells = cells_of(case)
    copies = [replace(cell, vertices=[vertex + count for vertex in cell.vertices]) for cell in cells]
    doubled = {name: np.concatenate([case.raw[name]] * 2) for name in ("vertices", "vertex_errors")}
    return assembled(replace(case, raw={**case.raw, **doubled}), [*cells, *copies])


@fails("vertices")
def regions_joined(case: Case) -> Case:
    """Join two regions with a common facet; the outline keeps all corners."""
    cells = cells_of(case)
    facet = inner_facet(case)
    one, other = case.raw["facet_regions"][facet].tolist()
    start, end = case.raw["facet_vertices"][facet].tolist()
    first, second = _starting_at(cells[one], end), _starting_at(cells[other], start)
    # Each without the common facet, which is its last edge.
    joined = Cell(first.vertices[:-1] + second.vertices[:-1], first.kinks[:-1] + second.kinks[:-1], first.pattern)
    rest = [cell for region, cell in enumerate(cells) if region not in (one, other)]
    return assembled(case, [joined, *rest])


@fails("vertices")
def region_split(case: Case) -> Case:
    """Cut a region along a diagonal without a kink; the new part has a pattern that no region has."""
    cells = cells_of(case)
    region = next(region for region, cell in enumerate(cells) if len(cell.vertices) >= 4)
    whole = cells[region]
    known = {cell.pattern.tobytes() for cell in cells}
    kink = next(k for k in range(case.network.kinks) if flipped(whole.pattern, k).tobytes() not in known)
    one = Cell(whole.vertices[:3], [*whole.kinks[:2], kink], whole.pattern)
    other = Cell([whole.vertices[0], *whole.vertices[2:]], [kink, *whole.kinks[2:]], flipped(whole.pattern, kink))
    return assembled(case, [*cells[:region], one, other, *cells[region + 1 :]])


@fails("cells")
def all_clockwise(case: Case) -> Case:
    cells = [Cell(c.vertices[::-1], [*c.kinks[-2::-1], c.kinks[-1]], c.pattern) for c in cells_of(case)]
    return assembled(case, cells)


# The whole.


@fails("arrays")
def partial_result_called_complete(case: Case) -> Case:
    facets = case.raw["facet_regions"]
    last = len(case.raw["packed_patterns"]) - 1
    return case.put("facet_regions", (facets == last) & (facets[:, :1] != last), -1)


@fails("inequalities")
def neuron_forgotten(case: Case) -> Result:
    """Return all regions of a network without one of the neurons, which is then said to be off everywhere."""
    layer = len(case.network.layers) - 2
    last = case.network.kinks - 1

    def forget(weights: np.ndarray, biases: np.ndarray) -> None:
        weights[-1], biases[-1] = 0, -1

    poorer = undamaged(changed(case.network, layer, forget), case.domain)
    assert not any(pattern[last // 8] >> last % 8 & 1 for pattern in poorer.raw["packed_patterns"])
    return Partition(case.network, case.domain, poorer.raw), case.network


@fails("inequalities")
def neuron_invented(case: Case) -> Result:
    """Return all regions of a network with one neuron more than it has: the one that is off everywhere was not."""
    layer = len(case.network.layers) - 2

    def forget(weights: np.ndarray, biases: np.ndarray) -> None:
        weights[-1], biases[-1] = 0, -1

    poorer = changed(case.network, layer, forget)
    return Partition(poorer, case.domain, case.raw), poorer


# Network and domain.


@fails("network")
def one_weight_of_another_network(case: Case) -> Result:
    def nudge(weights: np.ndarray, biases: np.ndarray) -> None:
        weights[0, 0] = np.nextafter(weights[0, 0], 2)

    return case.partition(), changed(case.network, 0, nudge)


@fails("coordinates")
def one_weight_changed_in_both(case: Case) -> Result:
    def nudge(weights: np.ndarray, biases: np.ndarray) -> None:
        weights[:, 0] += 1e-9

    other = changed(case.network, 0, nudge)
    return Partition(other, case.domain, case.raw), other


@fails("network", "affine maps")
def another_output_layer(case: Case) -> Result:
    def double(weights: np.ndarray, biases: np.ndarray) -> None:
        weights *= 2

    return case.partition(), changed(case.network, -1, double)


@fails("network")
def another_activation(case: Case) -> Result:
    layers = [(layer.weights, layer.biases) for layer in case.network.layers]
    return case.partition(), Network(layers, "relu6")


@fails("network")
def another_architecture(case: Case) -> Result:
    return case.partition(), Network([(np.ones((3, case.network.n_in)), None), (np.ones((1, 3)), None)])


@fails("network")
def another_architecture_with_as_many_kinks(case: Case) -> Result:
    return case.partition(), Network(
        [(np.ones((case.network.kinks, 2)), None), (np.ones((1, case.network.kinks)), None)]
    )


@fails("network")
def domain_in_another_space(case: Case) -> Case:
    far = Domain(np.zeros(5), np.eye(5)[:2], case.domain.generators)
    return replace(case, domain=far)


@fails("coordinates")
def domain_shrunk(case: Case) -> Case:
    return _with_chart(case, generators=case.domain.generators * [1, 0.99, 0.99])


@fails("inequalities")
def domain_halved(case: Case) -> Case:
    return _with_chart(case, generators=case.domain.generators * [1, 0.5, 0.5])


@fails("coordinates")
def domain_enlarged(case: Case) -> Case:
    return _with_chart(case, generators=case.domain.generators * [1, 1.0009765625, 1.0009765625])


@fails("coordinates")
def domain_moved(case: Case) -> Case:
    return _with_chart(case, origin=case.domain.origin + 2.0**-20)


@fails("coordinates")
def domain_turned(case: Case) -> Case:
    return _with_chart(case, directions=case.domain.directions @ [[0, 1], [-1, 0]])


# Derived from the arrays.


@fails("volumes")
def volume_misreported(case: Case) -> Result:
    partition = case.partition()
    volumes = partition.volumes.copy()
    volumes[0] *= 1 + 1e-9
    partition.__dict__["volumes"] = volumes  # where it is cached
    return partition, case.network


def _with_chart(case: Case, **arrays: np.ndarray) -> Case:
    chart = {name: getattr(case.domain, name) for name in ("origin", "directions", "generators")}
    return replace(case, domain=Domain(**{**chart, **arrays}))


def _starting_at(cell: Cell, vertex: int) -> Cell:
    at = cell.vertices.index(vertex)
    return Cell(cell.vertices[at:] + cell.vertices[:at], cell.kinks[at:] + cell.kinks[:at], cell.pattern)
