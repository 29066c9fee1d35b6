# SPDX-License-Identifier: MIT
"""Which measures are recorded at each step of a training, and how are they shown?

They are counts in a domain, exactly, the sizes of the regions, the boundary in it, distances of points from the
boundary, and the local complexity around points: a row for each recorded step, as text, arrays, CSV and a plot. A
domain may be a list of domains, for instance lines through data points; the numbers are then means.
Counts and densities in the domain are also given per kink (for ReLU: per hidden neuron), as in theory.
On request the record keeps the partitions too, for a page or a film (`training_film.py`).
Invariant: a row is complete or absent. Its numbers are finite, except for unbounded domains and the distance to a
boundary that does not exist; a number beyond the doubles is refused.
Cost: an enumeration of each domain at each step; distances as in `regions/measures/distance.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import fsum, isfinite, isinf, nan
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from regions.checking.orders import DISTANCE_SAMPLES, mean_distance
from regions.checking.random_signs import sign_twins
from regions.checking.whole_domain import uniform_points
from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Domain
from regions.domains.abilities import KEPT_PARTITIONS, RANDOM_POINTS, TRAINING_RECORDS, require
from regions.domains.domain import require_domain_of
from regions.errors import DomainError, NonFiniteError, ShapeMismatchError
from regions.files.tabular import Tabular
from regions.ground.arithmetic.arguments import flag, list_of, positive, real, samples, shown
from regions.ground.arithmetic.arrays import points_float64
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import aligned, html_table
from regions.ground.threads.progress import Progress, reporting, share_of
from regions.measures.boundary import boundary_volume
from regions.measures.local_complexity import local_complexity
from regions.measures.unit_states import unit_states
from regions.networks.named_activations import Activation
from regions.networks.network import Network
from regions.pictures.picture_files import figure_or_new
from regions.read import load
from regions.read.chains.between_layers import ActivationChoice
from regions.results.partition import Partition
from regions.studies import training_film

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TrainingRecord", "TrainingRow", "step_of"]

# Columns, and their names in the plot.
PANELS = (
    ("regions", "regions"),
    ("regions_per_kink", "regions per kink"),
    ("density_per_kink", "boundary per volume and kink"),
    ("distance_times_kinks", "mean distance times kinks"),
)

WANTED = "a domain such as regions.Segment or regions.Polygon, or some"

# Range of lengths and areas that can be doubled, added up and divided by without leaving the doubles.
LEAST_VOLUME, LARGEST_VOLUME = 1e-300, 1e300

# Directions of the polytopes for local complexity; Humayun et al. take 50 vertices, two for each direction.
MOST_DIRECTIONS = 25


@dataclass(frozen=True)
class TrainingRow:
    """One step.

    Attributes
    ----------
    step : int or float
    regions : float
        Activation regions, exactly; with several domains their mean.
    regions_per_kink : float
        Divided by the number of kinks, for ReLU the number of hidden neurons.
    boundary : float
        Kinks on a line, or length in a plane, of the boundary in the domain; with several domains the mean.
    density : float
        Boundary over length or area of the domain; with several domains all boundary over all volume. NaN if a
        domain is unbounded.
    density_per_kink : float
    distance : float
        Mean distance of the points to the boundary, in the whole input space. Points without a boundary are left out;
        NaN if fewer than two have one.
    distance_error : float
        Its standard error.
    distance_times_kinks : float
    median_size : float
        Length or area of the median region, of all domains together.
    local_complexity : float or None
        Mean number of kinks that cut the polytope around a point; None, and not in tables, without a radius.
    dead, on, switching : float
        Mean numbers of hidden units that are dead, always on, or switching on the domains (`measures.unit_states`).
    twin_regions, twin_spread : float or None
        Mean and standard deviation of the regions of sign-twins, networks with random signs; None, and not in tables,
        without ``twins``.
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
    median_size: float
    local_complexity: float | None
    dead: float
    on: float
    switching: float
    twin_regions: float | None = None
    twin_spread: float | None = None


class TrainingRecord(Tabular):
    """A table that grows by one row for each recorded step.

    Parameters
    ----------
    domain : Domain or iterable of Domain
        All of one dimension, in one space.
    points : array_like [m, n_in], optional
        Points whose distance to the boundary is measured, at least two, the same at every step. By default 500 uniform
        random points of the domain, which must be bounded then.
    activation : str, Activation, or a sequence of these, optional
        As for `regions.load`, if the recorded object does not name it.
    keep : bool
        Whether to keep the partition of each step, for `to_html` and `animate`: a few hundred bytes for each region,
        and the weights. It needs a single domain, which is bounded.
    radius : float, optional
        Radius of the polytopes around the points of `regions.measures.local_complexity`. If there are more than 25
        inputs, they have 50 vertices, along 25 random orthogonal directions that are the same at every step.
    twins : int, optional
        The number of sign-twins that are counted at each step, as by `regions.sign_twins`; at least 2.

    Attributes
    ----------
    rows : list of TrainingRow
    partitions : list of Partition
        One for each row, if they are kept.

    Raises
    ------
    TypeError, DomainError, ShapeMismatchError
        Objects other than domains, or no domains; unbounded ones without points, or bounded ones with a length or area
        that is not between 1e-300 and 1e300; domains or points of different dimensions; several domains, or an
        unbounded one, whose partitions shall be kept.

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
        keep: bool = False,
        radius: float | None = None,
        twins: int | None = None,
    ) -> None:
        self.domains = _domains(domain)
        self.keep = flag(keep, "keep")
        self.partitions: list[Partition] = []
        if self.keep:
            if len(self.domains) > 1:
                raise ShapeMismatchError(f"keep=True needs a single domain, got {len(self.domains)}")
            require(KEPT_PARTITIONS, self.domains[0])
        self._volume = fsum(each.volume for each in self.domains)
        self.activation = _activation(activation)
        self.radius = None if radius is None else positive(radius, "radius")
        self.twins = None if twins is None else samples(twins, "twins")
        self.rows: list[TrainingRow] = []
        n_in = self.domains[0].n_in
        self._directions = _orthogonal_directions(n_in)
        if points is None:
            for each in self.domains:
                require(RANDOM_POINTS, each)
            rng = np.random.default_rng(0)
            share = -(-DISTANCE_SAMPLES // len(self.domains))
            self.points = np.concatenate([uniform_points(each, share, rng) for each in self.domains])
        else:
            self.points = points_float64(points, n_in)
            if self.points.ndim != 2 or len(self.points) < 2:
                raise ShapeMismatchError(f"points must be an array [m, {n_in}] of at least 2, got {self.points.shape}")

    def record(self, step: float, network: Any, *, progress: Progress = None) -> None:
        """Measure a network, and append a complete row; after an error no row is appended.

        Parameters
        ----------
        step : int or float
            Name of the row: an epoch, the number of updates.
        network : Network, torch module, state dict or path
            Anything that `regions.load` accepts.
        progress : bool or callable, optional
            As for `regions.count`, with the number of regions in the current domain; called at the end as well.

        Raises
        ------
        TypeError, ValueError
            A step that is not a finite real number; an object that `regions.load` does not accept.
        ShapeMismatchError, NonFiniteError
            A network of another number of inputs; a measure beyond the largest double.
        """
        name = step_of(step, "step")
        net = network if isinstance(network, Network) else load(network, self.activation)
        require_domain_of(self.domains[0], net)
        counts: list[int] = []
        states: list[Integers] = []
        sizes: list[Floats] = []
        boundaries: list[float] = []
        with reporting(progress) as report:
            # Distances, which do not report, come first: once the progress fraction is 1, nothing is left to do.
            mean, error = _mean_and_error(net, self.points)
            cut = None if self.radius is None else self._local_complexity(net, self.radius)
            twins = None if self.twins is None else self._twins(net, self.twins)
            for domain in self.domains:
                partition = enumerate_regions(net, domain, progress=share_of(report, len(counts), len(self.domains)))
                counts.append(len(partition))
                sizes.append(partition.volumes)
                boundaries.append(boundary_volume(partition).total)
                states.append(unit_states(partition).counts.sum(axis=0))
            median = float(np.median(np.concatenate(sizes)))
            dead, on, switching, _ = np.mean(states, axis=0).tolist()
            units = (dead, on, switching)
            self.rows.append(self._row(name, net.kinks, counts, median, boundaries, (mean, error, cut), units, twins))
            if self.keep:
                self.partitions.append(partition)
            if report is not None:
                report(1.0, counts[-1])

    def _local_complexity(self, network: Network, radius: float) -> float:
        found = local_complexity(network, self.points, radius, directions=self._directions)
        return float(found.counts.mean())

    def _twins(self, network: Network, twins: int) -> tuple[float, float]:
        """Return mean and standard deviation over twins, of their mean over the domains."""
        counts = np.mean([sign_twins(network, domain, twins).counts for domain in self.domains], axis=0)
        return float(counts.mean()), float(counts.std(ddof=1))

    def _row(
        self,
        step: float,
        kinks: int,
        counts: list[int],
        median: float,
        boundaries: list[float],
        at_points: tuple[float, float, float | None],
        units: tuple[float, float, float],
        twins: tuple[float, float] | None,
    ) -> TrainingRow:
        mean, error, cut = at_points
        count = fsum(counts) / len(counts)
        density = fsum(boundaries) / self._volume if isfinite(self._volume) else nan
        kinks = max(kinks, 1)
        row = TrainingRow(
            step,
            count,
            count / kinks,
            fsum(boundaries) / len(boundaries),
            density,
            density / kinks,
            mean,
            error,
            mean * kinks,
            median,
            cut,
            *units,
            *(twins or ()),
        )
        for name in ("density", "distance_times_kinks"):
            if isinf(getattr(row, name)):
                raise NonFiniteError(
                    f"{name} is beyond the largest double; scale the inputs, and the first weights back"
                )
        return row

    def columns(self) -> dict[str, Floats]:
        """Return the table as arrays, float64 [steps] each, for instance for ``pandas.DataFrame``."""
        return {name: np.array([getattr(row, name) for row in self.rows], dtype=np.float64) for name in self._names()}

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the table, with steps as they were given."""
        return {name: [getattr(row, name) for row in self.rows] for name in self._names()}

    def plot(self, figure: Any = None) -> list[Axes]:
        """Draw the table with matplotlib: regions, their density, boundary and distance over the steps.

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
        figure = figure_or_new(figure, 8.0, 6.0)
        columns = self.columns()
        axes = list(figure.subplots(2, 2).flat)
        for ax, (name, label) in zip(axes, PANELS, strict=True):
            ax.plot(columns["step"], columns[name], marker="o", markersize=3)
            if name == "distance_times_kinks":
                kinks = columns["regions"] / columns["regions_per_kink"]  # never 0, unlike distances
                spread = columns["distance_error"] * kinks
                ax.fill_between(columns["step"], columns[name] - 2 * spread, columns[name] + 2 * spread, alpha=0.2)
            ax.set(xlabel="step", title=label)
            ax.set_ylim(bottom=0.0)
        return axes

    to_html = training_film.to_html
    animate = training_film.animate

    def __str__(self) -> str:
        return "\n".join(aligned([self._names(), *map(self._shown, self.rows)], "  ", str.rjust))

    def _repr_html_(self) -> str:
        return html_table(repr(self), self._names(), map(self._shown, self.rows))

    def _names(self) -> list[str]:
        without = {"local_complexity"} if self.radius is None else set()
        without |= {"twin_regions", "twin_spread"} if self.twins is None else set()
        return [field.name for field in fields(TrainingRow) if field.name not in without]

    def _shown(self, row: TrainingRow) -> list[str]:
        """Return a row as text: the step unchanged, integers in full while doubles are exact, others to six digits."""
        step, *measured = (getattr(row, name) for name in self._names())
        return [str(step), *(f"{x:.0f}" if x.is_integer() and abs(x) < 2**53 else f"{x:.6g}" for x in measured)]

    def __repr__(self) -> str:
        steps, domains = len(self.rows), len(self.domains)
        return f"TrainingRecord({steps} step{'s' * (steps != 1)}, {domains} domain{'s' * (domains != 1)})"


def _activation(activation: Any) -> ActivationChoice:
    """Refuse an invalid activation now, as `load` would at the first step."""
    if activation is None or isinstance(activation, (str, Activation)):
        return activation
    given = list_of(activation, "activation", "a name, an Activation, or a list of these")
    for i, each in enumerate(given):
        if not isinstance(each, (str, Activation)):
            raise TypeError(f"activation[{i}] must be a name or an Activation, got {shown(each)}")
    return given


def step_of(value: Any, name: str) -> float:
    """Return a finite int or float; integers of any type as int, so that they stay exact."""
    result = real(value, name)
    return int(value) if isinstance(value, Integral) else result


def _mean_and_error(network: Network, points: Floats) -> tuple[float, float]:
    """Return the mean distance and its standard error, NaN if undefined."""
    distances = mean_distance(network, points)
    return (nan, nan) if distances is None else (distances.value, distances.standard_error)


def _orthogonal_directions(n_in: int) -> Floats:
    """Return the axes, or random orthonormal directions if there would be too many: float64 [m, n_in]."""
    if n_in <= MOST_DIRECTIONS:
        return np.eye(n_in)
    drawn = np.random.default_rng(0).standard_normal((n_in, MOST_DIRECTIONS))
    orthogonal: Floats = np.linalg.qr(drawn)[0].T
    return orthogonal


def _domains(domain: Any) -> tuple[Domain, ...]:
    """Return one or more domains of one dimension, in one space; the size of each can be a divisor."""
    domains = (domain,) if isinstance(domain, Domain) else tuple(list_of(domain, "domain", WANTED))
    wrong = [each for each in domains if not isinstance(each, Domain)]
    if not domains or wrong:
        raise TypeError(f"expected a domain such as regions.Segment or regions.Polygon, or some, got {shown(domain)}")
    for each in domains:
        require(TRAINING_RECORDS, each)
        if (each.dimension, each.n_in) != (domains[0].dimension, domains[0].n_in):
            raise ShapeMismatchError("domains of different dimensions: watch lines and polygons in separate calls")
        if each.bounded and not LEAST_VOLUME <= each.volume <= LARGEST_VOLUME:
            raise DomainError(
                f"{each!r} is too {'small' if each.volume < 1 else 'large'}: to measure per length or area, that must "
                f"be between {LEAST_VOLUME:g} and {LARGEST_VOLUME:g}; scale it, and the first weights back"
            )
    return domains
