# SPDX-License-Identifier: MIT
"""Is a network compiled once, and is its compiled form freed with it?"""

from __future__ import annotations

import gc
import pickle
from weakref import ref

import regions
from regions.counting.run import compiled


def test_a_network_is_compiled_once_and_freed_with_it() -> None:
    network = regions.Network([([[1.0, 2.0]], [0.5]), ([[1.0]], [0.0])])
    kept = compiled(network).compiled
    assert compiled(network).compiled is kept
    assert compiled(pickle.loads(pickle.dumps(network))).compiled is not kept
    graph = ref(network.graph)
    del network
    gc.collect()
    assert graph() is None
