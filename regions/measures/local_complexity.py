# SPDX-License-Identifier: MIT
"""How many kinks cut a small polytope around a point, in any dimension of the input?

The polytope is the hull of the vertices x +- radius * direction: a cross-polytope for directions along the axes. The
vertices are passed through the network, and a kink *cuts* the polytope if its pre-activation is strictly above its
breakpoint at one vertex and strictly below it at another one. In the first layer this means that its hyperplane cuts
the hull of the vertices. In a later layer it means that its hyperplane, in the space of that layer's inputs, cuts the
hull of the vertices' images, as in Humayun et al. The polytope is connected and the network continuous, so every
counted kink switches inside of it. A later kink that switches inside, but has the same sign at all vertices, is not
counted. The count is therefore exact for its definition, and a lower bound on the number of kinks
inside.
Signs are proven by error bounds (`regions/passes/bounded.py`), or decided in exact arithmetic. Only vertices whose
proven signs do not decide every kink need it.
Cost: a forward pass with error bounds for each vertex, two for each direction of each point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import NonFiniteError, ShapeMismatchError
from regions.files.tabular import Tabular
from regions.ground.arithmetic.arguments import positive
from regions.ground.arithmetic.arrays import points_float64, real_numbers
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.tables import facts_table, spread
from regions.networks.graph import Graph
from regions.networks.network import Network, require_network
from regions.networks.walk import Forward
from regions.passes.bounded import Bounded
from regions.passes.exact import ExactSigns

__all__ = ["LocalComplexity", "local_complexity"]

# Numbers per temporary array: 8 MB.
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class LocalComplexity(Tabular):
    """The kinks that cut a polytope around each of some points.

    Attributes
    ----------
    network : Network
    radius : float
    cut : bool [.., kinks]
        Whether a kink cuts the polytope around a point.
    """

    network: Network
    radius: float
    cut: Bits

    @property
    def counts(self) -> Integers:
        """Number of kinks, for ReLU of neurons, that cut each polytope: int64 [..]."""
        return self.cut.sum(axis=-1, dtype=np.int64)

    @property
    def layers(self) -> Integers:
        """The same by hidden layer: int64 [.., layers]."""
        of_layer = self.network.kink_layers
        each = [self.cut[..., of_layer == layer].sum(axis=-1) for layer in range(len(self.network.widths))]
        return np.stack(each, axis=-1).astype(np.int64) if each else np.zeros((*self.cut.shape[:-1], 0), np.int64)

    def to_columns(self) -> dict[str, list[int]]:
        """Return a row for each point: the number of kinks that cut its polytope, of all layers and of each, from 0."""
        each = self.layers.reshape(-1, len(self.network.widths)).T.tolist()
        return {"kinks": self.counts.ravel().tolist(), **{f"layer_{k}": column for k, column in enumerate(each)}}

    def _repr_html_(self) -> str:
        return facts_table(repr(self), spread(self.counts.astype(np.float64), "kinks that cut"))

    def __repr__(self) -> str:
        return f"LocalComplexity({self.counts.size} points, radius {self.radius:g}, {self.network!r})"


def local_complexity(
    network: Network, points: ArrayLike, radius: float, *, directions: ArrayLike | None = None
) -> LocalComplexity:
    """Decide which kinks cut the cross-polytope around each point.

    A kink cuts the polytope if its pre-activation is above its breakpoint at one of the vertices, and below it at
    another one, both strictly. For a maximum, a branch is the only largest one at one vertex, and not among the
    largest at another one.

    Parameters
    ----------
    network : Network
    points : array_like [.., n_in]
    radius : float
        Distance of the vertices from the point, if directions have length 1.
    directions : array_like [m, n_in], optional
        The vertices are ``point + radius * direction`` and ``point - radius * direction``, rounded to doubles. By
        default the axes. For many inputs, random orthogonal directions take less time.

    Returns
    -------
    LocalComplexity

    Raises
    ------
    TypeError, ValueError
        Not a network; a radius that is not a positive number; no directions.
    ShapeMismatchError, NonFiniteError
        Points or directions of another length, or not finite; a vertex beyond the largest double.

    References
    ----------
    Humayun, Balestriero, Baraniuk, Deep networks always grok and here is why, 2024.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [-0.5]), ([[1.0]], [0.0])])
    >>> found = local_complexity(net, [[0.0, 0.0], [0.25, 3.0], [2.0, 2.0]], 1.0)
    >>> found.counts, found.layers.tolist()
    (array([3, 1, 0]), [[2, 1], [1, 0], [0, 0]])

    The vertices of the first polytope are at distance 1 along both axes, and two of them are on the kink of the
    other axis. Signs there are 0, which is neither above nor below.
    """
    require_network(network)
    given = points_float64(points, network.n_in, shape=network.input_shape)
    size = positive(radius, "radius")
    axes = np.eye(network.n_in) if directions is None else real_numbers(directions, "directions")
    if axes.ndim != 2 or axes.shape[1] != network.n_in or not len(axes):
        raise ShapeMismatchError(
            f"directions must be an array [m, {network.n_in}] of at least one, got {list(axes.shape)}"
        )
    flat = given.reshape(-1, network.n_in)
    cut = np.zeros((len(flat), network.kinks), dtype=bool)
    signs = _Signs(network.graph)
    with np.errstate(over="ignore"):
        steps = size * np.concatenate([axes, -axes])
    widest = max(network.n_in, *network.widths) if network.widths else network.n_in
    at_once = max(1, CHUNK // (len(steps) * max(widest, network.kinks, 1)))
    for start in range(0, len(flat) if network.kinks else 0, at_once):
        with np.errstate(over="ignore"):
            vertices = flat[start : start + at_once, np.newaxis] + steps
        if not np.isfinite(vertices).all():
            raise NonFiniteError("a vertex of a polytope is beyond the largest double; take a smaller radius")
        cut[start : start + at_once] = signs.cut(vertices)
    return LocalComplexity(network, size, cut.reshape(*given.shape[:-1], network.kinks))


class _Signs:
    """Which kinks have both strict signs at the vertices of polytopes?"""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.arithmetic, self.exact = graph, Bounded(graph, None), ExactSigns(graph, None)

    def cut(self, vertices: Floats) -> Bits:
        """Return the kinks that cut polytopes with vertices [m, v, n_in]: bool [m, kinks]."""
        m, v, n_in = vertices.shape
        signs, known = (each.reshape(m, v, -1) for each in self._proven(vertices.reshape(m * v, n_in)))
        result = np.zeros((m, self.graph.kinks), dtype=bool)
        for polytope in range(m):
            above, below = (signs[polytope] > 0).any(axis=0), (signs[polytope] < 0).any(axis=0)
            # Vertices with the most unknown signs that matter come first: each decides all its kinks.
            unknown = ~known[polytope]
            for vertex in np.argsort(-unknown.sum(axis=1), kind="stable").tolist():
                if not (unknown[vertex] & ~(above & below)).any():
                    continue
                exactly = self.exact.at(vertices[polytope, vertex])
                above |= exactly > 0
                below |= exactly < 0
            result[polytope] = above & below
        return result

    def _proven(self, points: Floats) -> tuple[NDArray[np.int8], Bits]:
        """Return proven signs at points [m, n_in], int8 [m, kinks], 0 where unknown, and which are known."""
        signs = np.zeros((len(points), self.graph.kinks), dtype=np.int8)
        valid = np.ones(len(points), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            walk = Forward(self.graph, self.arithmetic, self.arithmetic.inputs(points))
            for node in self.graph.hidden:
                values, errors = before = walk.preactivations(node)
                # The subtraction is correctly rounded: its sign is right, and the bound also covers its error.
                distance, allowed = node.units.compared(values) - node.units.kink_values, node.units.either(errors)
                on, off = node.units.settled(distance > allowed, distance < -allowed)
                signs[:, node.kinks] = (on.astype(np.int8) - off.astype(np.int8)) * valid[:, np.newaxis]
                # Behind a unit whose piece is unknown, the bounds do not hold.
                valid &= (on | off).all(axis=1)
                walk.leave(node, before, node.units.pieces_of(on))
        return signs, signs != 0
