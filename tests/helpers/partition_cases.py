# SPDX-License-Identifier: MIT
"""Which networks and domains are partitions tested on?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generators import FAMILIES, draw
from random_networks import random_network
from regions.domains import Domain, Line, Polygon, Ray, Rectangle, Segment
from regions.errors import CheckpointError
from regions.networks.network import Network
from regions.results.partition import Partition, load_partition

SQUARE = Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def drawn(family: str, dimension: int, seed: int = 0) -> tuple[Network, Domain]:
    """Return a draw of a family; in a plane, draw until the domain is bounded."""
    network, domain = draw(family, dimension, seed)
    return (network, domain) if dimension == 1 or domain.bounded else drawn(family, dimension, seed + 1000)


IN_PLANE = {
    "square": (random_network([2, 6, 5, 3]), SQUARE),
    "hard_tanh": (random_network([2, 4, 4, 1], 1, "hard_tanh"), SQUARE),
    "rectangle": (
        random_network([5, 6, 6, 2], 2, "leaky_relu(0.25)"),
        Rectangle(np.full(5, 0.1), *(np.eye(5)[:2] * [[3], [1]])),
    ),
    "parallelogram": (random_network([3, 5, 5, 1], 3, "abs"), Rectangle([0, 0, 1], [2, 0, 1], [1, 1, 0])),
    "classifier": (
        random_network([2, 4, 3, 7], 9, "hard_tanh"),
        SQUARE,
    ),  # more outputs than the chart has columns
    "affine": (random_network([2, 3], 7), SQUARE),
}
ON_LINE = {
    "segment": (random_network([2, 8, 8, 1], 4), Segment([-2, 1], [3, 0])),
    "line": (random_network([3, 6, 6, 2], 5, "relu6"), Line([0, 0, 1], [1, 2, 0])),
    "ray": (random_network([1, 6, 6, 2], 6), Ray([-1], [2])),
}
CASES = {**IN_PLANE, **ON_LINE}

in_plane = pytest.mark.parametrize(("network", "domain"), IN_PLANE.values(), ids=IN_PLANE)
everywhere = pytest.mark.parametrize(("network", "domain"), CASES.values(), ids=CASES)
families = pytest.mark.parametrize(
    ("family", "dimension"), [(family, dimension) for family in FAMILIES for dimension in (1, 2)]
)


def with_header(arrays: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return the arrays of a saved partition with a changed header."""
    header = json.loads(arrays["header"].tobytes())
    change(header)
    return {**arrays, "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}


def read_with_flipped_bytes(partition: Partition, folder: Path) -> Iterator[Any]:
    """Yield what is read from files of a partition in which one bit is wrong, if they are not refused."""
    partition.save(folder / "good.npz")
    content = (folder / "good.npz").read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), 250, replace=False):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        (folder / "damaged.npz").write_bytes(damaged)
        try:
            loaded = load_partition(folder / "damaged.npz")
        except CheckpointError:
            continue
        yield loaded
