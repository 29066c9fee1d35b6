# SPDX-License-Identifier: MIT
"""Does a bound apply to this network, on this domain?

Activations are compared by their functions, not by their names. Conditions on the domain and on the position of the
neurons are decided exactly, in integers and fractions. Each answer is a reason why not, or "".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from regions.checking.layers import FACES_TOO_MANY, faces_affordable
from regions.domains import Domain
from regions.domains.gram import independent, rank
from regions.measures.boundary import inner_degrees, switching_kinks
from regions.measures.transversality import transversality
from regions.networks.activation import Activation
from regions.networks.graph import Graph
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.networks.rounded import at_points
from regions.passes.exact import ExactForms
from regions.results.partition import Partition
from regions.theory.bounds.registry import Activations, Bound

__all__ = ["Case", "why_not_generic", "why_not_linear"]


class Case:
    """A network on a domain, and answers that the conditions of several bounds share.

    Parameters
    ----------
    network : Network
    domain : Domain
    partition : Partition or None
        None if the regions are only counted.

    Attributes
    ----------
    partition, domain
        As given.
    dimension : int
        The dimension of the domain.
    widths : tuple of int
    breakpoints : list of int
        Breakpoints of a unit in each hidden layer.
    """

    def __init__(self, network: Network, domain: Domain, partition: Partition | None) -> None:
        self.network, self.domain, self.partition = network, domain, partition
        self.dimension, self.widths = domain.dimension, network.widths
        self.breakpoints = [node.units.kinks // node.units.count for node in network.graph.hidden]
        activations = network.activations
        self._with_activations = {wanted: _layers_with(wanted, activations) for wanted in _DESCRIPTIONS}
        self._chained = _chained_layers(network.graph)

    def covered_layers(self, bound: Bound) -> tuple[int, str]:
        """Return how many of the first hidden layers a bound covers, and why it does not cover all; or ""."""
        covered = self._with_activations[bound.activations]
        return covered if bound.skips or covered[0] <= self._chained[0] else self._chained

    def why_not_here(self, bound: Bound) -> str:
        """Return why a bound does not hold on this domain, or for neurons in this position; or ""."""
        if bound.domain == "whole space" and not self._is_unbounded:
            return f"is about the whole space, or a whole line or plane of it; this is {self.domain!r}"
        if bound.condition == "zero biases":
            return self._why_not_linear
        if bound.condition == "generic":
            return self._why_not_generic
        return ""

    @cached_property
    def _is_unbounded(self) -> bool:
        return not (self.domain.generators[:, 0] != 0.0).any()

    @cached_property
    def _why_not_linear(self) -> str:
        return why_not_linear(self.network, self.domain)

    @cached_property
    def _why_not_generic(self) -> str:
        return "" if self.partition is None else why_not_generic(self.partition)


def why_not_linear(network: Network, domain: Domain) -> str:
    """Return why the first layer does not cut the domain by hyperplanes through the origin; or ""."""
    at_origin = next(at_points(network.graph, np.zeros((1, network.n_in))))
    if at_origin.any() or network.kink_values[network.kink_layers == 0].any():
        return "is for layers without biases"
    origin = domain.origin
    if not origin.any():
        return ""
    # The chart may start anywhere, if the line, plane or space itself contains the origin.
    outside = independent(np.vstack([domain.directions, origin]))
    return "is for lines, planes and spaces through the origin" if outside else ""


def why_not_generic(partition: Partition) -> str:
    """Return why the neurons are not in general position, as far as a domain shows; or "".

    General position: no two kinks switch across one facet, all vertices inside have four facets (d = 2), or all faces
    are on as few bent hyperplanes as they can be (from d = 3 on), and the first layer has as many independent
    directions in the domain as it can.
    """
    facets, _ = switching_kinks(partition)
    if (np.diff(facets) == 0).any():
        return "is for neurons in general position; here some switch in the same place"
    if partition.dimension == 2:
        degrees = inner_degrees(partition, partition.facet_kinks >= 0)
        if (degrees[degrees > 0] != 4).any():
            return "is for neurons in general position; here some vertices do not have four facets"
    elif partition.dimension > 2:
        if not faces_affordable(partition):
            return f"is for neurons in general position, which is not decided: {FACES_TOO_MANY}"
        if not transversality(partition).holds:
            return "is for neurons in general position; here some faces are on too many bent hyperplanes"
    linear = ExactForms(partition.network.graph, partition.domain).preactivations(0).integers[1:].T
    if rank(linear.tolist()) < min(linear.shape):
        return "is for neurons in general position; the first layer is parallel, or constant, on the domain"
    return ""


_DESCRIPTIONS: dict[Activations, str] = {
    "relu": "ReLU and whatever is constant below its one breakpoint",
    "one breakpoint": "activations with one breakpoint",
    "two breakpoints": "activations with two breakpoints",
    "any": "units with breakpoints",
    "maxout": "maxout units",
}


def _layers_with(wanted: Activations, activations: Sequence[Activation | Maxima]) -> tuple[int, str]:
    for depth, activation in enumerate(activations):
        if wanted == "maxout" and isinstance(activation, Maxima):
            return depth, "is for maxout units of certain ranks: compare it with the count by hand"
        if not _is(activation, wanted):
            return depth, f"is for {_DESCRIPTIONS[wanted]}, layer {depth + 1} has {activation.name}"
    return len(activations), ""


def _chained_layers(graph: Graph) -> tuple[int, str]:
    """Return how many of the first hidden layers read the layer before and nothing else, and why not all do."""
    depth, read = graph.first_skip
    if depth == len(graph.hidden):
        return depth, ""
    other = "the input" if read < 0 else f"layer {read + 1}"
    return depth, f"is for chains, where a layer reads only the layer before; layer {depth + 1} reads {other}"


def _is(activation: Activation | Maxima, wanted: str) -> bool:
    if isinstance(activation, Maxima):
        return False
    count = activation.breakpoints.shape[-1]
    return {
        "any": True,
        "one breakpoint": count == 1,
        "two breakpoints": count == 2,
        "relu": count == 1 and not activation.slopes[..., 0].any(),
    }.get(wanted, False)
