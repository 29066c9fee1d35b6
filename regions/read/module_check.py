# SPDX-License-Identifier: MIT
"""Does a torch module compute what was understood of it?

Both are evaluated at random points, the module on a copy in float64 and evaluation mode. Two chains that
differ in one activation or in the order of two layers differ by a good part of the values, equal ones by
rounding. This runs the caller's own live object; nothing that came out of a file is ever run.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from regions.errors import NonFiniteError
from regions.network import Network

POINTS = 64
TOLERANCE = 1e-5


def relative_difference(module: Any, network: Network) -> float | None:
    """Largest difference at random points over the largest value.

    Parameters
    ----------
    module : torch.nn.Module
    network : Network

    Returns
    -------
    float or None
        None if the module can not be run on points [64, n_in], or gives something else than finite [64,
        n_out].
    """
    import torch

    # Points of several sizes, so that activations with far-away breakpoints are seen at work too.
    generator = np.random.default_rng(0)
    sizes = 10.0 ** generator.uniform(-1.0, 2.0, (POINTS, 1))
    points = generator.standard_normal((POINTS, network.n_in)) * sizes
    try:
        with torch.no_grad():
            module = copy.deepcopy(module).cpu().double().eval()
            computed = module(torch.from_numpy(points)).numpy()
    except Exception:  # the caller's own code, which may expect another shape, type or device
        return None
    try:
        expected = network(points)
    except NonFiniteError:
        return None
    if computed.shape != expected.shape or not np.isfinite(computed).all():
        return None
    return float(np.max(np.abs(computed - expected)) / max(np.max(np.abs(expected)), np.finfo(float).tiny))
