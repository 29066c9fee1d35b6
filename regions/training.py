# SPDX-License-Identifier: MIT
"""What happens to the regions of a network through training?

Counts in a domain, exactly, the boundary in it, and how far points are from the boundary, at each step that is
recorded: what Hanin and Rolnick (2019) show in their Figs. 5 to 8. `watch` takes checkpoints, a `TrainingRecord` is
filled in a training loop. A domain may be a list of them, lines through data points for instance; numbers are then
the means.
Counts and densities in the domain are per kink (for ReLU: per hidden neuron), as theory has them.
Cost: an enumeration of each domain at each step; distances as in `regions/measures/distance.py`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import fsum, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.arrays import points_float64
from regions.checking.orders import DISTANCE_SAMPLES, mean_distance, uniform_points
from regions.domains import Domain
from regions.enumeration import enumerate as enumerate_regions
from regions.errors import MissingDependencyError, ShapeMismatchError
from regions.measures.arguments import bounded
from regions.measures.boundary import boundary_volume
from regions.network import Network
from regions.read import load
from regions.read.between_layers import ActivationChoice

__all__ = ["TrainingRecord", "TrainingRow", "watch"]

# Columns, with what the plot calls them.
PANELS = (
    ("regions", "regions"),
    ("regions_per_kink", "regions per kink"),
    ("density_per_kink", "boundary per volume and kink"),
    ("distance_times_kinks", "mean distance to the boundary, times kinks"),
)


@dataclass(frozen=True)
class TrainingRow:
    """One step.

    Attributes
    ----------
    step : int or float
    regions : float
        Activation regions, exactly; with several domains their mean.
    regions_per_kink : float
        Over the number of kinks, for ReLU that of hidden neurons.
    boundary : float
        Kinks on a line, or length in a plane, of the boundary in the domain; with several domains the mean.
    density : float
        Boundary over length or area of the domain; with several domains all boundary over all volume. nan where a
        domain is unbounded.
    density_per_kink : float
    distance : float
        Mean distance of the points to the boundary, in the whole input space; nan where none has a boundary.
    distance_error : float
        Its standard error.
    distance_times_kinks : float
    """

    step: float
    regions: float
    regions_per_kink: float
    boundary: float
    density: float
    density_per_kink: float
    distance: float
    distance_error: float
    distance_times_kinks: float


class TrainingRecord:
    """A table that grows by one row for each step that is recorded.

    Parameters
    ----------
    domain : Domain or iterable of Domain
        All of one dimension, in one space.
    points : array_like [m, n_in], optional
        Points whose distance to the boundary is measured, at least two, the same at every step. By default 500 uniform
        random points of the domain, which must be bounded then.
    activation : str, Activation, or a sequence of these, optional
        As for `regions.load`, where what is recorded does not say it.

    Attributes
    ----------
    rows : list of TrainingRow

    Raises
    ------
    TypeError, DomainError, ShapeMismatchError
        Something else than domains, or none; unbounded ones without points; domains or points of different dimensions.

    Examples
    --------
    >>> import regions
    >>> record = TrainingRecord(regions.Segment([-1.0], [1.0]), points=[[-0.5], [0.75]])
    >>> for step in range(2):
    ...     net = regions.Network([([[1.0], [1.0]], [0.0, -0.5 * step]), ([[1.0, 1.0]], [0.0])])
    ...     record.record(step, net)
    >>> [(row.step, row.regions, row.density, row.distance) for row in record.rows]
    [(0, 2.0, 0.5, 0.625), (1, 3.0, 1.0, 0.375)]
    """

    def __init__(
        self,
        domain: Domain | Iterable[Domain],
        *,
        points: ArrayLike | None = None,
        activation: ActivationChoice = None,
    ) -> None:
        self.domains = _domains(domain)
        self.activation = activation
        self.rows: list[TrainingRow] = []
        n_in = self.domains[0].n_in
        if points is None:
            for each in self.domains:
                bounded(each, "a random point")
            rng = np.random.default_rng(0)
            share = -(-DISTANCE_SAMPLES // len(self.domains))
            self.points = np.concatenate([uniform_points(each, share, rng) for each in self.domains])
        else:
            self.points = points_float64(points, n_in)
            if self.points.ndim != 2 or len(self.points) < 2:
                raise ShapeMismatchError(f"points must be an array [m, {n_in}] of at least 2, got {self.points.shape}")

    def record(self, step: float, network: Any) -> None:
        """Measure a network, and append a row.

        Parameters
        ----------
        step : int or float
            What the row is called: an epoch, the number of updates.
        network : Network, torch module, state dict or path
            What `regions.load` takes.
        """
        net = network if isinstance(network, Network) else load(network, self.activation)
        partitions = [enumerate_regions(net, each) for each in self.domains]
        counts = [len(partition) for partition in partitions]
        boundaries = [boundary_volume(partition).total for partition in partitions]
        volume = fsum(each.volume for each in self.domains)
        density = fsum(boundaries) / volume if isfinite(volume) else nan
        distance = mean_distance(net, self.points)
        mean, error = (distance.value, distance.standard_error) if distance else (nan, nan)
        count = fsum(counts) / len(counts)
        kinks = max(net.kinks, 1)
        self.rows.append(
            TrainingRow(
                step,
                count,
                count / kinks,
                fsum(boundaries) / len(boundaries),
                density,
                density / kinks,
                mean,
                error,
                mean * kinks,
            )
        )

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """The table as arrays, float64 [steps] each, for instance for ``pandas.DataFrame``."""
        return {name: np.array([getattr(row, name) for row in self.rows], dtype=np.float64) for name in _names()}

    def to_csv(self, path: Any = None) -> str:
        """The table as text with a row of names; numbers read back as the same doubles.

        Parameters
        ----------
        path : path, optional
            Where to write it as well.
        """
        import csv

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(_names())
        writer.writerows(asdict(row).values() for row in self.rows)
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(stream.getvalue())
        return stream.getvalue()

    def plot(self, figure: Any = None) -> Any:
        """Draw the table with matplotlib: regions, their density, boundary and distance over the steps.

        Parameters
        ----------
        figure : matplotlib.figure.Figure, optional
            Where to draw; by default a new one.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingDependencyError
            matplotlib is not installed.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingDependencyError("matplotlib", "plot", "for plotting") from None
        figure = figure or Figure(figsize=(8.0, 6.0), layout="constrained")
        columns = self.columns()
        for ax, (name, label) in zip(figure.subplots(2, 2).flat, PANELS, strict=True):
            ax.plot(columns["step"], columns[name], marker="o", markersize=3)
            if name == "distance_times_kinks":
                spread = columns["distance_error"] * columns[name] / columns["distance"]
                ax.fill_between(columns["step"], columns[name] - 2 * spread, columns[name] + 2 * spread, alpha=0.2)
            ax.set(xlabel="step", title=label)
            ax.set_ylim(bottom=0.0)
        return figure

    def __str__(self) -> str:
        table = [_names(), *([f"{value:.6g}" for value in asdict(row).values()] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in table)

    def __repr__(self) -> str:
        return f"TrainingRecord({len(self.rows)} steps, {len(self.domains)} domain{'s' * (len(self.domains) > 1)})"


def watch(
    checkpoints: Iterable[Any],
    domain: Domain | Iterable[Domain],
    *,
    points: ArrayLike | None = None,
    activation: ActivationChoice = None,
    steps: Sequence[float] | None = None,
) -> TrainingRecord:
    """Measure a sequence of checkpoints: their regions in a domain, the boundary there, and distances to it.

    Parameters
    ----------
    checkpoints : iterable
        Networks, torch modules, state dicts or paths, as `regions.load` takes them.
    domain, points, activation
        As for `TrainingRecord`.
    steps : sequence of numbers, optional
        What the checkpoints are called; by default they are numbered from 0.

    Returns
    -------
    TrainingRecord

    Raises
    ------
    TypeError, ValueError
        A single checkpoint instead of a sequence; another number of steps than of checkpoints.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Figs. 5 to 8.

    Examples
    --------
    >>> import regions
    >>> nets = [regions.Network([([[1.0], [1.0]], [0.0, b]), ([[1.0, 1.0]], [0.0])]) for b in (0.0, 0.5)]
    >>> print(watch(nets, regions.Segment([-1.0], [1.0]), points=[[-0.25], [0.75]], steps=[10, 20]).to_csv())
    step,regions,regions_per_kink,boundary,density,density_per_kink,distance,distance_error,distance_times_kinks
    10,2.0,1.0,1.0,0.5,0.25,0.5,0.25,1.0
    20,3.0,1.5,2.0,1.0,0.5,0.5,0.25,1.0
    <BLANKLINE>
    """
    single = isinstance(checkpoints, (Network, str, Mapping)) or hasattr(checkpoints, "state_dict")
    if single or not isinstance(checkpoints, Iterable):
        raise TypeError(f"checkpoints must be a sequence of networks, state dicts or paths, got {checkpoints!r}")
    record = TrainingRecord(domain, points=points, activation=activation)
    taken = list(checkpoints)
    names = range(len(taken)) if steps is None else list(steps)
    if len(names) != len(taken):
        raise ValueError(f"there are {len(taken)} checkpoints and {len(names)} steps")
    for step, checkpoint in zip(names, taken, strict=True):
        record.record(step, checkpoint)
    return record


def _names() -> list[str]:
    return [field.name for field in fields(TrainingRow)]


def _domains(domain: Any) -> tuple[Domain, ...]:
    """One or more bounded domains of one dimension, in one space."""
    domains = (domain,) if isinstance(domain, Domain) else tuple(domain) if isinstance(domain, Iterable) else ()
    wrong = [each for each in domains if not isinstance(each, Domain)]
    if not domains or wrong:
        raise TypeError(f"expected a domain such as regions.Segment or regions.Polygon, or some, got {domain!r}")
    for each in domains:
        if (each.dimension, each.n_in) != (domains[0].dimension, domains[0].n_in):
            raise ShapeMismatchError("domains of different dimensions: watch lines and polygons in separate calls")
    return domains
