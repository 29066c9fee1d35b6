# SPDX-License-Identifier: MIT
"""Which affine map is the network on a region, as far as floating point can prove?

The constant term of the map is the forward pass at the chart's origin, under the region's pattern; each slope is the
forward pass of a direction, through the network without its constants. Both with the bounds of `certified_pattern.py`.
What overflows has a bound that is no number, so that it is never below anything.
Cost: two forward passes per region and coefficient, once.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Floats, Integers
from regions.networks.layer import Layer
from regions.networks.named_activations import identity
from regions.networks.network import Network
from regions.partition import Partition
from regions.passes.affine import slopes_and_intercepts
from regions.passes.certified_pattern import CertifiedNetwork

__all__ = ["CertifiedMaps", "with_outputs_as_layer"]

# Numbers per temporary array.
CHUNK = 1 << 20


class CertifiedMaps:
    """Affine maps of a network, those of some regions; each is computed when it is first asked for.

    Parameters
    ----------
    partition : Partition
    regions : int64 [m]
    """

    def __init__(self, partition: Partition, regions: Integers) -> None:
        self.partition, self.regions = partition, regions
        network = with_outputs_as_layer(partition.network)
        linear = Network.from_layers(
            [Layer(layer.weights, np.zeros_like(layer.biases), layer.activation) for layer in network.layers]
        )
        unknown = np.zeros(network.kinks, dtype=bool)
        self.constants, self.directions = (
            CertifiedNetwork(each, partition.domain, unknown, unknown) for each in (network, linear)
        )
        self.known = np.zeros(len(regions), dtype=bool)
        self.values, self.errors = np.empty((2, len(regions), network.n_out, 1 + partition.dimension))

    def of(self, indices: Integers) -> tuple[Floats, Floats]:
        """Maps of ``regions[indices]``: coefficients of 1, x (and y), and bounds on their errors.

        Returns
        -------
        float64 [k, outputs, 1 + d], float64 [k, outputs, 1 + d]
        """
        missing = np.unique(indices[~self.known[indices]])
        network = self.partition.network
        step = max(1, CHUNK // (4 * (sum(network.widths) + network.n_out + network.kinks)))
        for start in range(0, len(missing), step):
            self._compute(missing[start : start + step])
        return self.values[indices], self.errors[indices]

    def _compute(self, indices: Integers) -> None:
        packed = self.partition.packed_patterns[self.regions[indices]]
        count, d = len(indices), self.partition.dimension
        with np.errstate(all="ignore"):
            h, errors = self.constants.first_preactivations(np.zeros((count, d)))
            rows, row_errors = (
                np.tile(x[:, 1:].T, (count, 1)) for x in (self.directions.rows, self.directions.row_errors)
            )
            for index, (slopes, intercepts) in enumerate(slopes_and_intercepts(self.partition.network, packed)):
                h, errors = self.constants.next_preactivations(index, h, errors, slopes, intercepts)
                of_rows = np.repeat(slopes, d, axis=0)
                nothing = np.zeros_like(of_rows)
                rows, row_errors = self.directions.next_preactivations(index, rows, row_errors, of_rows, nothing)
        for result, first, others in ((self.values, h, rows), (self.errors, errors, row_errors)):
            result[indices, :, 0] = first
            result[indices, :, 1:] = others.reshape(count, d, -1).transpose(0, 2, 1)
        self.known[indices] = True


def with_outputs_as_layer(network: Network) -> Network:
    """The same network with its outputs as the last hidden layer: patterns stay as they are."""
    *hidden, last = network.layers
    outputs = Layer(last.weights, last.biases, identity(), "outputs")
    return Network.from_layers([*hidden, outputs, Layer(np.eye(network.n_out), np.zeros(network.n_out), identity())])
