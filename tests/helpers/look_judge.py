# SPDX-License-Identifier: MIT
"""Does a page answer as its partition does?

The page is asked in a browser for the regions of random chart points, of points of a coarse grid, and of vertices, and
for patterns and outputs. Vertices are stored rounded, so at a vertex the page names the lowest region that touches it;
if its coordinates are exact, this is also what `Partition.locate` finds.
"""

from __future__ import annotations

import numpy as np

from browser import Page
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.results.partition import Partition

__all__ = ["differences", "located"]

# Points in a question, and regions whose patterns are asked for.
AT_ONCE, MOST_PATTERNS = 100_000, 20_000


def located(page: Page, points: Floats) -> Integers:
    """Return the regions that a page finds for chart points [m, d], as a walk from point to point: int64 [m]."""
    pairs = np.column_stack([points, np.zeros((len(points), 2 - points.shape[1]))]).tolist()
    walk = """points => {
        let r = -1;
        return points.map(([x, y]) => { r = look.locate(x, y, r); return look.numberOf(r) ?? -1; });
    }"""
    blocks = (pairs[start : start + AT_ONCE] for start in range(0, len(pairs), AT_ONCE))
    return np.array([number for block in blocks for number in page.call(walk, block)], dtype=np.int64)


def differences(page: Page, part: Partition, points: int, seed: int = 0) -> dict[str, tuple[int, int]]:
    """Return the numbers of different answers and of questions, of each kind."""
    rng = np.random.default_rng(seed)
    vertices = np.array(page.value("[[...look.part.x], [...look.part.y]]")).T[:, : part.dimension]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    inside = low + (high - low) * (1.2 * rng.random((points, part.dimension)) - 0.1)
    if not part.domain.bounded:  # the page ends where its window ends
        inside = inside[((inside >= low) & (inside <= high)).all(axis=1)]
    result = {"random points": _differing(located(page, inside), part.locate(inside, space="chart"))}
    if part.dimension == 2 and not part.domain.bounded:
        result["vertices"] = _differing(located(page, vertices), _lowest_in_window(page, vertices))
    else:
        whole = _beside_no_folded_region(part) & np.isfinite(part.vertices).all(axis=1)
        result["vertices"] = _differing(located(page, part.vertices[whole]), lowest_touching(part)[whole])
        exact = part.vertices[whole & _alone(part) & (part.vertex_errors == 0)]
        result["exact vertices"] = _differing(located(page, exact), part.locate(exact, space="chart"))
    some = rng.permutation(page.value("look.part.R"))[:MOST_PATTERNS]
    regions = page.call("every => every.map(r => [look.numberOf(r), ...look.pattern(r)])", some.tolist())
    packed = part.packed_patterns
    result["patterns"] = sum(bytes(row) != packed[number].tobytes() for number, *row in regions), len(regions)
    result["outputs"] = _outputs(page, part, inside[part.locate(inside, space="chart") >= 0][:100])
    return result


def lowest_touching(part: Partition) -> Integers:
    """Return for each vertex the lowest region with a corner at its position, int64 [V]; rounded vertices may
    coincide."""
    return _lowest(part.vertices, part.cell_vertices, np.repeat(np.arange(len(part)), part.corner_counts))


def _lowest_in_window(page: Page, vertices: Floats) -> Integers:
    """Return the same for the vertices of a window, from the arrays of the page, with numbers of the partition."""
    corners, offsets, numbers = (
        np.array(page.value(f"[...look.part.{name}]")) for name in ("corners", "offsets", "numbers")
    )
    return _lowest(vertices, corners, np.repeat(numbers, np.diff(offsets)))


def _lowest(vertices: Floats, corners: Integers, owners: Integers) -> Integers:
    """Return the lowest owner of a corner at each place, int64 [V]; corners [K] are vertices, each with an owner."""
    _, groups = np.unique(vertices, axis=0, return_inverse=True)
    of_group = np.full(int(groups.max()) + 1, int(owners.max()) + 1)
    np.minimum.at(of_group, groups.ravel()[corners], owners)
    return of_group[groups.ravel()]


def _beside_no_folded_region(part: Partition) -> Bits:
    """Return which vertices touch no region that is thinner than the spacing of doubles, bool [V]."""
    corners = np.isin(np.repeat(np.arange(len(part)), part.corner_counts), part.folded_cells())
    whole = np.ones(len(part.vertices), dtype=bool)
    whole[part.cell_vertices[corners]] = False
    return whole


def _alone(part: Partition) -> Bits:
    """Return which vertices have coordinates of their own, bool [V], where no other one is rounded to them."""
    _, groups, counts = np.unique(part.vertices, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[groups.ravel()] == 1)


def _outputs(page: Page, part: Partition, points: Floats) -> tuple[int, int]:
    """Compare outputs, which the page has in single precision."""
    if not len(points):
        return 0, 0
    ask = """points => points.map(([x, y]) => {
        const r = Math.max(0, look.locate(x, y ?? 0)), [X, Y] = look.toPage(x, y ?? 0);
        return [...look.outputsAt(r, X, Y)].map(z => z * look.meta.factor);
    })"""
    chosen = page.value("look.meta.outputs")
    linear, constants = part.affine_maps(part.locate(points, space="chart"))
    wanted = (np.einsum("rod,rd->ro", linear, points) + constants)[:, chosen]
    found = np.array(page.call(ask, points.tolist()))
    scale = page.value("look.meta.factor")
    return int((np.abs(found - wanted) > 1e-5 * scale + 1e-15).any(axis=1).sum()), len(points)


def _differing(found: Integers, wanted: Integers) -> tuple[int, int]:
    return int((found != wanted).sum()), len(wanted)
