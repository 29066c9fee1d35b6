# SPDX-License-Identifier: MIT
"""Does a bound apply to this network, on this domain?

Activations are compared by their functions, not by their names. Conditions on the domain and on the position of the
neurons are decided exactly, in integers and fractions. Each answer is a reason why not, or "".
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Objects
from regions.bounds.registry import Bound
from regions.domains import Domain
from regions.domains.gram import independent
from regions.measures.boundary import inner_degrees, switching_kinks
from regions.networks.activation import Activation
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.networks.rounded import at_points
from regions.partition import Partition
from regions.passes.exact import ExactForms

__all__ = ["covered_layers", "why_not_generic", "why_not_here", "why_not_linear"]


def covered_layers(bound: Bound, network: Network) -> tuple[int, str]:
    """Return the number of first hidden layers whose activations a bound covers, and why it does not cover all."""
    wanted = bound.activations
    for depth, activation in enumerate(network.activations):
        if wanted == "maxout" and isinstance(activation, Maxima):
            return (
                depth,
                "is for maxout units of certain ranks: compare it with the count by hand",
            )
        if not _is(activation, wanted):
            return depth, f"is for {_DESCRIPTIONS[wanted]}, layer {depth + 1} has {activation.name}"
    return len(network.widths), ""


def why_not_here(bound: Bound, network: Network, partition: Partition) -> str:
    """Return why a bound does not hold on this domain, or for neurons in this position; or ""."""
    domain = partition.domain
    if bound.domain == "whole space" and (domain.generators[:, 0] != 0.0).any():
        return f"is about the whole space, or a whole line or plane of it; this is {domain!r}"
    if bound.condition == "zero biases":
        return why_not_linear(network, domain)
    if bound.condition == "generic":
        return why_not_generic(partition)
    return ""


def why_not_linear(network: Network, domain: Domain) -> str:
    """Return why the first layer does not cut the domain by hyperplanes through the origin; or ""."""
    at_origin = next(at_points(network.graph, np.zeros((1, network.n_in))))
    if at_origin.any() or network.kink_values[network.kink_layers == 0].any():
        return "is for layers without biases"
    origin = domain.origin
    if not origin.any():
        return ""
    # The chart may start anywhere, if the line or plane itself contains the origin.
    outside = independent(np.vstack([domain.directions, origin]))
    return "is for lines and planes through the origin" if outside else ""


def why_not_generic(partition: Partition) -> str:
    """Return why the neurons are not in general position, as far as a domain shows; or "".

    General position: no two kinks switch across one facet, all vertices inside have four facets (d = 2), and the first
    layer has as many independent directions in the domain as it can.
    """
    facets, _ = switching_kinks(partition)
    if (np.diff(facets) == 0).any():
        return "is for neurons in general position; here some switch in the same place"
    if partition.dimension == 2:
        degrees = inner_degrees(partition, partition.facet_kinks >= 0)
        if (degrees[degrees > 0] != 4).any():
            return "is for neurons in general position; here some vertices do not have four facets"
    linear = ExactForms(partition.network.graph, partition.domain).preactivations(0).integers[1:].T
    if _rank(linear) < min(linear.shape):
        return "is for neurons in general position; the first layer is parallel, or constant, on the domain"
    return ""


_DESCRIPTIONS = {
    "relu": "ReLU and whatever is constant below its one breakpoint",
    "one breakpoint": "activations with one breakpoint",
    "two breakpoints": "activations with two breakpoints",
    "any": "units with breakpoints",
    "maxout": "maxout units",
}


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


def _rank(rows: Objects) -> int:
    """Return the exact rank of integers [n, d], d = 1 or 2."""
    nonzero = [row for row in rows.tolist() if any(row)]
    if not nonzero or rows.shape[1] == 1:
        return int(bool(nonzero))
    a, b = nonzero[0]
    return 2 if any(a * y != b * x for x, y in nonzero) else 1
