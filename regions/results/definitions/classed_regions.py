# SPDX-License-Identifier: MIT
"""What is a partition whose regions have classes?

The base of results that `plot` can draw with exact borders between classes: see `regions.decisions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from regions.ground.arithmetic.types import Integers
from regions.networks.network import Network
from regions.results.partition import Partition

__all__ = ["ClassedRegions"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassedRegions:
    """The classes of the regions of a network with units that compare its outputs.

    Attributes
    ----------
    partition : Partition
        Its network has one more hidden layer than the network that was asked about: the comparisons.
    classes : int64 [R]
        Class of each region.
    facets : int64 [m]
        The facets between regions of different classes.
    names : dict of int to str
        Name of each class in pictures.
    scores : Network
        Its largest output gives the class.
    """

    partition: Partition = field(repr=False)
    classes: Integers
    facets: Integers
    names: Mapping[int, str] = field(repr=False)
    scores: Network = field(repr=False)

    @property
    def labels(self) -> Integers:
        """Number of the region of the network itself, without comparisons, that contains each region: int64 [R]."""
        kinks = self.partition.network.graph.hidden[-1].kinks
        _, labels = np.unique(self.partition.patterns[:, : kinks.start], axis=0, return_inverse=True)
        return labels.ravel().astype(np.int64)
