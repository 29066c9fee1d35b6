# SPDX-License-Identifier: MIT
"""How do tests divide an enumeration into tasks, and run any tasks as if on other machines?"""

from __future__ import annotations

import pickle
import random
from typing import Any

from regions import jobs
from regions.networks.network import Network


def pieces_of(network: Network, domain: Any, n: int, **options: Any) -> list[jobs.Task]:
    return jobs.split(network, domain, n, function="enumerate", **options)


def done(pieces: list[jobs.Task]) -> list[jobs.Result]:
    """Run all tasks, pickling tasks and results on the way, and return the results in another order."""
    results = [pickle.loads(pickle.dumps(jobs.run(pickle.loads(pickle.dumps(task))))) for task in pieces]
    random.Random(0).shuffle(results)
    return results
