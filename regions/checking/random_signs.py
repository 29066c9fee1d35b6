# SPDX-License-Identifier: MIT
"""Has a network more regions, or fewer, than the same network with random signs?

A sign-twin has the weights and biases of a network, with a random sign for each neuron: its row, and the columns that
read it, are multiplied by 1 or -1. The mean over all signs has an exact meaning for any weights, trained or not: it is
the mean number of cells of hyperplane arrangements (``docs/depth.md``). So twins show what a network owes to the size
of its weights alone.
Cost: a count for each twin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from regions.checking.items import OrderItem
from regions.checking.layers import work_per_region
from regions.counting.count_and_enumerate import count
from regions.counting.options import takes_timeout
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.errors import LimitReached, NetworkError
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, generator, samples, shown
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Integers
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress
from regions.measures.estimate import Estimate
from regions.networks.network import Network, require_network, with_graph
from regions.networks.sign_flips import free_signs

__all__ = ["SignTwins", "sign_twins", "twins_item"]

# In a report on theory: the number of twins, and the budget of multiplications for all of them, some seconds.
TWINS_OF_REPORTS = 30
TWINS_BUDGET = 1e10
NAME = "regions"


@dataclass(frozen=True, eq=False, repr=False)
class SignTwins(JsonReport):
    """The regions of a network and of its sign-twins; returned by `regions.sign_twins`.

    Attributes
    ----------
    regions : int
        Activation regions of the network.
    counts : int64 [twins]
        Activation regions of each twin.
    """

    ROWS = ("counts",)
    NUMBER = "twin"

    regions: int
    counts: Integers

    @property
    def mean(self) -> float:
        """The mean of the counts; its standard error is ``spread`` over the root of the number of twins."""
        return Estimate(self.counts.astype(np.float64)).value

    @property
    def spread(self) -> float:
        """The standard deviation of the counts."""
        return float(self.counts.std(ddof=1))

    @property
    def rank(self) -> float:
        """The fraction of the twins that have fewer regions, where equal counts are halved.

        If the signs of the network were random themselves, every rank would be equally likely.
        """
        below, equal = (self.counts < self.regions).sum(), (self.counts == self.regions).sum()
        return float((below + equal / 2) / len(self.counts))

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers: ``regions``, ``mean``, ``spread``, ``rank`` and ``counts``."""
        facts = {name: getattr(self, name) for name in ("regions", "mean", "spread", "rank")}
        return {**facts, "counts": self.counts.tolist()}

    def __str__(self) -> str:
        return f"with random signs {self.mean:,.0f} +- {self.spread:,.0f}; this network {self.regions:,}"

    def __repr__(self) -> str:
        return f"SignTwins({self}; {len(self.counts)} twins)"

    def _repr_html_(self) -> str:
        facts = [
            ("this network", f"{self.regions:,}"),
            ("mean with random signs", f"{self.mean:,.1f}"),
            ("spread with random signs", f"{self.spread:,.1f}"),
            ("fraction with fewer regions", f"{self.rank:.3g}"),
            ("twins", f"{len(self.counts):,}"),
        ]
        return facts_table("Regions with random signs", facts)


@takes_timeout
def sign_twins(
    network: Network,
    domain: Domain | Curve,
    twins: int = 30,
    *,
    rng: int | np.random.Generator = 0,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> SignTwins:
    """Count the activation regions of a network, and of the same network with random signs of its neurons.

    The sign of a neuron multiplies its weights and its bias, and the weights with which others read it. Magnitudes stay
    the same, so the twins need no assumption about the law of the weights. The mean over all signs is known: it is
    the mean over arrangements of hyperplanes, one for each choice of open and closed neurons. In the whole space,
    for a chain of layers, it is at most `regions.bounds.expected_regions`, with the ``slope`` of the activation. A
    trained network can therefore be compared with it.

    Parameters
    ----------
    network : Network
        Its activations have two slopes and a kink at 0 (ReLU, leaky ReLU, PReLU, abs), or are maxima of two branches.
        Each neuron is read through matrices: chains, residual branches x + V relu(W x + b), dense concatenation.
    domain : Domain or Curve
    twins : int
        At least 2.
    rng : int or numpy.random.Generator
    limit, timeout, progress, workers
        As for `regions.count`, with all networks together.

    Returns
    -------
    SignTwins

    Raises
    ------
    TypeError
        Not a network; several domains, or none.
    NetworkError
        Neurons have no signs of their own: convolutions, pools, skips without a matrix, other activations. The message
        names the node.
    LimitReached, TimeoutReached, KeyboardInterrupt
        ``partial`` is the array of the finished counts, of the network first.

    Examples
    --------
    >>> import regions
    >>> net = regions.constructions.serra_fold([3, 4])
    >>> found = regions.sign_twins(net, regions.Line([0.0], [1.0]), 100)
    >>> found.regions, round(found.mean, 1), found.rank
    (20, 8.3, 0.9)
    >>> float(regions.bounds.expected_regions(1, [3, 4]))
    7.5
    """
    require_network(network)
    if not isinstance(domain, (Domain, Curve)):
        raise TypeError(f"domain must be a single domain such as regions.Polygon, got {shown(domain)}")
    drawn = twins_of(network, samples(twins, "twins"), generator(rng))
    found = count([network, *drawn], domain, limit=limit, progress=progress, workers=workers)
    return SignTwins(int(found[0]), read_only(found[1:]))


def twins_item(network: Network, domain: Domain, found: int) -> OrderItem:
    """Compare the number of regions that was found with sign-twins, for a report on theory."""
    limit = int(TWINS_BUDGET / TWINS_OF_REPORTS / (network.graph.products + work_per_region(domain)))
    long = f"twins are left out, as {TWINS_OF_REPORTS} counts like this one take long: call regions.sign_twins for them"
    if found > limit:
        return OrderItem(NAME, None, None, "", long)
    try:
        twins = sign_twins(network, domain, TWINS_OF_REPORTS, limit=limit)
    except NetworkError as reason:
        return OrderItem(NAME, None, None, "", f"twins are left out: {reason}")
    except LimitReached:
        return OrderItem(NAME, None, None, "", long)
    return OrderItem(NAME, float(found), found / twins.mean, f"mean of twins, {twins.mean:,.6g}", str(twins))


def twins_of(network: Network, twins: int, rng: np.random.Generator) -> list[Network]:
    """Draw networks with the same weights and random signs; their outputs may have another sign."""
    signs = free_signs(network.graph)
    drawn = rng.choice([-1.0, 1.0], (twins, signs.count))
    return [with_graph(network, signs.flipped(each)) for each in drawn]
