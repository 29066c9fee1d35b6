# SPDX-License-Identifier: MIT
"""How does a network transform a curve, layer by layer?

One run of the core cuts the curve where a unit moves to another piece of its activation, and all results of a layer
follow from that. They are the number of pieces of the layers up to it, the number of switches of each neuron, and the
length of the image. Counts are exact, lengths are floating point with a bound on their error.
Cost: the enumeration, and one product with the weights for each piece and layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from regions.counting.legs_counted import strands_of
from regions.counting.options import Options, asked, takes_timeout
from regions.counting.run import Model, compiled
from regions.domains import Segment
from regions.domains.curves import ArcLeg, Curve, as_curve
from regions.errors import WorkStopped
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, integer, list_of
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.proven_digits import proven_digits, upper_digit
from regions.ground.text.tables import aligned, html_table
from regions.ground.threads.progress import Progress, Report, reporting
from regions.ground.threads.workers import each_by_workers
from regions.measures.image_lengths import image_lengths
from regions.networks.network import Network
from regions.pictures.picture_files import figure_or_new
from regions.results.cells.strands import FoundAlongCurve, Strands
from regions.results.pages.curve_images import dense_times, image_after, image_name, layers_shown
from regions.results.pages.page import curve_page_pieces, page_file, write_pieces
from regions.studies.trajectory_picture import MOST_IMAGES, Image, draw_trajectory, size_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Trajectory", "trajectory"]

HEAD = ("layer", "length", "off at most", "growth", "transitions", "pieces")
# Least number of points of a drawn curve.
DRAWN = 500


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(FoundAlongCurve, JsonReport):
    """A curve, and its images after each layer; returned by `regions.trajectory`.

    Attributes
    ----------
    network : Network
    curve : Curve
    lengths : float64 [layers + 1]
        Lengths of the curve in input space, of its image after each hidden activation, and of its image in output
        space; infinity beyond the largest double.
    length_errors : float64 [layers + 1]
        Bounds on the errors of the lengths; infinity if unknown.
    transitions : int64 [hidden layers]
        Number of times that a neuron of each hidden layer moves from one piece of its activation to the next, all
        neurons together: a hard tanh that moves from -1 to 1 at once counts twice.
    kink_transitions : int64 [kinks]
        The same for each kink, in the order of `Network.kink_layers`.
    pieces : int64 [hidden layers]
        Number of pieces of the curve: longest parts with one activation pattern of the hidden layers up to this one.
    n_patterns : int
        Distinct activation patterns; on lines as many as there are pieces, on arcs perhaps fewer.
    strands : Strands
        The parts between breakpoints and joints of legs, as the core found them; `certify` checks them.

    References
    ----------
    Raghu et al. 2017, section 2 (transitions, trajectory length). Price and Tanner 2020.
    """

    ROWS = ("lengths", "length_errors")
    NUMBER = "layer"

    network: Network
    curve: Curve
    lengths: Floats
    length_errors: Floats
    transitions: Integers
    kink_transitions: Integers
    pieces: Integers
    n_patterns: int
    strands: Strands

    @property
    def growth(self) -> Floats:
        """Each length over the one before it, float64 [layers]; NaN after a length of 0 and between infinite ones."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.lengths[:-1] > 0, self.lengths[1:] / self.lengths[:-1], np.nan)

    @property
    def growth_errors(self) -> Floats:
        """Bounds on the errors of the growth, float64 [layers]; infinity if unknown."""
        lengths = Proven(self.lengths, self.length_errors)
        with np.errstate(all="ignore"):
            return (lengths[1:] / lengths[:-1]).checked.error

    @cached_property
    def breakpoints(self) -> Floats:
        """Parameters t, ascending, at which a neuron moves to another piece of its activation, float64 [k], rounded.

        In a closed curve they include its beginning, 0, if the pattern changes there.
        """
        return self._parameters(np.flatnonzero(self.strands.depths < self.strands.depth))

    def image(self, layer: int, between: int = 0) -> tuple[Floats, Bits]:
        """Return the image of the curve after a layer, as points in order.

        Parameters
        ----------
        layer : int
            0 for the curve itself, then the hidden layers after their activation, the last one for the output.
        between : int
            Number of additional points on each piece; straight pieces need none.

        Returns
        -------
        points : float64 [k, units]
            In floating point.
        corners : bool [k]
            Which points are corners: where a neuron of the layers up to this one moves to another piece, joints of the
            curve, or its ends.

        Raises
        ------
        TypeError, ValueError
            Invalid numbers; a layer that the network does not have.

        Examples
        --------
        >>> import regions
        >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
        >>> regions.trajectory(net, regions.Segment([-1, 1], [1, 0])).image(1)[0]
        array([[0. , 1. ],
               [0. , 0.5],
               [1. , 0. ]])
        """
        depth = integer(layer, "layer", least=0, most=len(self.lengths) - 1)
        times, corners = self._times(depth, integer(between, "between", least=0))
        return image_after(self.network, self.curve.to_input(times), depth), corners

    def _times(self, depth: int, between: int) -> tuple[Floats, Bits]:
        """Return the parameters of the points of an image, and which of them are corners."""
        new_leg = np.diff(self.strands.legs, prepend=-1) != 0
        ends = self._parameters(np.flatnonzero(new_leg | (self.strands.depths < depth)))
        times = dense_times(ends, between)
        return times, np.arange(len(times)) % (between + 1) == 0

    def plot(self, figure: Any = None) -> list[Axes]:
        """Draw the length after each layer, and the images there, with matplotlib.

        Parameters
        ----------
        figure : matplotlib.figure.Figure, optional
            Figure to draw in; by default a new one.

        Returns
        -------
        list of matplotlib.axes.Axes

        Raises
        ------
        MissingDependencyError
            matplotlib is not installed.
        """
        layers = layers_shown(len(self.lengths) - 1, MOST_IMAGES)
        figure = figure_or_new(figure, *size_for(len(layers)))
        return draw_trajectory(figure, self.lengths, [self._image(layer) for layer in layers])

    def _image(self, layer: int) -> Image:
        times, corners = self._times(layer, DRAWN // len(self.strands))
        points = image_after(self.network, self.curve.to_input(times), layer)
        return Image(image_name(layer, self.strands.depth), points, times, corners)

    def to_html(
        self, path: str | PathLike[str], *, title: str | None = None, classes: Sequence[str] | None = None
    ) -> None:
        """Write a page that shows the images of the curve in a browser, one beside the other, and its outputs.

        Point at a piece, and it is shown in each image; `docs/trajectories.md` says more. The page is one file, which
        loads nothing, as the page of a partition.

        Parameters
        ----------
        path : str or path
            Ends in ``.html``.
        title : str, optional
            By default the number of pieces.
        classes : sequence of str, optional
            Names of the outputs, or of the two signs of a single output: at most 0, above 0.

        Raises
        ------
        TypeError, ValueError
            A file name that does not end in ``.html``; a title or name that is not text.
        ShapeMismatchError
            Another number of names than of classes.
        NonFiniteError
            Values beyond the largest double.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile, regions
        >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
        >>> path = regions.trajectory(net, regions.Circle([0, 0], [1, 0], [0, 1]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path.to_html(pathlib.Path(folder, "path.html"), title="A circle through two neurons")
        """
        file = page_file(path)
        starts = self._parameters(np.arange(len(self.strands)))
        write_pieces(file, curve_page_pieces(self.strands, starts, title, classes))

    def _parameters(self, starts: Integers) -> Floats:
        """Return where some strands begin, from 0 to 1 along the curve."""
        result = (self.strands.legs[starts] + _shares(self.strands, starts)) / len(self.curve.legs)
        return read_only(np.maximum.accumulate(result))  # rounding may have swapped neighbours

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers."""
        of_layers = ("lengths", "length_errors", "growth", "growth_errors", "transitions", "pieces")
        names = (*of_layers, "kink_transitions", "breakpoints")
        return {
            "curve": repr(self.curve),
            "network": self.network.fingerprint,
            **{name: getattr(self, name).tolist() for name in names},
            "n_patterns": self.n_patterns,
        }

    def __str__(self) -> str:
        return "\n".join(aligned([HEAD, *self._rows()], put=str.rjust))

    def __repr__(self) -> str:
        number = int(self.pieces[-1]) if self.pieces.size else 1
        pieces = f"{number:,} piece{'' if number == 1 else 's'}"
        ends = (proven_digits(self.lengths[end], self.length_errors[end], 4) for end in (0, -1))
        return f"Trajectory({self.curve!r}, {pieces}, length {' -> '.join(ends)})"

    def _repr_html_(self) -> str:
        return html_table(repr(self.curve), HEAD, self._rows())

    def _rows(self) -> list[list[str]]:
        lengths = map(proven_digits, self.lengths, self.length_errors, repeat(6))
        growth = ["", *map(proven_digits, self.growth, self.growth_errors, repeat(4))]
        numbers = zip(self.transitions.tolist(), self.pieces.tolist(), strict=True)
        counts = [["", ""], *([f"{transitions:,}", f"{pieces:,}"] for transitions, pieces in numbers), ["", ""]]
        rows = zip(self._names(), lengths, map(upper_digit, self.length_errors), growth, counts, strict=True)
        return [[*of_length, *count] for *of_length, count in rows]

    def _names(self) -> list[str]:
        return ["input", *(str(number) for number in range(1, len(self.pieces) + 1)), "output"]


@overload
def trajectory(
    network: Network,
    curve: Curve | Segment,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Trajectory: ...
@overload
def trajectory(
    network: Network,
    curve: Iterable[Curve | Segment],
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> list[Trajectory]: ...
@takes_timeout
def trajectory(
    network: Network,
    curve: Curve | Segment | Iterable[Curve | Segment],
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Trajectory | list[Trajectory]:
    """Follow a curve through a network: lengths of its images, transitions and pieces of each layer.

    Parameters
    ----------
    network : Network
    curve : Curve, Segment, or iterable of these
        `Polyline`, `Arc`, `Circle`, `GreatCircle` or `Segment`.
    limit : int, optional
        Stop with `LimitReached` once a curve has more pieces than this.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds.
    progress, workers
        As for `count`; each thread takes a curve.

    Returns
    -------
    Trajectory, or list of Trajectory
        One for each curve.

    Raises
    ------
    TypeError, ShapeMismatchError
        An object that is not a curve, or does not lie in the network's input space.
    LimitReached, TimeoutReached, KeyboardInterrupt
        ``partial`` is the number of pieces found so far on one curve, or None on a Ctrl-C while the core was not
        running; for several curves, the list of the finished trajectories.

    References
    ----------
    Raghu et al. 2017, section 2; Price and Tanner 2020.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> path = regions.trajectory(net, regions.Circle([0, 0], [1, 0], [0, 1]))
    >>> path.pieces, path.n_patterns, path.transitions, path.lengths.round(3)
    (array([4]), 4, array([4]), array([6.283, 3.571, 2.828]))
    """
    model = compiled(network)
    curves = [curve] if isinstance(curve, (Curve, Segment)) else _curves(curve)
    found: list[Trajectory] = []

    def follow(index: int, report: Report | None) -> Trajectory:
        return _follow(model, curves[index], Options(options.limit, report))

    with reporting(progress) as report:
        options = asked(limit, report, workers)
        try:
            each_by_workers(follow, len(curves), options.threads, options.report, found)
        except (WorkStopped, KeyboardInterrupt) as stopped:
            if not isinstance(curve, (Curve, Segment)):
                stopped.partial = found  # type: ignore[union-attr]
            raise
    return found[0] if isinstance(curve, (Curve, Segment)) else found


def _follow(model: Model, curve: Curve | Segment, options: Options) -> Trajectory:
    network, strands = model.network, strands_of(model, as_curve(curve), options)
    lengths, errors = image_lengths(strands)
    kinks = np.bincount(strands.switches[1], minlength=network.graph.kinks)
    transitions = np.bincount(network.kink_layers, kinks, strands.depth)
    pieces = [strands.pieces(layer) for layer in range(len(transitions))]
    return Trajectory(
        network=network,
        curve=strands.curve,
        lengths=read_only(lengths),
        length_errors=read_only(errors),
        transitions=read_only(transitions.astype(np.int64)),
        kink_transitions=read_only(kinks.astype(np.int64)),
        pieces=read_only(np.array(pieces, dtype=np.int64)),
        n_patterns=len({pattern.tobytes() for pattern in strands.packed_patterns}),
        strands=strands,
    )


def _shares(strands: Strands, which: Integers) -> Floats:
    """Return where some strands begin, as a fraction of their leg."""
    points, legs = strands.ends[which, 0], strands.curve.legs
    if isinstance(legs[0], Segment):
        return points[:, 0]
    result = np.empty(len(which))
    for index, leg in enumerate(legs):
        here = strands.legs[which] == index
        assert isinstance(leg, ArcLeg)
        result[here] = leg.shares(points[here])
    return result


def _curves(given: Any) -> list[Curve | Segment]:
    curves = list_of(given, "curve", "a curve such as regions.Arc or regions.Polyline, or several")
    for index, each in enumerate(curves):
        as_curve(each, f"curve[{index}]")
    return curves
