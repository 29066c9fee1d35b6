# SPDX-License-Identifier: MIT
"""At which point is a property violated, exactly, and do rounded evaluations violate it too?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.types import Floats
from regions.networks.graph import Graph
from regions.networks.rounded import SingleValues, at_points

__all__ = ["Witness", "witness_at"]


@dataclass(frozen=True, eq=False)
class Witness:
    """A point of the domain at which a property is violated, exactly.

    Attributes
    ----------
    point : tuple of Fraction [d]
        In the chart of the domain, or of a leg of a polyline.
    outputs : tuple of Fraction [n_out]
        The outputs of the stored network at this point, exactly.
    input : float64 [n_in]
        The point of input space, rounded.
    replayed : bool
        Whether the property is violated as well if the network is evaluated at ``input`` in float64.
    replayed_float32 : bool
        The same in float32, with ``input`` rounded to float32.
    leg : int
        The leg of a polyline; 0 on other domains.
    """

    point: tuple[Fraction, ...]
    outputs: tuple[Fraction, ...]
    input: Floats
    replayed: bool
    replayed_float32: bool
    leg: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The witness, with fractions rounded."""
        return {
            "input": self.input.tolist(),
            "outputs": [nearest_float(value) for value in self.outputs],
            "replayed": self.replayed,
            "replayed_float32": self.replayed_float32,
        }


def witness_at(
    graph: Graph,
    place: tuple[Fraction, ...],
    outputs: Sequence[Fraction],
    point: Floats,
    violates: Callable[[list[float]], bool],
) -> Witness:
    """Return a point that violates a property, and replay it: the outputs of this graph, rounded, violate it or not."""
    with np.errstate(over="ignore", invalid="ignore"):
        *_, double = at_points(graph, point[np.newaxis])
        *_, single = at_points(graph, point[np.newaxis].astype(np.float32), SingleValues())
    replayed = [bool(np.isfinite(each).all()) and violates(each[0].tolist()) for each in (double, single)]
    return Witness(place, tuple(outputs), point, *replayed)
