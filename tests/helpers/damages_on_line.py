# SPDX-License-Identifier: MIT
"""Damage to a result on a line; see `damages.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from damage_parts import ON_LINE, Case, along, assembled_along, fails, flipped


@fails("coordinates", table=ON_LINE)
def breakpoint_moved(case: Case) -> Case:
    return case.put("vertices", (2, 0), case.raw["vertices"][2, 0] + 1e-13)


@fails("coordinates", table=ON_LINE)
def error_of_a_breakpoint_understated(case: Case) -> Case:
    return case.put("vertex_errors", ..., 0.0)


@fails("euler", table=ON_LINE)
def breakpoint_of_no_region(case: Case) -> Case:
    raw = {**case.raw, "vertices": np.vstack([case.raw["vertices"], [[0.5]]])}
    return replace(case, raw={**raw, "vertex_errors": np.append(raw["vertex_errors"], 0.0)})


@fails("arrays", table=ON_LINE)
def breakpoints_exchanged(case: Case) -> Case:
    return case.put("vertices", [1, 2], case.raw["vertices"][[2, 1]])


@fails("arrays", table=ON_LINE)
def neighbours_exchanged(case: Case) -> Case:
    return case.put("facet_regions", 1, case.raw["facet_regions"][1, ::-1].copy())


@fails("vertices", table=ON_LINE)
def breakpoint_of_another_kink(case: Case) -> Case:
    return case.put("facet_kinks", 1, (case.raw["facet_kinks"][1] + 1) % case.network.kinks)


@fails("inequalities", "coordinates", table=ON_LINE)
def ends_of_the_domain_exchanged(case: Case) -> Case:
    kinks = case.raw["facet_kinks"]
    return case.put("facet_kinks", kinks < 0, -3 - kinks[kinks < 0])


@fails("inequalities", "patterns", table=ON_LINE)
def bit_of_an_interval_flipped(case: Case) -> Case:
    return case.put("packed_patterns", 1, flipped(case.raw["packed_patterns"][1], 0))


@fails("cells", "vertices", table=ON_LINE)
def interval_of_no_length(case: Case) -> Case:
    """List a point as a region, between the regions on both sides of it."""
    vertices, kinks, patterns = along(case)
    copy = len(vertices)
    raw = {**case.raw, "vertices": np.vstack([case.raw["vertices"], case.raw["vertices"][vertices[1]]])}
    raw["vertex_errors"] = np.append(case.raw["vertex_errors"], case.raw["vertex_errors"][vertices[1]])
    patterns = np.insert(patterns, 1, flipped(patterns[0], kinks[1]), axis=0)
    longer = replace(case, raw=raw)
    return assembled_along(longer, np.insert(vertices, 2, copy), np.insert(kinks, 2, kinks[1]), patterns)


@fails("inequalities", "vertices", table=ON_LINE)
def interval_swallowed(case: Case) -> Case:
    """Remove the second region, and extend the first one to its end."""
    vertices, kinks, patterns = along(case)
    return assembled_along(case, np.delete(vertices, 1), np.delete(kinks, 1), np.delete(patterns, 1, axis=0))


@fails("vertices", "inequalities", table=ON_LINE)
def interval_split(case: Case) -> Case:
    """Insert a breakpoint at a point without one, with a new pattern."""
    vertices, kinks, patterns = along(case)
    copy = len(vertices)
    middle = case.raw["vertices"][vertices[1:3]].mean(axis=0)
    raw = {**case.raw, "vertices": np.vstack([case.raw["vertices"], middle])}
    raw["vertex_errors"] = np.append(case.raw["vertex_errors"], 0.0)
    known = {pattern.tobytes() for pattern in patterns}
    kink = next(k for k in range(case.network.kinks) if flipped(patterns[1], k).tobytes() not in known)
    patterns = np.insert(patterns, 2, flipped(patterns[1], kink), axis=0)
    return assembled_along(replace(case, raw=raw), np.insert(vertices, 2, copy), np.insert(kinks, 2, kink), patterns)
