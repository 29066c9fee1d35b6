# SPDX-License-Identifier: MIT
"""How does a network get inputs that are not normalised, if its model was trained on normalised ones?

Models are mostly trained on ``(x - mean) / std``. Domains and data points are clearer in the units of the data, so the
normalisation is folded into the first layer, in float64 (`regions.read.scaling`), or becomes the first node of a graph.
Invariant: each input gets exactly one mean and one deviation. Numbers per channel must have the shape [C, 1, 1],
because three numbers alone do not say whether an image is stored channel by channel. A plain list [C] is accepted only
if the network knows that its inputs have a shape [C, ..].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import NetworkError, ShapeMismatchError
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.types import Floats
from regions.networks.derived import with_first_layer, with_notes, with_scaled_inputs
from regions.networks.network import Network
from regions.read.scaling import subtract_and_divide

__all__ = ["Normalization", "normalize_inputs"]

Normalization = tuple[ArrayLike, ArrayLike] | None


def normalize_inputs(network: Network, normalize: Any) -> Network:
    """Return ``network`` after ``(x - mean) / std``.

    Parameters
    ----------
    network : Network
    normalize : (mean, std)
        Each is a number for all inputs; or an array with one number for each input, flat or as [C, H, W]; or an array
        [C, 1, 1] with one number for each channel. [C] is accepted too if the inputs of the network have a shape
        [C, ..].

    Raises
    ------
    TypeError
        Not a pair.
    ShapeMismatchError, NonFiniteError, NetworkError
        Numbers that do not fit the inputs; NaN or infinity; a deviation that is not positive; an overflow.
    """
    if not isinstance(normalize, (tuple, list)) or len(normalize) != 2:
        raise TypeError(f"normalize must be a pair (mean, std), got {type(normalize).__name__}")
    mean = _for_each_input(normalize[0], network, "mean")
    std = _for_each_input(normalize[1], network, "std")
    if not (std > 0).all():
        index = int(np.argmin(std > 0))
        raise NetworkError(f"normalize: std of input {index} is {std[index]}; a deviation must be positive")
    scaling = subtract_and_divide("normalisation", "(mean, std)", mean, std)
    said = f"inputs are taken as they are: their normalisation, mean {_shown(mean)} and std {_shown(std)}, was "
    ending = "in float64; results are for the rounded weights"
    if not network.is_chain:
        scaled = with_scaled_inputs(network, scaling.scale, scaling.shift)
        return with_notes(scaled, f"{said}made the first node{'' if scaling.exact else f', {ending}'}")
    folded = with_first_layer(network, lambda *layer: scaling.before(*layer)[:2])
    return with_notes(folded, f"{said}folded into the first layer, {ending}")


def _for_each_input(values: ArrayLike, network: Network, name: str) -> Floats:
    given, n_in, shape = exact_float64(values, f"normalize: {name}"), network.n_in, network.input_shape
    if given.size == 1:
        return np.full(n_in, given.item())
    if given.size == n_in:
        return given.ravel()
    by_channel = given.ndim == 3 and given.shape[1:] == (1, 1) and n_in % given.size == 0
    if by_channel or (given.ndim == 1 and len(shape) > 1 and len(given) == shape[0]):
        return np.repeat(given.ravel(), n_in // given.size)
    advice = "give one number, or one for each input"
    if given.size and n_in % given.size == 0:
        each = n_in // given.size
        advice += (
            f"; if these are channels, np.reshape({name}, ({given.size}, 1, 1)) where images are stored channel by "
            f"channel, as [C, H, W], and np.tile({name}, {each}) where pixel by pixel, as [H, W, C]"
        )
    raise ShapeMismatchError(
        f"normalize: {name} has shape {list(given.shape)}, the network takes {n_in} inputs: {advice}"
    )


def _shown(values: Floats) -> str:
    low, high = values.min(), values.max()
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
