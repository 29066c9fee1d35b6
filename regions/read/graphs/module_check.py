# SPDX-License-Identifier: MIT
"""Does a torch module compute the same function as the network that was read from it?

The module, copied to float64 and evaluation mode, and the network are evaluated at random points. Two networks that
differ in one activation, in the order of two layers or in a stride have very different values at almost every point.
Equal networks differ only by rounding (`regions/networks/roundings.py`). The check is evidence and not a proof: it uses
64 points, and fewer for large networks.
If a module is written for a batch of one, it is evaluated at each point alone.
The check runs the caller's own object. Nothing from a file is ever run.
"""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from regions.errors import NonFiniteError
from regions.ground.arithmetic.types import Floats
from regions.networks.network import Network
from regions.networks.roundings import rounding_variances

# Large networks are evaluated at fewer points, so that the check takes about as long as reading the network.
POINTS, LEAST_POINTS = 64, 4
PRODUCTS = 2**28
TOLERANCE = 1e-5
# Errors may exceed the errors of independent roundings by this factor, because equal units make equal errors.
_ALLOWED_ERRORS = 1000.0


def relative_difference(module: Any, network: Network, *, without_casts: bool = False) -> float | None:
    """Return the largest difference at random points, divided by the largest value.

    Differences that rounding explains are not counted. This is checked only if the difference is above `TOLERANCE`.

    Parameters
    ----------
    module : torch.nn.Module
    network : Network
    without_casts : bool
        Whether the module computes in float64 where it casts to narrower types.

    Returns
    -------
    float or None
        None if the module cannot be run on points [n, n_in], or its outputs are not finite [n, n_out].
    """
    import torch

    # Points of several sizes, so that activations with distant breakpoints are tested, too.
    count = points_for(network)
    sizes = 10.0 ** np.linspace(-1.0, 2.0, count)[:, np.newaxis]
    points = np.random.default_rng(0).standard_normal((count, network.n_in)) * sizes
    with torch.no_grad(), _without_casts() if without_casts else nullcontext():
        try:
            module = copy.deepcopy(module).cpu().double().eval()
            computed = _values(module, network, points)
            if computed is None:  # its code may be for a batch of one
                computed = np.concatenate([_values(module, network, points[i : i + 1]) for i in range(count)])
        except Exception:  # the caller's own code, which may expect another shape, type or device
            return None
    try:
        expected = network(points)
    except NonFiniteError:
        return None
    if computed.shape != expected.shape or not np.isfinite(computed).all():
        return None
    difference, largest = np.abs(computed - expected), max(np.max(np.abs(expected)), np.finfo(float).tiny)
    if np.max(difference) > TOLERANCE * largest:
        difference = np.maximum(difference - _rounding(network, points), 0.0)
    return float(np.max(difference) / largest)


def _without_casts() -> AbstractContextManager[Any]:
    """Return a context in which torch casts to float64 where a module asks for a narrower type of real numbers."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Wide(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            given = dict(kwargs or {})
            kind = given.get("dtype")
            if func is torch.ops.aten._to_copy.default and isinstance(kind, torch.dtype) and kind.is_floating_point:
                given["dtype"] = torch.float64
            return func(*args, **given)

    return Wide()


def _values(module: Any, network: Network, points: Floats) -> Any:
    """Return the outputs of a module at points, [n, n_out]; None if its result is not a batch of the same length.

    A batch of one may come without its axis.
    """
    import torch

    count = len(points)
    try:
        computed = module(torch.from_numpy(points.reshape(count, *network.input_shape))).numpy()
    except Exception:
        if count == 1:
            raise
        return None
    if network.input_shape == (network.n_in,) and count > 1:
        return computed if computed.shape[:1] == (count,) else None
    if count == 1 or (computed.shape[:1] == (count,) and computed.size == count * network.n_out):
        return computed.reshape(count, -1)  # outputs may have a shape, too
    return None


def mixes_points(module: Any, network: Network) -> bool:
    """Return whether the outputs of a module at one point depend on the other points of its batch."""
    import torch

    points = np.random.default_rng(1).standard_normal((3, network.n_in))
    with torch.no_grad():
        module = copy.deepcopy(module).cpu().double().eval()
        together = _values(module, network, points)
        if together is None:
            return False
        apart = np.concatenate([_values(module, network, points[i : i + 1]) for i in range(len(points))])
    return together.shape == apart.shape and not np.allclose(together, apart, rtol=TOLERANCE, atol=TOLERANCE)


def points_for(network: Network) -> int:
    """Return the number of points at which a network is compared with its module."""
    return max(LEAST_POINTS, min(POINTS, PRODUCTS // network.graph.products))


def _rounding(network: Network, points: Floats) -> Floats:
    """Return the differences of outputs that rounding may explain: [n, n_out]."""
    with np.errstate(over="ignore", invalid="ignore"):
        result: Floats = _ALLOWED_ERRORS * np.sqrt(rounding_variances(network.graph, points))
    return np.where(np.isfinite(result), result, 0.0)  # after overflow, no difference is explained by rounding
