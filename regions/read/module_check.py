# SPDX-License-Identifier: MIT
"""Does a torch module compute what was understood of it?

Both are evaluated at random points, the module on a copy in float64 and evaluation mode. Two chains that
differ in one activation or in the order of two layers differ by a good part of the values, equal ones by
rounding, as it is when roundings are independent (`regions/networks/roundings.py`).
This runs the caller's own live object; nothing that came out of a file is ever run.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from regions.arithmetic.types import Floats
from regions.errors import NonFiniteError
from regions.networks.network import Network
from regions.networks.roundings import rounding_variances

POINTS = 64
TOLERANCE = 1e-5
# How far errors may exceed those of independent roundings: units that are alike err alike.
_ALLOWED_ERRORS = 1000.0


def relative_difference(module: Any, network: Network) -> float | None:
    """Largest difference at random points, beyond what rounding explains, over the largest value.

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
            computed = module(torch.from_numpy(points.reshape(POINTS, *network.input_shape))).numpy()
    except Exception:  # the caller's own code, which may expect another shape, type or device
        return None
    try:
        expected = network(points)
    except NonFiniteError:
        return None
    if network.input_shape != (network.n_in,):  # outputs may have a shape, too
        computed = computed.reshape(POINTS, -1)
    if computed.shape != expected.shape or not np.isfinite(computed).all():
        return None
    beyond = np.maximum(np.abs(computed - expected) - _rounding(network, points), 0.0)
    return float(np.max(beyond) / max(np.max(np.abs(expected)), np.finfo(float).tiny))


def _rounding(network: Network, points: Floats) -> Floats:
    """How much of the outputs [n, n_out] may be rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        result: Floats = _ALLOWED_ERRORS * np.sqrt(rounding_variances(network.graph, points))
    return np.where(np.isfinite(result), result, 0.0)  # squares beyond the largest double excuse nothing
