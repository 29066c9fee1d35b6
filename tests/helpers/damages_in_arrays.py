# SPDX-License-Identifier: MIT
"""Damage to a result in a plane: numbers, indices, names and patterns in single arrays; see `damages.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from damage_parts import Case, border_facet, fails, flipped, inner_facet, inner_vertex

# Coordinates.


@fails("coordinates")
def vertex_moved(case: Case) -> Case:
    return case.put("vertices", inner_vertex(case), case.raw["vertices"][inner_vertex(case)] + 1e-12)


@fails("coordinates")
def coordinates_exchanged(case: Case) -> Case:
    return case.put("vertices", inner_vertex(case), case.raw["vertices"][inner_vertex(case), ::-1].copy())


@fails("coordinates")
def vertices_exchanged(case: Case) -> Case:
    return case.put("vertices", [3, 4], case.raw["vertices"][[4, 3]])


@fails("coordinates")
def all_vertices_rounded_to_float32(case: Case) -> Case:
    return case.put("vertices", ..., case.raw["vertices"].astype(np.float32))


@fails("coordinates")
def all_vertices_in_one_place_with_bounds_to_match(case: Case) -> Case:
    zeros = case.put("vertices", ..., 0.0)
    return replace(zeros, raw={**zeros.raw, "vertex_errors": np.full_like(case.raw["vertex_errors"], 1e3)})


@fails("coordinates")
def error_understated(case: Case) -> Case:
    return case.put("vertex_errors", inner_vertex(case), 0.0)


@fails("arrays")
def vertex_not_a_number(case: Case) -> Case:
    return case.put("vertices", (0, 0), np.nan)


@fails("arrays")
def vertex_infinite(case: Case) -> Case:
    return case.put("vertices", (0, 1), np.inf)


@fails("arrays")
def error_negative(case: Case) -> Case:
    return case.put("vertex_errors", 0, -1.0)


@fails("arrays")
def error_infinite(case: Case) -> Case:
    return case.put("vertex_errors", 0, np.inf)


@fails("euler")
def vertex_of_no_region(case: Case) -> Case:
    raw = {**case.raw, "vertices": np.vstack([case.raw["vertices"], [[0.0, 0.0]]])}
    return replace(case, raw={**raw, "vertex_errors": np.append(raw["vertex_errors"], 0.0)})


# Indices.


@fails("arrays")
def offsets_shifted(case: Case) -> Case:
    return case.put("cell_offsets", 1, case.raw["cell_offsets"][1] + 1)


@fails("arrays")
def offsets_decreasing(case: Case) -> Case:
    return case.put("cell_offsets", 1, case.raw["cell_offsets"][-1])


@fails("arrays")
def offsets_negative(case: Case) -> Case:
    return case.put("cell_offsets", 0, -3)


@fails("arrays")
def corner_negative(case: Case) -> Case:
    return case.put("cell_vertices", 0, -1)


@fails("arrays")
def corner_out_of_range(case: Case) -> Case:
    return case.put("cell_vertices", 0, 10**12)


@fails("arrays")
def facet_out_of_range(case: Case) -> Case:
    return case.put("cell_facets", 0, len(case.raw["facet_kinks"]))


@fails("arrays")
def corners_exchanged(case: Case) -> Case:
    return case.put("cell_vertices", [0, 1], case.raw["cell_vertices"][[1, 0]])


@fails("arrays")
def facets_exchanged(case: Case) -> Case:
    return case.put("cell_facets", [0, 1], case.raw["cell_facets"][[1, 0]])


@fails("arrays")
def facet_turned_around(case: Case) -> Case:
    return case.put("facet_vertices", 2, case.raw["facet_vertices"][2, ::-1].copy())


@fails("arrays")
def wrong_neighbour(case: Case) -> Case:
    one, other = case.raw["facet_regions"][inner_facet(case)].tolist()
    third = next(region for region in range(3) if region not in (one, other))
    return case.put("facet_regions", (inner_facet(case), 1), third)


@fails("arrays")
def facet_unmatched(case: Case) -> Case:
    return case.put("facet_regions", (inner_facet(case), 1), -1)


@fails("arrays")
def one_array_too_short(case: Case) -> Case:
    return replace(case, raw={**case.raw, "facet_kinks": case.raw["facet_kinks"][:-1]})


@fails("arrays")
def another_number_of_axes(case: Case) -> Case:
    return replace(case, raw={**case.raw, "cell_offsets": np.array(7)})


@fails("arrays")
def nothing_left(case: Case) -> Case:
    empty = {name: array[:0] for name, array in case.raw.items() if isinstance(array, np.ndarray)}
    return replace(case, raw={**case.raw, **empty})


# Names of facets.


@fails("vertices")
def wrong_kink(case: Case) -> Case:
    facet = inner_facet(case)
    return case.put("facet_kinks", facet, (case.raw["facet_kinks"][facet] + 1) % case.network.kinks)


@fails("vertices")
def wrong_edge_of_the_domain(case: Case) -> Case:
    facet = border_facet(case)
    return case.put("facet_kinks", facet, -1 - (-case.raw["facet_kinks"][facet]) % len(case.domain.generators))


@fails("vertices")
def all_facets_of_one_kink(case: Case) -> Case:
    return case.put("facet_kinks", case.raw["facet_kinks"] >= 0, 0)


# Patterns.


@fails("inequalities", "patterns", "neighbours")
def bit_flipped(case: Case) -> Case:
    return case.put("packed_patterns", 1, flipped(case.raw["packed_patterns"][1], case.network.kinks - 1))


@fails("inequalities")
def patterns_exchanged(case: Case) -> Case:
    return case.put("packed_patterns", [0, 1], case.raw["packed_patterns"][[1, 0]])


@fails("disjoint", "inequalities")
def pattern_of_the_neighbour(case: Case) -> Case:
    one, other = case.raw["facet_regions"][inner_facet(case)].tolist()
    return case.put("packed_patterns", other, case.raw["packed_patterns"][one])


@fails("disjoint", "inequalities")
def all_patterns_zero(case: Case) -> Case:
    return case.put("packed_patterns", ..., 0)


@fails("arrays")
def bits_beyond_the_last_kink(case: Case) -> Case:
    return case.put("packed_patterns", (0, -1), case.raw["packed_patterns"][0, -1] | 0x80)
