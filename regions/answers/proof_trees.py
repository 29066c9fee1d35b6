# SPDX-License-Identifier: MIT
"""Which tree of cuts proves that a property holds in a box?

`regions/check_property.py` says what a tree is, and how a leaf is closed. Its code also bounds the parts here, so that
both see the same numbers. Multipliers come from a linear program in the chart point: pre-activations and rows are
replaced by the forms that bound them, and the least row of a group is maximised where the cuts are satisfied.
A part that is not closed is cut where its bound is loosest. The looseness of a unit is the distance between its two
lines, times its weight in the sum. A cut along its kink removes it. Halving a side makes the range of each unit smaller
in proportion to its form, so that all units count. Near a vertex both shrink alike, and only kinks help: they are
preferred more, the smaller the part. If the greatest value is reached on a plateau, kinks help at once. Therefore two
preferences take turns, each with more parts than before.
Cost: the bounds of each part, and a linear program of some milliseconds where cuts or several rows count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from regions import check_property
from regions.errors import LimitReached, VerdictNotDecided
from regions.ground.arithmetic.types import Floats
from regions.ground.threads.deadline import check_time

__all__ = ["proof_tree"]

CHECKER: Any = check_property
# Numbers of parts that are bounded together, and in the first attempt. Preferences for kinks, which take turns, and the
# number of halvings after which each has doubled.
TOGETHER, FIRST, KINKS, HALVINGS = 64, 512, (0.3, 10.0), 8
# The entry of a leaf. Bounds nearer to zero than this, relative to the rows, are computed again in fractions.
LEAF, NEAR = -1, 2.0**-30
NOT_FOUND = "no proof was found: the rows come too near to zero, or numbers overflow; take a property with more margin"
# The smallest tolerances that HiGHS takes. They decide nothing but the multipliers.
SHARP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False}


class _Part(NamedTuple):
    """The corners of a box, and cuts: pairs of a kink, and whether the part is above it."""

    lower: Floats
    upper: Floats
    cuts: tuple[tuple[int, bool], ...]


@dataclass
class _Node:
    """A node of the tree, with the number of halvings above it, and the multipliers of a leaf."""

    part: _Part
    halvings: int = 0
    entry: int = LEAF
    children: list[_Node] = field(default_factory=list)
    multipliers: list[Floats] = field(default_factory=list)


def proof_tree(
    proof: Any, rows: Any, groups: Sequence[Sequence[int]], limit: int | None
) -> tuple[NDArray[np.int64], Floats]:
    """Return the arrays ``tree`` and ``multipliers`` of a file, whose other parts the checker has read.

    Raises
    ------
    LimitReached, TimeoutReached
    VerdictNotDecided
        Bounds overflow, or the rows come too near to zero.
    """
    try:
        search, bounded = _Search(proof, rows, groups), 0
    except OverflowError:
        raise VerdictNotDecided(NOT_FOUND, partial=None) from None
    together = max(1, min(TOGETHER, CHECKER.BLOCK // max(search.sums.width, search.rows) ** 2))
    for attempt in count():
        root, search.kinks = _Node(_Part(proof.lower, proof.upper, ())), KINKS[attempt % 2]
        waiting, end = [root], bounded + FIRST * 4 ** (attempt // 2)
        while waiting and bounded < end:
            check_time()
            block = [waiting.pop() for _ in range(min(together, len(waiting)))]
            bounded += len(block)
            if limit is not None and bounded > limit:
                message = f"the verdict is not proved with {limit} parts of the box; raise the limit"
                raise LimitReached(message, limit=limit, partial=None)
            for node in search.opened(block):
                waiting += node.children[::-1]
        if not waiting:
            break
    entries, multipliers, waiting = [], [np.zeros(0)], [root]
    while waiting:
        node = waiting.pop()
        entries.append(node.entry)
        multipliers += node.multipliers
        waiting += node.children[::-1]
    return np.array(entries, dtype=np.int64), np.concatenate(multipliers)


class _Search:
    """Bounds of parts, and cuts of those that they do not close."""

    def __init__(self, proof: Any, rows: Any, groups: Sequence[Sequence[int]]) -> None:
        self.proof, self.sums, self.groups = proof, CHECKER.Sums(proof, rows), [np.array(group) for group in groups]
        self.hidden, self.rows, self.kinks = self.sums.rounded[0], len(rows.last), KINKS[0]
        # How many rows of each group are raised: the rows of outputs, which come first, or all.
        of_outputs = (rows.last != 0).any(axis=1)
        self.groups = [group[np.argsort(~of_outputs[group], kind="stable")] for group in self.groups]
        self.raised = [int(of_outputs[group].sum()) or len(group) for group in self.groups]

    @np.errstate(all="ignore")
    def opened(self, nodes: list[_Node]) -> list[_Node]:
        """Bound parts; store the multipliers of those that are closed, cut the others, and return these."""
        sums, leaves, count = self.sums, [node.part for node in nodes], len(self.groups)
        parts, each = sums.parts(leaves), np.tile(np.eye(self.rows), (len(nodes), 1, 1))
        bounds = sums.bounds(parts, leaves, each, [np.zeros((self.rows, len(leaf.cuts))) for leaf in leaves])
        forms, constants = parts.forms[-1]
        of_rows = np.zeros((len(nodes), count, self.rows))
        of_cuts = [np.zeros((count, len(leaf.cuts))) for leaf in leaves]
        for number, group in enumerate(self.groups):
            best = group[np.argmin(bounds[:, group], axis=1)]
            of_rows[np.arange(len(nodes)), number, best] = 1.0
            for i in np.flatnonzero(~(bounds[np.arange(len(nodes)), best] < 0)).tolist():
                if len(group) > 1 or leaves[i].cuts:
                    cuts, levels = self._cut_forms(parts, i, leaves[i].cuts)
                    every = np.concatenate([forms[i, group], cuts]), np.concatenate([constants[i, group], levels])
                    weights = _multipliers(leaves[i], *every, self.raised[number])
                    of_rows[i, number] = 0.0
                    of_rows[i, number, group], of_cuts[i][number] = np.split(weights, [len(group)])
        highest = sums.bounds(parts, leaves, of_rows, of_cuts)
        closed, near = highest < 0, highest <= NEAR * np.abs(constants).max(axis=1, keepdims=True)
        opened = []
        for i, node in enumerate(nodes):
            open_ = np.flatnonzero(~closed[i]).tolist()
            if open_ and not any(self._is_cut(node, parts, i, of_rows[i, k], of_cuts[i][k]) for k in open_):
                if not (near[i].all() and sums.closed_exactly(parts, i, node.part, of_rows[i], of_cuts[i])):
                    self._cut_anywhere(node, parts, i)
            if node.children:
                opened.append(node)
            else:
                own = [of_rows[i, number, np.sort(group)] for number, group in enumerate(self.groups)]
                node.multipliers = [*own, of_cuts[i].ravel()]
        return opened

    def _cut_forms(self, parts: Any, i: int, cuts: Sequence[tuple[int, bool]]) -> tuple[Floats, Floats]:
        """Return forms [cuts, d] of the chart point, and constants, that are at least zero wherever the cuts allow."""
        forms, constants = np.zeros((len(cuts), len(self.proof.lower))), np.zeros(len(cuts))
        for number, (kink, above) in enumerate(cuts):
            layer, unit, place = self.proof.kink(kink)
            of_units, levels = (each[i] for each in parts.forms[layer])
            row = unit if above else len(levels) // 2 + unit
            forms[number], constants[number] = of_units[row], levels[row] + (-place if above else place)
        return forms, constants

    def _is_cut(self, node: _Node, parts: Any, i: int, of_rows: Floats, of_cuts: Floats) -> bool:
        """Cut a part along the kink of a unit, or halve a side, if the lines of units make the bound of a sum loose."""
        lower, upper, cuts = node.part
        signed = [np.zeros(len(layer[1])) for layer in self.hidden]
        for (kink, above), weight in zip(cuts, of_cuts.tolist(), strict=True):
            layer, unit, _ = self.proof.kink(kink)
            signed[layer][unit] += weight if above else -weight
        weights, along = of_rows @ self.sums.rounded[1][0], np.zeros(len(lower))
        loosest, best = 0.0, -1
        for number in reversed(range(len(parts.lines))):
            slope, above, other, below = (each[i] for each in parts.lines[number][:4])
            low, high = (each[i] for each in parts.ranges[number])
            breakpoints = self.hidden[number][2]
            inside = (low[:, np.newaxis] < breakpoints) & (breakpoints < high[:, np.newaxis])
            apart = above - below + np.maximum((slope - other) * low, (slope - other) * high)
            loose = np.where(inside.any(axis=1), np.abs(weights) * apart, 0.0)
            shares = np.divide(loose, high - low, out=np.zeros_like(loose), where=loose > 0)
            along += shares @ np.abs(parts.forms[number][0][i, : len(low)])
            unit = int(loose.argmax())
            if loose[unit] > loosest:
                loosest, best = float(loose[unit]), self._inner_kink(parts, i, number, unit)
            weights = (np.where(weights > 0, slope, other) * weights + signed[number]) @ self.hidden[number][0]
        if best < 0:
            return False
        changes = along * (upper - lower)
        if loosest * self.kinks * (1 + node.halvings / HALVINGS) < changes.max() and _can_be_halved(node.part).any():
            _halve(node, changes)
        else:
            _cut_along(node, best)
        return True

    def _cut_anywhere(self, node: _Node, parts: Any, i: int) -> None:
        """Cut a part along the first kink that may be in it, or halve its longest side."""
        for number, (_, _, breakpoints, *_) in enumerate(self.hidden):
            low, high = (each[i, :, np.newaxis] for each in parts.ranges[number])
            inside = ((low < breakpoints) & (breakpoints < high)).any(axis=1)
            if inside.any():
                return _cut_along(node, self._inner_kink(parts, i, number, int(inside.argmax())))
        return _halve(node, node.part.upper - node.part.lower)

    def _inner_kink(self, parts: Any, i: int, number: int, unit: int) -> int:
        """Return the kink of a unit whose breakpoint is farthest inside of the bounds."""
        low, high = (each[i, unit] for each in parts.ranges[number])
        breakpoints, units = self.hidden[number][2], len(self.hidden[number][1])
        first = int(self.proof.last[number]) - units * len(breakpoints)
        return first + unit * len(breakpoints) + int(np.minimum(breakpoints - low, high - breakpoints).argmax())


def _cut_along(node: _Node, kink: int) -> None:
    node.entry = len(node.part.lower) + kink
    halves = (node.part._replace(cuts=(*node.part.cuts, (kink, above))) for above in (False, True))
    node.children = [_Node(half, node.halvings) for half in halves]


def _can_be_halved(part: _Part) -> NDArray[np.bool_]:
    """Whether there is a double between the ends of each side."""
    middles = part.lower / 2 + part.upper / 2
    return (part.lower < middles) & (middles < part.upper)


def _halve(node: _Node, changes: Floats) -> None:
    """Halve the side with the largest change."""
    lower, upper, _ = node.part
    possible = _can_be_halved(node.part)
    if not possible.any():
        raise VerdictNotDecided(NOT_FOUND, partial=None)
    axis = int(np.where(possible, changes, -1.0).argmax())
    below, above = upper.copy(), lower.copy()
    below[axis] = above[axis] = lower[axis] / 2 + upper[axis] / 2
    node.entry = axis
    halves = node.part._replace(upper=below), node.part._replace(lower=above)
    node.children = [_Node(half, node.halvings + 1) for half in halves]


def _multipliers(part: _Part, forms: Floats, constants: Floats, rows: int) -> Floats:
    """Return multipliers that make the greatest value of a sum of forms on a box small.

    The first forms are rows of outputs, and all others have to be zero or positive. Multipliers are the duals of a
    linear program: the least of the first is maximised, or if the others contradict each other, the least of these.
    """
    half = part.upper / 2 - part.lower / 2
    constants, forms = constants + forms @ (part.lower / 2 + part.upper / 2), forms * half
    sizes = np.abs(forms).sum(axis=1) + np.abs(constants)
    result, d = np.zeros(len(forms)), forms.shape[1]
    result[0] = 1.0
    if not np.isfinite(sizes).all():
        return result
    sizes[sizes == 0.0] = 1.0
    least = np.arange(len(forms)) < rows
    ends = [(-1.0, 1.0)] * d + [(None, None)]
    for used, raised in ((slice(None), least), (slice(rows, None), ~least)):
        table = np.hstack([-forms / sizes[:, np.newaxis], raised[:, np.newaxis]])[used]
        if not len(table):
            continue
        found = linprog(
            [0.0] * d + [-1.0], table, (constants / sizes)[used], bounds=ends, method="highs-ds", options=SHARP
        )
        duals = np.zeros(len(forms))
        if found.status == 0:
            duals[used] = np.maximum(-found.ineqlin.marginals, 0.0) / sizes[used]
        if 0.0 < duals.max() < np.inf:
            return duals / duals.max()
    return result
