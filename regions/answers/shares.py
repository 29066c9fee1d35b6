# SPDX-License-Identifier: MIT
"""What are the total size of some regions and their share of the domain, up to proven bounds?"""

from __future__ import annotations

import numpy as np

from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Box
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.sums import correct_sum
from regions.ground.arithmetic.types import Bits, Floats
from regions.networks.network import Network
from regions.results.cells.cell_errors import sum_error
from regions.results.partition import Partition

__all__ = ["proven_share", "proven_sum"]


def proven_sum(sizes: Floats, errors: Floats) -> tuple[float, float]:
    """Return the sum of sizes [m] that are known up to errors [m], and a bound on its error."""
    return correct_sum(sizes), sum_error(sizes, errors)


def proven_share(partition: Partition, chosen: Bits) -> tuple[float, float]:
    """Return the share of a bounded domain's length, area or volume in the chosen regions, and a bound on its error."""
    if not chosen.any():
        return 0.0, 0.0
    volumes, errors = partition.volumes, partition.volume_errors
    if partition.complete:
        total = Proven(*proven_sum(volumes, errors))
    elif partition.domain.dimension > 2 and not isinstance(partition.domain, Box):
        affine = Network([(np.zeros((1, partition.domain.n_in)), None)])
        whole = enumerate_regions(affine, partition.domain)  # one region
        total = Proven(*proven_sum(whole.volumes, whole.volume_errors))
    else:
        total = Proven.rounded(partition.domain.volume, 4)  # the square root of an exact number; both are rounded
    if not total.positive:  # below the smallest doubles, or beyond the largest: nothing is known
        return 0.5, 0.5
    share = Proven(*proven_sum(volumes[chosen], errors[chosen])) / total
    return float(share.value), float(share.error)
