# SPDX-License-Identifier: MIT
"""How much does each input contribute to the change of an output along a path?

Integrated gradients (Sundararajan, Taly and Yan 2017) are the integral, along the path, of the gradient times the
direction of the path, for each input. On each piece of the path the gradient is constant, so the integral is a finite
sum, without quadrature. The core finds the pieces, and one backward pass is made for all pieces of many paths
(`passes/path_gradients.py`). In exact arithmetic the attributions of a path add up to the change of the output. The gap
is the difference between that change and the sum of the computed attributions.
Invariant: the gap is never above its bound.
Cost: an enumeration of each path, and backward passes through the layers above the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from regions.counting.legs_counted import strands_of
from regions.counting.options import asked, takes_timeout
from regions.counting.run import compiled
from regions.domains import Segment
from regions.domains.curves import Curve, as_curve
from regions.errors import NonFiniteError, ShapeMismatchError
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import integer, shown
from regions.ground.arithmetic.arrays import as_numpy, name_point, points_float64, require_finite
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress, reporting
from regions.networks.network import Network, require_network
from regions.passes.path_gradients import PathStrands, leg_attributions, leg_changes
from regions.results.cells.strands import Strands

__all__ = ["Attributions", "integrated_gradients"]

# Bytes for the paths that are computed together, 16 MB, and bytes that a leg needs for each input.
STORED = 1 << 24
LEG = 64


@dataclass(frozen=True, eq=False, repr=False)
class Attributions(JsonReport):
    """How much each input contributes to the change of an output along a path.

    Attributes
    ----------
    values, errors : float64, in the shape of the points
        The attributions, and proven bounds on their errors.
    outputs : int64 [..]
        The attributed output of each point.
    changes : float64 [..]
        The output at the end of the path minus the output at its beginning.
    gap, gap_errors : float64 [..]
        The change minus the sum of the attributions, and a proven bound on its magnitude: without rounding the gap
        is 0.
    pieces : int64 [..]
        Number of parts of each path, cut where a unit moves to another piece of its activation and where legs join;
        0 for a path from a point to itself.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, -1.0]), ([[1.0, 2.0]], [0.0])])
    >>> found = regions.integrated_gradients(net, [[2.0, 2.0], [-1.0, 3.0]])
    >>> found.values
    array([[2., 2.],
           [0., 4.]])
    >>> found.changes, found.gap
    (array([4., 4.]), array([0., 0.]))
    """

    values: Floats
    errors: Floats
    outputs: Integers
    changes: Floats
    gap: Floats
    gap_errors: Floats
    pieces: Integers

    def as_dict(self) -> dict[str, Any]:
        """All attributions, with their errors and gaps."""
        names = ("values", "errors", "outputs", "changes", "gap", "gap_errors", "pieces")
        return {name: getattr(self, name).tolist() for name in names}

    def _repr_html_(self) -> str:
        facts = [
            ("paths", f"{self.pieces.size:,}"),
            ("pieces", f"{int(self.pieces.sum()):,}"),
            ("largest attribution", f"{np.abs(self.values).max(initial=0.0):.6g}"),
            ("errors at most", f"{self.errors.max(initial=0.0):.2g}"),
            ("largest gap", f"{np.abs(self.gap).max(initial=0.0):.2g}"),
            ("gap, proven at most", f"{self.gap_errors.max(initial=0.0):.2g}"),
        ]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        paths, pieces = self.pieces.size, int(self.pieces.sum())
        return f"Attributions({paths} path{'s' * (paths != 1)}, {pieces} piece{'s' * (pieces != 1)})"


@takes_timeout
def integrated_gradients(
    network: Network,
    points: ArrayLike | None = None,
    baseline: ArrayLike | None = None,
    path: Literal["straight"] | Curve | Segment = "straight",
    *,
    output: ArrayLike | None = None,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
) -> Attributions:
    """Compute integrated gradients without quadrature, with proven bounds on their errors.

    The attribution of an input x_i is the integral of the partial derivative of an output with respect to x_i, along a
    path from the baseline to a point. If a unit is exactly at its kink along the whole path, it counts as off.

    Parameters
    ----------
    network : Network
    points : array-like [.., n_in] or ``[.., *input_shape]``
        The ends of straight paths.
    baseline : array-like, optional
        Where straight paths begin: one point, or one for each of the points; 0 by default. A path goes to baseline +
        (point - baseline), with the difference rounded to doubles.
    path : "straight", Curve or Segment
        A curve such as `regions.Polyline` replaces the straight paths; leave out points and baseline then.
    output : int, or int array-like [..], optional
        The output, or one for each point: ``net(points).argmax(-1)`` asks for the predicted classes. It may be left out
        if there is one output.
    limit : int, optional
        Stop with `LimitReached` if a path has more pieces than this.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds.
    progress : bool or callable, optional
        As for `regions.count`.

    Returns
    -------
    Attributions

    Raises
    ------
    TypeError, ValueError
        Points and a curve are both given, or neither; outputs that do not fit.
    ShapeMismatchError
        Points, the baseline or the curve do not fit the network.
    NonFiniteError
        NaN, infinity, or a result beyond the largest double.
    LimitReached, TimeoutReached
        As for `regions.count`, for the first path with more pieces.

    References
    ----------
    Sundararajan, Taly and Yan 2017, Axiomatic attribution for deep networks.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, -1.0]), ([[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0])])
    >>> regions.integrated_gradients(net, [2.0, 2.0], baseline=[1.0, 1.0], output=1).values
    array([0., 1.])
    >>> regions.integrated_gradients(net, path=regions.Polyline([[0, 0], [0, 2], [2, 2]]), output=0).values
    array([2., 2.])
    """
    require_network(network)
    if isinstance(path, (Curve, Segment)):
        if points is not None or baseline is not None:
            raise ValueError("points and baseline are the ends of straight paths: leave them out if path is a curve")
        shape: tuple[int, ...] = ()
        curves: list[Curve | None] = [as_curve(path)]
        result_shape = path.input_shape if len(path.input_shape) > 1 else (network.n_in,)
    else:
        if not isinstance(path, str) or path != "straight":
            raise ValueError(f'path must be "straight" or a curve such as regions.Polyline, got {shown(path)}')
        if points is None:
            raise ValueError("points are missing: pass the ends of straight paths, or path=, a curve")
        ends = points_float64(points, network.n_in, "points", network.input_shape)
        shape, result_shape = ends.shape[:-1], as_numpy(points, "points").shape
        curves = _straight(network, ends, baseline)
    outputs = _outputs(network, output, shape)
    found = _Found(network, outputs.ravel())
    with reporting(progress) as report:
        options, model = asked(limit, report), compiled(network)
        for index, curve in enumerate(curves):
            if curve is not None:
                found.add(index, strands_of(model, curve, options.part(index, len(curves))))
    found.finish()
    where = "" if shape else " along the path" if not isinstance(path, str) else " at the point"
    require_finite(found.values.reshape(*shape, network.n_in), f"an attribution{where}")
    require_finite(found.changes.reshape(*shape, 1), f"the change of the output{where}")
    gaps, gap_errors = found.gaps()
    changes, gaps, gap_errors = (each.reshape(shape) for each in (found.changes, gaps, _bounds(gap_errors)))
    values, errors = found.values.reshape(result_shape), _bounds(found.errors).reshape(result_shape)
    return Attributions(values, errors, outputs, changes, gaps, gap_errors, found.pieces.reshape(shape))


def _bounds(errors: Floats) -> Floats:
    """Return bounds that are infinite where they overflowed."""
    return np.where(np.isnan(errors), np.inf, errors)


def _straight(network: Network, ends: Floats, baseline: ArrayLike | None) -> list[Curve | None]:
    """The straight paths to points [.., n_in]; None for a path of length 0."""
    shape = ends.shape[:-1]
    if baseline is None:
        begins: Floats = np.zeros(network.n_in)
    else:
        begins = points_float64(baseline, network.n_in, "baseline", network.input_shape)
    if begins.shape[:-1] not in ((), shape):
        raise ShapeMismatchError(
            f"baseline must be one point, or one for each of the points, {list(shape)}; got {list(begins.shape[:-1])}"
        )
    begins = np.broadcast_to(begins, ends.shape).reshape(-1, network.n_in)
    ends = ends.reshape(-1, network.n_in)
    with np.errstate(over="ignore"):
        beyond = np.flatnonzero(~np.isfinite(ends - begins).all(axis=1))
    if beyond.size:
        where = name_point(int(beyond[0]), shape)
        raise NonFiniteError(f"{where} minus the baseline is beyond the largest double; move or scale the points")
    paths = zip(begins, ends, strict=True)
    return [None if np.array_equal(start, end) else as_curve(Segment(start, end)) for start, end in paths]


def _outputs(network: Network, given: ArrayLike | None, shape: tuple[int, ...]) -> Integers:
    """The output for each point: int64 [*shape]."""
    last = network.n_out - 1
    if given is None:
        if last:
            raise ValueError(
                f"output is missing: the network has {network.n_out} outputs; pass the number of one, from 0, or one "
                "number for each point, such as net(points).argmax(-1)"
            )
        return np.zeros(shape, dtype=np.int64)
    numbers = as_numpy(given, "output")
    if numbers.shape == ():
        return np.full(shape, integer(given, "output", least=0, most=last))
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"output must be an integer, or one for each point, got dtype {numbers.dtype}")
    if numbers.shape != shape:
        raise ShapeMismatchError(
            f"output must be one number, or one for each of the points, {list(shape)}; got {list(numbers.shape)}"
        )
    wrong = np.flatnonzero((numbers.ravel() < 0) | (numbers.ravel() > last))
    if wrong.size:
        raise ValueError(f"output {int(numbers.ravel()[wrong[0]])} does not exist: outputs go from 0 to {last}")
    return numbers.astype(np.int64)


class _Found:
    """The attributions of paths, which are computed for many paths at a time."""

    def __init__(self, network: Network, outputs: Integers) -> None:
        self.graph, self.outputs = network.graph, outputs
        count = len(outputs)
        self.values, self.errors = np.zeros((2, count, network.n_in))
        self.changes, self.change_errors = np.zeros((2, count))
        self.pieces = np.zeros(count, dtype=np.int64)
        self.waiting: dict[int, Strands] = {}
        self.stored = 0

    def add(self, index: int, strands: Strands) -> None:
        """Take the strands of a path."""
        self.waiting[index] = strands
        self.stored += strands.packed_patterns.nbytes + LEG * len(strands.curve.legs) * self.graph.n_in
        if self.stored > STORED:
            self.finish()

    def finish(self) -> None:
        """Compute the attributions of the collected paths."""
        if self.waiting:
            paths, owners = list(self.waiting.values()), np.array(list(self.waiting))
            self.pieces[owners] = [len(each) for each in paths]
            counts = [len(each.curve.legs) for each in paths]
            firsts = np.cumsum([0, *counts[:-1]])
            strands, outputs = _together(paths, firsts), np.repeat(self.outputs[owners], counts)
            with np.errstate(over="ignore", invalid="ignore"):
                found = Proven(*leg_attributions(self.graph, strands, outputs)).runs(firsts)
                changes = leg_changes(self.graph, strands, outputs).runs(firsts)
            self.values[owners], self.errors[owners] = found
            self.changes[owners], self.change_errors[owners] = changes
        self.waiting, self.stored = {}, 0

    def gaps(self) -> Proven:
        """Return the change of each path minus the sum of its attributions: 0, up to the bounds."""
        with np.errstate(over="ignore", invalid="ignore"):
            return Proven(self.changes, self.change_errors) - Proven(self.values, self.errors).sum(axis=1)


def _together(paths: list[Strands], firsts: Integers) -> PathStrands:
    """Join the strands of several paths; ``firsts`` are the numbers of the first leg of each path."""
    legs = [leg for each in paths for leg in each.curve.legs]
    return PathStrands(
        np.stack([leg.origin for leg in legs]),
        np.stack([leg.directions for leg in legs]),
        np.concatenate([each.legs + first for each, first in zip(paths, firsts, strict=True)]),
        np.concatenate([each.ends for each in paths]),
        np.concatenate([each.errors for each in paths]),
        np.concatenate([each.packed_patterns for each in paths]),
    )
