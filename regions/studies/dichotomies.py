# SPDX-License-Identifier: MIT
"""How many labellings of some points does a network give while the weights of one layer are swept?

This is the dual of sweeping an input: points are fixed, and one layer has the weights cos(phi) W + sin(phi) W'. Each
point's label is the sign of one output. The labellings and their order are exact: `label_flips.py`.
Cost: for each point the pieces of an arc through the layers from that one on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.counting.run import compiled
from regions.errors import ShapeMismatchError
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import generator, integer
from regions.ground.arithmetic.arrays import exact_float64, points_float64, read_only
from regions.ground.arithmetic.keywords import helped
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress, reporting, share_of
from regions.networks.derived import cut_off, with_swept_layer
from regions.networks.network import Network, require_network
from regions.studies.label_flips import WHOLE_TURN, in_order, label_flips
from regions.theory.bounds.binomials import weighted_sum

__all__ = ["Dichotomies", "dichotomies"]


@dataclass(frozen=True, eq=False, repr=False)
class Dichotomies(JsonReport):
    """Labellings of points along a sweep of weights; returned by `regions.dichotomies`.

    Attributes
    ----------
    network : Network
    layer : int
        The swept layer, counted from 1.
    labels : bool [m, points]
        The labellings in order, each different from the one before it.
    breakpoints : float64 [m - 1]
        The angle between two consecutive labellings, in quarters of a turn, rounded.
    transitions : int64 [points]
        Number of flips of the label of each point. In a full turn it may flip where the turn begins and ends, which is
        not a breakpoint.

    References
    ----------
    Raghu et al. 2017, appendix B.3.
    """

    network: Network
    layer: int
    labels: Bits
    breakpoints: Floats
    transitions: Integers

    @property
    def count(self) -> int:
        """Number of different labellings."""
        return len(np.unique(np.packbits(self.labels, axis=1), axis=0))

    @property
    def ceiling(self) -> int:
        """Number of all labellings of that many points."""
        return 2 ** self.labels.shape[1]

    @property
    def _all(self) -> str:
        """Number of all labellings, in a few characters."""
        points = self.labels.shape[1]
        return f"{self.ceiling:,}" if points < 64 else f"2^{points}"

    def sauer_shelah(self, dimension: int) -> int:
        """Return the largest number of labellings by a class of functions of some VC dimension.

        Parameters
        ----------
        dimension : int
            At least 0.

        References
        ----------
        Sauer 1972, Shelah 1972.
        """
        return weighted_sum(self.labels.shape[1], integer(dimension, "dimension", least=0))

    @helped()
    def random_walk(self, rng: Any = 0) -> int:
        """Return the number of different labellings if each transition flipped the label of a random point.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            A seed, or a generator, which is advanced.

        References
        ----------
        Raghu et al. 2017, Fig. 16.
        """
        points, steps = self.labels.shape[1], int(self.transitions.sum())
        flipped = generator(rng).integers(points, size=steps)
        walk = np.zeros((steps + 1, points), dtype=np.uint8)
        walk[np.arange(1, steps + 1), flipped] = 1
        return len(np.unique(np.packbits(np.cumsum(walk, axis=0) % 2 == 1, axis=1), axis=0))

    def as_dict(self) -> dict[str, Any]:
        """Return all facts, and the labellings as strings of 0 and 1."""
        return {
            "network": self.network.fingerprint,
            "layer": self.layer,
            "count": self.count,
            "ceiling": self.ceiling,
            "transitions": self.transitions.tolist(),
            "breakpoints": self.breakpoints.tolist(),
            "labels": ["".join(map(str, row)) for row in self.labels.astype(int).tolist()],
        }

    def __str__(self) -> str:
        return f"{self.count:,} of {self._all} labellings, {self.transitions.sum():,} transitions"

    def __repr__(self) -> str:
        return f"Dichotomies({self.network!r}, layer {self.layer}: {self})"

    def _repr_html_(self) -> str:
        facts = {"layer": self.layer, "labellings": f"{self.count:,}", "of": self._all}
        return facts_table(repr(self.network), {**facts, "transitions": f"{self.transitions.sum():,}"}.items())


def dichotomies(
    network: Network,
    points: ArrayLike,
    weights: ArrayLike,
    *,
    layer: int = 1,
    quarters: int = 4,
    output_index: int = 0,
    progress: Progress = None,
) -> Dichotomies:
    """Count the labellings of points while one layer's weights run along a circle, exactly.

    The layer has the weights ``cos(phi) W + sin(phi) weights``, W being its own, and its own biases. The label of a
    point says whether an output is positive.

    Parameters
    ----------
    network : Network
    points : array_like [s, n_in]
    weights : array_like [units, inputs]
        Of the same shape as the layer's own weights.
    layer : int
        The swept layer, counted from 1; the last one is the output layer. Above the first layer, results are exact for
        the points as computed there in floating point.
    quarters : int
        Range of the angle, in quarters of a turn: 1 to 4.
    output_index : int
        Index of the output, from 0.
    progress : bool or callable, optional
        As for `count`.

    Returns
    -------
    Dichotomies

    Raises
    ------
    TypeError, ValueError
        Invalid arguments, and layers or outputs that do not exist.
    ShapeMismatchError, NonFiniteError
        Points or weights of another shape, or not finite.
    KeyboardInterrupt
        ``partial`` is None, or the number of pieces found so far for one point.

    References
    ----------
    Raghu et al. 2017, appendix B.3: dichotomies.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, -1.0]], [0.0])], activation="hardtanh")
    >>> found = regions.dichotomies(net, [[1, 0], [0, 2]], [[0.0, 1.0], [1.0, 0.0]])
    >>> found.count, found.transitions, found.breakpoints.round(3)
    (3, array([2, 2]), array([0.5  , 0.667, 2.333, 2.5  ]))
    """
    layer = integer(layer, "layer", most=len(require_network(network).widths) + 1)
    output = integer(output_index, "output_index", least=0, most=network.n_out - 1)
    turn = integer(quarters, "quarters", most=WHOLE_TURN)
    given = points_float64(points, network.n_in, shape=network.input_shape)
    if given.ndim != 2 or not len(given):
        raise ShapeMismatchError(
            f"points must have shape [s, {network.n_in}], one row for each, got {list(given.shape)}"
        )
    arriving = given if layer == 1 else cut_off(network, layer - 1, readout=True)(given)
    swept = with_swept_layer(network, layer - 1, exact_float64(weights, "weights"), output)
    model = compiled(swept)
    with reporting(progress) as report:
        flips = [
            label_flips(model, point, turn, share_of(report, index, len(arriving)))
            for index, point in enumerate(arriving)
        ]
        which, events, angles = in_order(swept, flips)
    flipped = np.zeros((int(events[-1]) + 2 if len(events) else 1, len(flips)), dtype=np.uint8)
    flipped[events + 1, which] = 1
    labels = (np.cumsum(flipped, axis=0) + [each.first for each in flips]) % 2 == 1
    at = np.full(len(flipped) - 1, np.inf)
    np.minimum.at(at, events, angles)
    return Dichotomies(
        network=network,
        layer=layer,
        labels=read_only(labels),
        breakpoints=read_only(np.maximum.accumulate(at)),
        transitions=read_only(np.bincount(which, minlength=len(flips)) + [each.closes for each in flips]),
    )
