# SPDX-License-Identifier: MIT
"""Which network computes the state of a closed loop after some steps, if the controller is a network?

One step maps a state x to ``A x + B f(x) + c``, which is a network with a skip connection. Several steps are that
network after itself. Weights are copied, not multiplied, so nothing is rounded: the composed network is exactly the
loop with the matrices as they are given.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import integer
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.types import Floats
from regions.networks.network import Network, require_network, with_graph
from regions.networks.parts import in_sequence, with_forms

__all__ = ["MOST_STEPS", "closed_loop", "repeated", "require_loop"]

# More steps would make a graph of unreasonable size.
MOST_STEPS = 1000


def closed_loop(
    network: Network,
    A: ArrayLike | None = None,
    B: ArrayLike | None = None,
    c: ArrayLike | None = None,
    steps: int = 1,
) -> Network:
    """Return the network that maps a state x to the state after some steps of ``x+ = A x + B f(x) + c``.

    Parameters
    ----------
    network : Network
        The controller f, a function of the state.
    A : array-like [n, n], optional
        The part of the next state that does not depend on f; 0 by default. n is the number of inputs of f.
    B : array-like [n, n_out], optional
        How the outputs of f act on the state; the identity by default, for as many outputs as inputs.
    c : array-like [n], optional
        A constant; 0 by default.
    steps : int
        The number of steps.

    Returns
    -------
    Network
        With n inputs and n outputs.

    Raises
    ------
    ShapeMismatchError
        The matrices do not fit the network; or B is left out, and the numbers of inputs and outputs of f differ.
    NonFiniteError, NetworkError
        NaN, infinity, or numbers that a double cannot hold exactly.

    Examples
    --------
    A double integrator with a saturated linear feedback:

    >>> import regions
    >>> feedback = regions.Network([([[-1.0, -2.0]], [0.0]), ([[1.0]], [0.0])], activation="hard_tanh")
    >>> loop = regions.closed_loop(feedback, A=[[1.0, 0.5], [0.0, 1.0]], B=[[0.0], [0.5]])
    >>> loop([0.25, 0.0]).tolist()
    [0.25, -0.125]
    >>> regions.closed_loop(feedback, A=[[1.0, 0.5], [0.0, 1.0]], B=[[0.0], [0.5]], steps=2)([0.25, 0.0]).tolist()
    [0.1875, -0.125]
    """
    n, outputs = require_network(network).n_in, network.n_out
    count = integer(steps, "steps", most=MOST_STEPS)
    if B is None and n != outputs:
        raise ShapeMismatchError(
            f"B is missing: the network has {n} inputs and {outputs} outputs, so B must be a matrix [{n}, {outputs}]"
        )
    if A is None and B is None and c is None:
        return repeated(network, count)
    of_outputs = np.eye(n) if B is None else _matrix(B, "B", (n, outputs), network)
    constants = np.zeros(n) if c is None else _matrix(c, "c", (n,), network)
    of_state = None if A is None else _matrix(A, "A", (n, n), network)
    return repeated(with_graph(network, with_forms(network.graph, of_outputs, constants, of_state)), count)


def repeated(loop: Network, steps: int) -> Network:
    """Return the network that applies a network, with as many outputs as inputs, this often: one time or more."""
    return loop if steps == 1 else with_graph(loop, reduce(in_sequence, [loop.graph] * steps))


def require_loop(network: Network) -> None:
    """Refuse a network that does not map states to states."""
    if require_network(network).n_in != network.n_out:
        raise ShapeMismatchError(
            f"a loop maps states to states, and this network has {network.n_in} inputs and {network.n_out} outputs; "
            "regions.closed_loop(network, A, B) makes a loop of a controller"
        )


def _matrix(given: ArrayLike, name: str, shape: tuple[int, ...], network: Network) -> Floats:
    matrix = exact_float64(given, name)
    if matrix.shape != shape:
        what = f"the network has {network.n_in} inputs and {network.n_out} outputs"
        raise ShapeMismatchError(f"{name} must have shape {list(shape)}, got {list(matrix.shape)}: {what}")
    return matrix
