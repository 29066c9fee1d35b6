# SPDX-License-Identifier: MIT
"""In which order is a network checked against the theory?

Regions are enumerated, counted again for the network cut off after each layer, and counted by the other definitions;
then bounds, invariants and orders are looked at, which build on these numbers.
Cost: an enumeration, a count for each layer, and that of the other definitions.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from regions.arguments import checked_network
from regions.checking.against_bounds import bound_items
from regions.checking.invariants import invariant_items
from regions.checking.items import CountItem, LayerItem
from regions.checking.orders import order_items
from regions.checking.report import CheckReport
from regions.definitions import Definition, linear_regions
from regions.domains import Domain
from regions.enumeration import count, enumerate
from regions.layer import Layer
from regions.measures.arguments import complete
from regions.measures.boundary import boundary_volume
from regions.network import Network
from regions.partition import Partition

__all__ = ["check", "cut_off"]


def check(network: Network, domain: Domain | Partition) -> CheckReport:
    """Hold the regions of a network against the theory: every bound, every identity, and the orders that are expected.

    Parameters
    ----------
    network : Network
    domain : Domain or Partition
        Where; or the regions themselves, if they have been enumerated.

    Returns
    -------
    CheckReport
        ``violations`` is empty, unless there is a bug in this package or a claim is false.

    Raises
    ------
    TypeError
        No network; neither domain nor partition.
    ValueError
        A partial partition, or one of another network.
    ShapeMismatchError
        The domain does not lie in the network's input space.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> report = regions.check(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> [(item.name, item.found, item.value) for item in report.bounds if item.name == "zaslavsky"]
    [('zaslavsky', 4, 4)]
    >>> [layer.regions for layer in report.layers], report.ok
    ([4], True)
    """
    checked_network(network)
    partition = _partition(network, domain)
    boundary = boundary_volume(partition)
    after_layers = [count(cut_off(network, depth), partition.domain) for depth in range(1, len(network.widths) + 1)]
    count_items = _counts(partition)
    counts = {item.definition: item.regions for item in count_items}
    layers = tuple(
        LayerItem(
            index + 1, len(layer.biases), layer.activation.name, after_layers[index], float(boundary.layers[index])
        )
        for index, layer in zip(range(len(after_layers)), network.layers, strict=False)
    )
    return CheckReport(
        partition,
        count_items,
        layers,
        bound_items(partition, after_layers, counts),
        invariant_items(partition, boundary, after_layers, counts),
        order_items(boundary),
    )


def cut_off(network: Network, depth: int) -> Network:
    """The network that ends after its first ``depth`` hidden layers: their activations are its outputs."""
    units = network.widths[depth - 1]
    readout = Layer(np.eye(units), np.zeros(units), network.layers[-1].activation, "readout")
    return Network.from_layers([*network.layers[:depth], readout])


def _partition(network: Network, domain: Domain | Partition) -> Partition:
    if not isinstance(domain, Partition):
        return enumerate(network, domain)
    complete(domain)
    if domain.network != network:
        raise ValueError(
            f"this partition is of another network, {domain.network!r}, with other weights than {network!r}"
        )
    return domain


def _counts(partition: Partition) -> tuple[CountItem, ...]:
    """Regions by each definition, from the finest to the coarsest."""
    return tuple(CountItem(name, linear_regions(partition, name).count) for name in get_args(Definition))
