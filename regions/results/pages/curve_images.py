# SPDX-License-Identifier: MIT
"""How is the image of a curve after a layer shown in a plane?

Projected on the two principal directions of its points, in which it is widest. A picture says which share of the
variance of the points it keeps. Two units need no projection, and the output of a single unit is shown over the curve's
parameter. Images have no unit: each is scaled by a power of two, so that it can be drawn.
Cost: a forward pass up to each layer that is shown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from regions.errors import NonFiniteError
from regions.ground.arithmetic.types import Floats
from regions.networks.derived import cut_off
from regions.networks.network import Network

__all__ = ["PlaneImage", "dense_times", "image_after", "image_name", "images_of", "in_plane", "layers_shown"]

# At most MEASURED points are used to find the principal directions, and a page shows at most MOST_PANELS images.
MEASURED, MOST_PANELS = 1000, 12


class PlaneImage(NamedTuple):
    """Points in a plane.

    Attributes
    ----------
    points : float64 [k, 2]
    units : int
        Dimension of the space that they come from.
    share : float or None
        Share of the variance that the projection keeps; None if nothing was projected, or all points are the same.
    """

    points: Floats
    units: int
    share: float | None


def layers_shown(layers: int, most: int) -> list[int]:
    """Return at most ``most`` layers from 0 to ``layers``: the first, the last, and evenly spaced ones between."""
    return sorted({round(layer) for layer in np.linspace(0, layers, min(layers + 1, most)).tolist()})


def dense_times(starts: Floats, between: int) -> Floats:
    """Return the parameters at which strands start [m], ``between`` more on each strand, and the end, 1."""
    ends = np.append(starts, 1.0)
    shares = np.linspace(0.0, 1.0, between + 2)[:-1]
    return np.append(ends[:-1, np.newaxis] + np.diff(ends)[:, np.newaxis] * shares, 1.0)


def image_name(layer: int, depth: int) -> str:
    """Return what the image after a layer is called, from 0 (the curve itself) to depth + 1 (the output)."""
    return "input" if layer == 0 else "output" if layer > depth else f"layer {layer}"


def image_after(network: Network, inputs: Floats, layer: int) -> Floats:
    """Return the images of inputs [k, n_in] after a layer: 0 is the input, the last one the output; float64 [k, n]."""
    if layer == 0:
        return inputs
    return (network if layer > len(network.graph.hidden) else cut_off(network, layer, readout=True))(inputs)


def in_plane(points: Floats, times: Floats) -> PlaneImage:
    """Return points [k, n], at parameters ``times`` [k] of the curve, as points of a plane."""
    units = points.shape[1]
    centred = np.ldexp(points, -int(np.frexp(np.abs(points).max(initial=0.0))[1]))
    centred = centred - centred.mean(axis=0)
    if units == 1:
        return PlaneImage(np.column_stack([times, centred]), units, None)
    if units == 2:
        return PlaneImage(centred, units, None)
    _, lengths, axes = np.linalg.svd(centred[:: -(-len(centred) // MEASURED)], full_matrices=False)
    squares = lengths**2
    share = float(squares[:2].sum() / squares.sum()) if squares.sum() > 0 else None
    flat = centred @ axes[:2].T
    return PlaneImage(flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros(len(flat))]), units, share)


def images_of(network: Network, inputs: Floats, times: Floats) -> tuple[list[dict[str, Any]], Floats]:
    """Return what the images on a page are called, and their points, float64 [images, 2, k].

    ``inputs`` [k, n_in] are the points of the curve at ``times`` [k]. An image beyond the largest double is left out.
    """
    depth = len(network.graph.hidden)
    panels, images = [], []
    for layer in layers_shown(depth + 1, MOST_PANELS):
        try:
            flat, units, share = in_plane(image_after(network, inputs, layer), times)
        except NonFiniteError:
            continue
        panels.append({"name": image_name(layer, depth), "layer": layer, "units": units, "share": share})
        images.append(flat.T)
    return panels, np.array(images)
