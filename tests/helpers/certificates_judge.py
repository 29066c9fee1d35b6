# SPDX-License-Identifier: MIT
"""Do values at vertices prove only what is true in integers, of right results and of damaged ones?

`finding` certifies the result of a small network in both ways, by values first and all in integers, and again after
random damage. The right result has to be proven. The verdicts on the items that carry the
proof have to be the same, and vertices have to be where the values say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np

import regions
from damage_parts import Case, Cell, Result, assembled, cells_of, damaged, undamaged
from damages import IN_PLANE, ON_LINE
from regions.certification import verdict
from regions.certification.certification_report import CARRYING, CertificationReport, Findings
from regions.certification.forms import Forms
from regions.certification.layout import Layout
from regions.certification.signs import VertexSigns
from regions.domains import Domain
from regions.networks.network import Network
from regions.results.partition import Partition

__all__ = ["DAMAGES", "finding", "require_sound"]

Damage = Callable[[Case, np.random.Generator], Case | Result]


def finding(network: Network, domain: Domain, seed: int, damages: int = 4) -> str | None:
    """Return the first difference between values and integers, or None."""
    rng = np.random.default_rng(seed)
    part = regions.enumerate(network, domain)
    report = by_values(part, network)
    if not report.conclusion.startswith("proved"):
        return f"a right result: {report.conclusion}"
    if domain.bounded and network.kinks:
        require_sound(part, network)
    for _ in range(damages):
        name, wrong, claimed = _damaged(network, domain, rng)
        if wrong is None:
            continue
        values = by_values(wrong, claimed)
        with only_the_proof():
            integers = regions.certify(wrong, claimed, regions="all")
        if _holds(values) != _holds(integers):
            return f"{name}: by values {values.conclusion}, in integers {integers.conclusion}"
        if values.ok and not integers.ok and _failed(integers) - SAMPLED:
            return f"{name}: not seen by values: {integers.conclusion}"
    return None


# Items that certification by values checks only in samples.
SAMPLED = {"coordinates", "volumes", "affine maps", "reference"}


def by_values(part: Partition, network: Network) -> CertificationReport:
    """Certify by values at vertices, however small the result is."""
    with mock.patch.object(verdict, "SOON", 0), only_the_proof():
        return regions.certify(part, network)


@contextmanager
def only_the_proof() -> Iterator[None]:
    """Leave out second opinions, which take most of the time on small results."""
    with ExitStack() as stack:
        for name in ("check_affine_maps", "check_against_reference", "ask_cddlib"):
            stack.enter_context(mock.patch.object(verdict, name, lambda *_: None))
        yield


def require_sound(part: Partition, network: Network, most: int = 60) -> int:
    """Compare the signs and distances that values prove with integers; return the number of vertices decided."""
    layout, findings = Layout(part, network), Findings()
    values, integers = VertexSigns(layout), VertexSigns(layout)
    with np.errstate(all="ignore"):
        values.decide_by_values()
    chosen = np.flatnonzero(values.known)[:most]
    integers.decide_in_integers(chosen, Forms(network, part.domain), findings)
    assert not findings.faults()
    assert (values.above[chosen] == integers.above[chosen]).all()
    assert (values.zero[chosen] == integers.zero[chosen]).all()
    for node, ties in values.ties.items():
        assert (ties[chosen] == integers.ties[node][chosen]).all()
    for vertex, (weight, *position) in integers.positions.items():
        apart = [abs(Fraction(x, weight) - Fraction(y)) for x, y in zip(position, part.vertices[vertex], strict=True)]
        assert max(apart) <= Fraction(values.near[vertex]) <= Fraction(part.vertex_errors[vertex])
    return int(values.known.sum())


def _failed(report: CertificationReport) -> set[str]:
    return {item.name for item in report.failed}


def _holds(report: CertificationReport) -> bool:
    return not _failed(report) & set(CARRYING)


def _damaged(network: Network, domain: Domain, rng: np.random.Generator) -> tuple[str, Partition | None, Network]:
    """One damaged result, or None where a damage does not fit."""
    tables = DAMAGES | {name: _fixed(damage) for name, (damage, _) in _named(domain.dimension).items()}
    name = str(rng.choice(sorted(tables)))
    try:
        return name, *damaged(lambda case: tables[name](case, rng), undamaged(network, domain))
    except (StopIteration, IndexError, ValueError, AssertionError, TypeError, KeyError, regions.RegionsError):
        return name, None, network


def _named(dimension: int) -> dict[str, tuple[Callable[[Case], Case | Result], tuple[str, ...]]]:
    return IN_PLANE if dimension == 2 else ON_LINE


def _fixed(damage: Callable[[Case], Case | Result]) -> Damage:
    return lambda case, rng: damage(case)


def _two(count: int, rng: np.random.Generator) -> list[int]:
    return rng.choice(count, 2, replace=False).tolist()


def bit_at_random(case: Case, rng: np.random.Generator) -> Case:
    region, kink = rng.integers(len(case.raw["packed_patterns"])), int(rng.integers(case.network.kinks))
    case.raw["packed_patterns"][region, kink >> 3] ^= np.uint8(1 << (kink & 7))
    return case


def patterns_swapped(case: Case, rng: np.random.Generator) -> Case:
    pair = _two(len(case.raw["packed_patterns"]), rng)
    return case.put("packed_patterns", pair, case.raw["packed_patterns"][pair[::-1]])


def patterns_of_neighbours_swapped(case: Case, rng: np.random.Generator) -> Case:
    inner = case.raw["facet_regions"][case.raw["facet_regions"][:, 1] >= 0]
    pair = rng.choice(inner).tolist()
    return case.put("packed_patterns", pair, case.raw["packed_patterns"][pair[::-1]])


def positions_swapped(case: Case, rng: np.random.Generator) -> Case:
    pair = _two(len(case.raw["vertices"]), rng)
    return case.put("vertices", pair, case.raw["vertices"][pair[::-1]])


def vertex_moved(case: Case, rng: np.random.Generator) -> Case:
    vertex = int(rng.integers(len(case.raw["vertices"])))
    size = case.raw["vertex_errors"][vertex] * 2.0 ** rng.integers(-1, 40)
    case.raw["vertices"][vertex] += size * rng.choice([-1, 1], case.domain.dimension)
    return case


def all_vertices_moved(case: Case, rng: np.random.Generator) -> Case:
    case.raw["vertices"] += 10.0 ** rng.integers(-16, -3) * rng.standard_normal(case.raw["vertices"].shape)
    return case


def facet_renamed(case: Case, rng: np.random.Generator) -> Case:
    inner = np.flatnonzero(case.raw["facet_regions"][:, 1] >= 0)
    return case.put("facet_kinks", rng.choice(inner), rng.integers(case.network.kinks))


def facet_named_like_another(case: Case, rng: np.random.Generator) -> Case:
    inner = np.flatnonzero(case.raw["facet_regions"][:, 1] >= 0)
    return case.put("facet_kinks", rng.choice(inner), case.raw["facet_kinks"][rng.choice(inner)])


def edge_renamed(case: Case, rng: np.random.Generator) -> Case:
    outer = np.flatnonzero(case.raw["facet_regions"][:, 1] < 0)
    return case.put("facet_kinks", rng.choice(outer), -1 - rng.integers(len(case.domain.generators)))


def corners_relabelled(case: Case, rng: np.random.Generator) -> Case:
    """Two vertices are exchanged, in all regions."""
    cells = cells_of(case)
    a, b = _two(len(case.raw["vertices"]), rng)
    swap = {a: b, b: a}
    return assembled(case, [replace(c, vertices=[swap.get(v, v) for v in c.vertices]) for c in cells])


def vertex_identified(case: Case, rng: np.random.Generator) -> Case:
    """A vertex is replaced by one of its neighbours, and facets that are then points are left out."""
    return _contracted(case, int(rng.integers(len(case.raw["facet_vertices"]))))


def shortest_facet_contracted(case: Case, rng: np.random.Generator) -> Case:
    """The facet whose ends are closest is contracted, so that few signs show the damage."""
    ends = case.raw["vertices"][case.raw["facet_vertices"]]
    return _contracted(case, int(np.abs(ends[:, 0] - ends[:, 1]).max(axis=1).argmin()))


def _contracted(case: Case, facet: int) -> Case:
    """Contract a facet to one of its ends; leave out regions that become lines."""
    a, b = case.raw["facet_vertices"][facet].tolist()
    cells = []
    for cell in cells_of(case):
        corners = [(b if v == a else v, k) for v, k in zip(cell.vertices, cell.kinks, strict=True)]
        kept = [c for c, (v, _) in zip(corners, corners[1:] + corners[:1], strict=True) if c[0] != v]
        if len(kept) >= 3:
            cells.append(Cell([v for v, _ in kept], [k for _, k in kept], cell.pattern))
    return assembled(case, cells)


def region_cut_at_random(case: Case, rng: np.random.Generator) -> Case:
    """A region is cut along a diagonal, and one of the parts has one bit more or less."""
    cells = cells_of(case)
    region = int(rng.choice([region for region, cell in enumerate(cells) if len(cell.vertices) >= 4]))
    whole, kink = cells[region], int(rng.integers(case.network.kinks))
    shift = int(rng.integers(len(whole.vertices)))
    vertices, kinks = np.roll(whole.vertices, shift).tolist(), np.roll(whole.kinks, shift).tolist()
    at, other = int(rng.integers(2, len(vertices) - 1)), whole.pattern.copy()
    other[kink >> 3] ^= np.uint8(1 << (kink & 7))
    one = Cell(vertices[: at + 1], [*kinks[:at], kink], whole.pattern)
    two = Cell([vertices[0], *vertices[at:]], [kink, *kinks[at:]], other)
    return assembled(case, [*cells[:region], one, two, *cells[region + 1 :]])


def regions_joined_at_random(case: Case, rng: np.random.Generator) -> Case:
    """Two regions with a common facet become one; vertices between two facets with the same name may go as well."""
    cells = cells_of(case)
    facet = int(rng.choice(np.flatnonzero(case.raw["facet_regions"][:, 1] >= 0)))
    one, other = case.raw["facet_regions"][facet].tolist()
    start, end = case.raw["facet_vertices"][facet].tolist()
    first, second = _from(cells[one], end), _from(cells[other], start)
    corners = [*zip(first.vertices[:-1], first.kinks[:-1], strict=True)]
    corners += zip(second.vertices[:-1], second.kinks[:-1], strict=True)
    if rng.random() < 0.5:
        corners = [
            corner for corner, (_, last) in zip(corners, corners[-1:] + corners[:-1], strict=True) if corner[1] != last
        ]
    joined = Cell([v for v, _ in corners], [k for _, k in corners], (first, second)[int(rng.integers(2))].pattern)
    return assembled(case, [joined, *(cell for region, cell in enumerate(cells) if region not in (one, other))])


def _from(cell: Cell, vertex: int) -> Cell:
    """The cell, beginning with a vertex."""
    at = cell.vertices.index(vertex)
    return Cell(cell.vertices[at:] + cell.vertices[:at], cell.kinks[at:] + cell.kinks[:at], cell.pattern)


def region_missing(case: Case, rng: np.random.Generator) -> Case:
    """A region is left out, and its facets are said to be on an edge of the domain."""
    cells = cells_of(case)
    del cells[int(rng.integers(len(cells)))]
    left = assembled(case, cells)
    hole = (left.raw["facet_regions"][:, 1] < 0) & (left.raw["facet_kinks"] >= 0)
    return left.put("facet_kinks", hole, -1 - rng.integers(len(case.domain.generators)))


def region_doubled(case: Case, rng: np.random.Generator) -> Case:
    """A region is listed again, on vertices of its own, with another pattern."""
    cells, count = cells_of(case), len(case.raw["vertices"])
    cell, kink = cells[int(rng.integers(len(cells)))], int(rng.integers(case.network.kinks))
    pattern = cell.pattern.copy()
    pattern[kink >> 3] ^= np.uint8(1 << (kink & 7))
    raw = {name: np.concatenate([case.raw[name]] * 2) for name in ("vertices", "vertex_errors")}
    again = Cell([v + count for v in cell.vertices], [-1] * len(cell.kinks), pattern)
    return assembled(replace(case, raw={**case.raw, **raw}), [*cells, again])


def other_weights(case: Case, rng: np.random.Generator) -> Result:
    """The file says that it is of a network whose weights are a little different."""
    layers = [(layer.weights.copy(), layer.biases.copy()) for layer in case.network.layers]
    weights, biases = layers[int(rng.integers(len(layers) - 1))]
    size = 10.0 ** rng.integers(-15, 0)
    if rng.random() < 0.5:
        weights[tuple(rng.integers(weights.shape))] += size
    else:
        biases[rng.integers(len(biases))] += size
    activations = [layer.activation for layer in case.network.layers]
    if any(activation != activations[0] for activation in activations[:-1]):
        raise ValueError("activations differ")
    other = Network(layers, activations[0])
    return Partition(other, case.domain, case.raw), other


def other_domain(case: Case, rng: np.random.Generator) -> Result:
    """The domain is moved, or another corner of it is."""
    generators = case.domain.generators[:, 1:].copy()
    size = 10.0 ** rng.integers(-12, 1)
    generators[rng.integers(len(generators))] += size * rng.choice([-1, 1], generators.shape[1])
    points = case.domain.origin + generators @ case.domain.directions
    if case.domain.dimension == 1:
        other = regions.Segment(*points)
    else:
        other = regions.Polygon(points)
    return Partition(case.network, other, case.raw), case.network


DAMAGES: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        bit_at_random,
        patterns_swapped,
        patterns_of_neighbours_swapped,
        positions_swapped,
        vertex_moved,
        all_vertices_moved,
        facet_renamed,
        facet_named_like_another,
        edge_renamed,
        corners_relabelled,
        vertex_identified,
        shortest_facet_contracted,
        region_cut_at_random,
        regions_joined_at_random,
        region_missing,
        region_doubled,
        other_weights,
        other_domain,
    )
}
