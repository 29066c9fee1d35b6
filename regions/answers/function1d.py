# SPDX-License-Identifier: MIT
"""Which function of one variable is a network along a line?

It is continuous and piecewise linear: its knots are vertices of the partition, and between two knots it is affine.
Neighbouring regions with the same map are one piece, decided exactly (`cells/equal_maps.py`). Therefore no shorter
table describes the same function, except that the joints of a polyline are always knots. Values and slopes come with
proven bounds on their errors.
Cost: an enumeration with maps (`cells/output_maps.py`), and proving which neighbours have equal maps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.corner_values import CornerValues
from regions.answers.legs import OnLegs, straight_parts, values_on_legs
from regions.counting.options import takes_timeout
from regions.domains import Curve, Domain
from regions.domains.abilities import FUNCTIONS, TABLES_OF_FUNCTIONS, require
from regions.errors import DomainError
from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import path_of, shown
from regions.ground.arithmetic.arrays import real_numbers, require_finite
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import UP
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import html_table
from regions.networks.network import Network, require_network
from regions.results.cells.equal_maps import equal_maps

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

__all__ = ["Function1D", "function"]

SHOWN = 20
BRACES = str.maketrans("[]", "{}")


@dataclass(frozen=True, eq=False, repr=False)
class Function1D(OnLegs):
    """A network along a segment, ray or line, as a function of the chart coordinate t: ``x = origin + t direction``.

    Along a polyline t is its parameter: it goes from 0 to 1, in equal parts over the legs. Each joint is a knot.

    Attributes
    ----------
    domain : Domain or Polyline
    partition : Partition
        The activation regions along the line.
    partitions : tuple of Partition
        The same for each leg of a polyline; a single entry for other domains.
    legs : int64 [k]
        The leg of each piece; 0 if the domain is not a polyline.
    vertices : int64 [k + 1]
        The vertices of ``partition`` that are knots; ``partition.exact_vertices`` has them as fractions. On a polyline
        they belong to the leg of the piece that begins there, the last one to the last leg.
    knots : float64 [k + 1]
        Where the k pieces begin and end, in increasing order. The first and the last are infinite where the domain is.
    knot_errors : float64 [k + 1]
        Proven bounds on the errors of knots.
    values, errors : float64 [k + 1, n_out]
        The outputs at the knots, and proven bounds on their errors: bounds are infinite at infinite knots.
    slopes, slope_errors : float64 [k, n_out]
        How much the outputs grow with t on each piece, and proven bounds.

    Examples
    --------
    >>> import regions
    >>> hat = regions.Network([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])])
    >>> found = regions.function(hat, regions.Segment([-1.0], [3.0]))
    >>> found.knots, found.slopes.ravel()
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([ 0.,  4., -4.,  0.]))
    >>> found([0.375, 0.6]).ravel().round(12)
    array([0.5, 0.6])
    """

    legs: Integers
    vertices: Integers
    knots: Floats
    knot_errors: Floats
    values: Floats
    errors: Floats
    slopes: Floats
    slope_errors: Floats
    _constants: Floats

    def __len__(self) -> int:
        return len(self.slopes)

    def __call__(self, t: ArrayLike) -> Floats:
        """Evaluate the outputs at chart coordinates [..] within the domain: float64 [.., n_out].

        Raises
        ------
        TypeError, ValueError
            Not real numbers; rows of different lengths.
        DomainError
            A coordinate is outside of the domain; the message names it.
        NonFiniteError
            A value is beyond the largest double.
        """
        places = real_numbers(t, "t")
        flat = places.ravel()
        outside = np.flatnonzero((flat < self.knots[0]) | (flat > self.knots[-1]))
        if outside.size:
            raise DomainError(
                f"t: coordinate {flat[outside[0]]} (number {outside[0]}) is outside of the domain, which goes from "
                f"{self.knots[0]} to {self.knots[-1]}"
            )
        pieces = np.clip(np.searchsorted(self.knots, flat, side="right") - 1, 0, len(self) - 1)
        # Values are extrapolated from the nearest finite knot of the piece, so that little cancels.
        ends = self.knots[pieces], self.knots[pieces + 1]
        with np.errstate(invalid="ignore", over="ignore"):
            nearer = np.abs(flat - ends[0]) <= np.abs(ends[1] - flat)
            knots = np.where(nearer, pieces, pieces + 1)
            found: Floats = self.values[knots] + self.slopes[pieces] * (flat - self.knots[knots])[:, np.newaxis]
            whole = self._constants[pieces] + self.slopes[pieces] * flat[:, np.newaxis]
        found = np.where(np.isfinite(self.knots[knots])[:, np.newaxis], found, whole)
        require_finite(found, "a value of the network")
        return found.reshape(*places.shape, self.slopes.shape[1])

    def to_scipy(self) -> PPoly:
        """Return a `scipy.interpolate.PPoly` with one column for each output; the domain must be bounded."""
        from scipy.interpolate import PPoly

        require(TABLES_OF_FUNCTIONS, self.partitions[0].domain)
        # Pieces so short that their two ends are one double are left out.
        kept = np.flatnonzero(np.diff(self.knots) > 0)
        return PPoly(np.stack([self.slopes[kept], self.values[kept]]), self.knots[np.append(kept, len(self))])

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each knot: its coordinate, the outputs there, and the slopes after it."""
        after = np.vstack([self.slopes, np.full((1, self.values.shape[1]), np.nan)])
        values = np.where(np.isfinite(self.errors), self.values, np.nan)
        columns = {"t": self.knots, **{f"y{i}": row for i, row in enumerate(values.T)}}
        columns |= {f"slope{i}": row for i, row in enumerate(after.T)}
        return {name: [None if np.isnan(x) else x for x in column.tolist()] for name, column in columns.items()}

    def to_c(self, path: str | PathLike[str], name: str = "network") -> None:
        """Write knots, values and slopes as constant arrays of doubles for a C program; the domain must be bounded.

        Parameters
        ----------
        path : path-like
        name : str
            The arrays are called ``name_knots`` [k + 1], ``name_values`` [k + 1][n_out] and ``name_slopes`` [k][n_out].

        Raises
        ------
        ValueError
            The name is not a C identifier of at most 50 characters.
        DomainError
            The domain is unbounded.
        """
        require(TABLES_OF_FUNCTIONS, self.partitions[0].domain)
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,49}", name):
            raise ValueError(
                f"name must be at most 50 letters, digits or underscores, the first no digit, got {shown(name)}"
            )
        lines = [f"/* {len(self)} pieces: on piece i, y = values[i] + slopes[i] * (t - knots[i]) */"]
        for what, array in (("knots", self.knots), ("values", self.values), ("slopes", self.slopes)):
            sizes = "".join(f"[{size}]" for size in array.shape)
            rows = [f"{row}".translate(BRACES) for row in array.tolist()]
            lines.append(f"static const double {name}_{what}{sizes} = {{\n  " + ",\n  ".join(rows) + "\n};")
        with replacing(path_of(path)) as file:
            file.write_text("\n".join(lines) + "\n", encoding="ascii")

    def as_dict(self) -> dict[str, Any]:
        """Knots, values and slopes with their errors."""
        names = ("knots", "knot_errors", "values", "errors", "slopes", "slope_errors")
        return {"regions": self.regions_met, **{name: getattr(self, name).tolist() for name in names}}

    def _repr_html_(self) -> str:
        pairs = zip(self.knots.tolist(), self.slopes.tolist(), strict=False)
        rows = [(f"{knot:.6g}", " ".join(f"{slope:.6g}" for slope in slopes[:5])) for knot, slopes in pairs]
        return html_table(repr(self), ("from t =", "slopes"), rows[:SHOWN])

    def __repr__(self) -> str:
        return f"Function1D({len(self)} piece{'s' * (len(self) != 1)} {self.on_regions})"


@takes_timeout
def function(
    network: Network, domain: Domain | Curve, *, limit: int | None = None, timeout: float | None = None
) -> Function1D:
    """Find the function of one variable that a network is along a segment, ray, line or polyline.

    Parameters
    ----------
    network : Network
    domain : Domain or Polyline
        A segment, ray, line or polyline.
    limit : int, optional
        As for `regions.enumerate`.

    Returns
    -------
    Function1D

    Raises
    ------
    DomainError
        The domain is a polygon or plane, or a curve with arcs.
    LimitReached, TimeoutReached, ShapeMismatchError
        As for `regions.enumerate`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> regions.function(net, regions.Line([0.0], [1.0]))
    Function1D(2 pieces on 2 regions)
    >>> there_and_back = regions.Polyline([[0.0], [2.0], [-2.0]])
    >>> found = regions.function(net, there_and_back)
    >>> found.knots, found.values.ravel()
    (array([0.  , 0.5 , 0.75, 1.  ]), array([0., 2., 0., 2.]))
    """
    parts = straight_parts(domain, require_network(network))
    require(FUNCTIONS, parts[0])
    found = [_on_part(at) for at in values_on_legs(network, network.graph, domain, limit=limit)]
    return found[0] if len(parts) == 1 else _joined(domain, found)


def _on_part(at: CornerValues) -> Function1D:
    """The function along a segment, ray or line."""
    partition, maps = at.partition, at.maps
    assert maps is not None
    numbers = equal_maps(partition)
    firsts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    corners = partition.cell_vertices.reshape(-1, 2)
    vertices = np.append(corners[firsts, 0], corners[-1, 1])
    values, errors = at.rounded
    forms, form_errors = maps.values[firsts], maps.errors[firsts]
    require_finite(forms.reshape(len(firsts), -1), "a slope of the network")
    knots = partition.vertices[vertices, 0], partition.vertex_errors[vertices]
    slopes = forms[..., 1], form_errors[..., 1], forms[..., 0]
    legs = np.zeros(len(firsts), dtype=np.int64)
    return Function1D(
        partition.domain, (partition,), legs, vertices, *knots, values[vertices], errors[vertices], *slopes
    )


def _joined(curve: Domain | Curve, found: Sequence[Function1D]) -> Function1D:
    """The function along a polyline. A joint is the first knot of the leg that begins there.

    The leg before it may end, by rounding, at another point: the bound on the error of the value covers both.
    """
    count = len(found)
    ends = [slice(0, -1)] * (count - 1) + [slice(0, None)]
    legs = np.repeat(np.arange(count), [len(each) for each in found])
    at_knots = np.append(legs, count - 1)[:, np.newaxis]

    def of_knots(name: str) -> Floats:
        return np.concatenate([getattr(each, name)[end] for each, end in zip(found, ends, strict=True)])

    def of_pieces(name: str) -> Floats:
        return np.concatenate([getattr(each, name) for each in found])

    values, errors = of_knots("values"), of_knots("errors")
    for joint, before in zip(np.cumsum([len(each) for each in found[:-1]]).tolist(), found[:-1], strict=True):
        apart = (np.abs(before.values[-1] - values[joint]) + before.errors[-1]) * UP
        errors[joint] = np.maximum(errors[joint], apart)
    knots, knot_errors = (Proven(of_knots("knots"), of_knots("knot_errors")) + at_knots[:, 0]) / count
    slopes, constants = of_pieces("slopes"), of_pieces("_constants")
    with np.errstate(over="ignore"):
        steeper, slope_errors = Proven(slopes, of_pieces("slope_errors")) * count
        constants = constants - legs[:, np.newaxis] * slopes
    require_finite(steeper, "a slope of the network")
    partitions = tuple(each.partition for each in found)
    vertices = np.concatenate([each.vertices[end] for each, end in zip(found, ends, strict=True)])
    return Function1D(
        curve, partitions, legs, vertices, knots, knot_errors, values, errors, steeper, slope_errors, constants
    )
