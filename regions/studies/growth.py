# SPDX-License-Identifier: MIT
"""How do curves grow in an ensemble of random networks, and does this agree with theory?

Networks are drawn, and the same curves are followed through each of them, exactly. Every network gives one sample of
each mean, averaged over the curves, so that samples are independent for any curves. Each law about such an ensemble
(`growth_laws.py`) is compared with these means, or says why it does not apply.
Invariant: a network is in all arrays or in none; Ctrl-C leaves the finished ones.
Cost: a trajectory of each curve through each network.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import repeat
from math import isnan, nan
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from regions.domains import Segment
from regions.domains.curves import Curve, as_curve
from regions.errors import BeyondDoublesError, ShapeMismatchError
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, generator, list_of, number_of_workers, one_of, samples, shown
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.keywords import helped
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.proven_digits import proven_digits
from regions.ground.text.tables import aligned, html_table
from regions.ground.threads.progress import Progress, Report, reporting
from regions.ground.threads.workers import each_by_workers
from regions.measures.estimate import Estimate
from regions.networks.network import Network
from regions.pictures.picture_files import figure_or_new
from regions.studies.growth_laws import GrowthLaw, Quantity, laws_of
from regions.studies.trajectory import trajectory
from regions.theory.ensembles import Ensemble

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Growth", "GrowthLaw", "growth"]

SAMPLES = ("lengths", "length_errors", "transitions", "pieces")
RATIOS: tuple[Quantity, ...] = ("stretching", "growth")
LAW_FACTS = ("name", "kind", "quantity", "values", "reason", "source")
# Digits of means in the table.
SHOWN = 4
WANTED = "a curve such as regions.Arc or regions.Polyline, or several"


@dataclass(frozen=True, eq=False, repr=False)
class Growth(JsonReport):
    """Curves in an ensemble; returned by `regions.growth`.

    Attributes
    ----------
    ensemble : Ensemble
    curves : tuple of Curve
    lengths : float64 [networks, curves, layers + 1]
        As in `Trajectory`: of the curve, of its image after each hidden layer, and of its image in output space.
    length_errors : float64 [networks, curves, layers + 1]
        Bounds on the errors of the lengths.
    transitions, pieces : int64 [networks, curves, hidden layers]
    laws : tuple of GrowthLaw
        The laws of theory.

    References
    ----------
    Raghu et al. 2017, sections 2.2 and 2.3; Price and Tanner 2020.
    """

    ROWS = ("laws",)

    ensemble: Ensemble
    curves: tuple[Curve, ...]
    lengths: Floats
    length_errors: Floats
    transitions: Integers
    pieces: Integers
    laws: tuple[GrowthLaw, ...]

    def __len__(self) -> int:
        return len(self.lengths)

    def estimates(self, quantity: Quantity) -> list[Estimate | None]:
        """Return the mean of a ratio for each hidden layer, and for the outputs.

        Parameters
        ----------
        quantity : "growth", "stretching" or "transitions"
            Length over the length one layer before; length over the curve's length; transitions over transitions one
            layer before.

        Returns
        -------
        list of Estimate or None
            With a sample for each network with a nonzero denominator; None if there are fewer than two of them.
        """
        return self._estimates[one_of(quantity, tuple(self._estimates), "quantity")]

    @cached_property
    def _estimates(self) -> dict[str, list[Estimate | None]]:
        lengths, switched, layers = self.lengths, self.transitions, range(self.lengths.shape[2] - 1)
        between = [_estimate(switched[..., i], switched[..., i + 1]) for i in layers[:-2]]
        return {
            "growth": [_estimate(lengths[..., i], lengths[..., i + 1]) for i in layers],
            "stretching": [_estimate(lengths[..., 0], lengths[..., i + 1]) for i in layers],
            "transitions": [None, *between, None],
        }

    @cached_property
    def _roundings(self) -> dict[str, list[float]]:
        """Bounds on the errors of the means from the errors of lengths; transitions are exact."""
        lengths, layers = Proven(self.lengths, self.length_errors), range(self.lengths.shape[2] - 1)

        def of_mean(first: int, second: int) -> float:
            below, above = lengths[..., first], lengths[..., second]
            with np.errstate(all="ignore"):
                off = (above / below).checked.error
            means = _means_of_networks(off, below.value > 0)
            return float(means.mean()) if len(means) else 0.0

        return {
            "growth": [of_mean(i, i + 1) for i in layers],
            "stretching": [of_mean(0, i + 1) for i in layers],
            "transitions": [0.0 for _ in layers],
        }

    def _is_proven(self, quantity: Quantity) -> list[bool]:
        """Return whether the errors of lengths move each mean by less than its standard error, or by no digit of the
        table.
        """
        pairs = zip(self._estimates[quantity], self._roundings[quantity], strict=True)
        return [mean is None or off <= max(mean.standard_error, mean.value / 10**SHOWN) for mean, off in pairs]

    def deviations(self, law: GrowthLaw) -> Floats:
        """Return the distance of each mean above a law, in standard errors, float64 [layers]; NaN if it has none."""
        if not isinstance(law, GrowthLaw):
            raise TypeError(f"law must be one of growth.laws, got {shown(law)}")
        pairs = zip(self.estimates(law.quantity), law.values, strict=False)
        return np.array([np.nan if mean is None or isnan(value) else mean.deviation(value) for mean, value in pairs])

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers: means with their intervals, laws with their deviations, samples."""
        means = {
            name: [None if mean is None else [mean.value, *mean.interval()] for mean in each]
            for name, each in self._estimates.items()
        }
        laws = [
            {**{name: getattr(law, name) for name in LAW_FACTS}, "deviations": self.deviations(law).tolist()}
            for law in self.laws
        ]
        return {
            "ensemble": str(self.ensemble),
            "curves": [repr(curve) for curve in self.curves],
            "networks": len(self),
            "mean_low_high": means,
            "laws": laws,
            **{name: getattr(self, name).tolist() for name in SAMPLES},
        }

    def plot(self, figure: Any = None) -> list[Axes]:
        """Draw, with matplotlib, mean length over the curve's length, and mean growth, after each layer.

        Bars are two standard errors. Laws of theory are dashed. Laws on growth multiply up to laws on length only if
        layers are independent, so each is drawn in the panel of its own quantity.

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
        figure = figure_or_new(figure, 8.0, 3.6)
        from matplotlib.ticker import MaxNLocator

        axes = list(figure.subplots(1, 2))
        for ax, quantity in zip(axes, RATIOS, strict=True):
            there = [(layer, mean) for layer, mean in enumerate(self._estimates[quantity], 1) if mean is not None]
            layers, means = [layer for layer, _ in there], [mean.value for _, mean in there]
            ax.errorbar(layers, means, [2 * mean.standard_error for _, mean in there], marker="o", markersize=3)
            for law in self._said:
                if law.quantity == quantity:
                    ax.plot(range(1, len(law.values) + 1), law.values, linestyle="--", label=f"{law.name} ({law.kind})")
                    ax.legend()
            if quantity == "stretching" and any(value > 0 for value in means):
                ax.set_yscale("log")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
            ax.set(xlabel="layer", title="layer's length / curve's length" if quantity == "stretching" else quantity)
        return axes

    def __str__(self) -> str:
        return "\n".join([repr(self), "", *aligned([self._head, *self._rows()], put=str.rjust), "", *self._verdicts()])

    def __repr__(self) -> str:
        curves = f"{len(self.curves)} curve{'s' * (len(self.curves) != 1)}"
        return f"Growth({self.ensemble}; {len(self):,} networks, {curves})"

    def _repr_html_(self) -> str:
        words = "".join(f"<br>{escape(line)}" for line in self._verdicts())
        return html_table(repr(self), self._head, self._rows()) + f"<p>{words[4:]}</p>"

    @property
    def _said(self) -> list[GrowthLaw]:
        return [law for law in self.laws if law.values]

    @property
    def _head(self) -> list[str]:
        return ["layer", "length", "stretching", "growth", "transitions", "pieces", *(law.name for law in self._said)]

    def _rows(self) -> list[list[str]]:
        names = ["input", *(str(number) for number in range(1, self.transitions.shape[2] + 1)), "output"]
        lengths = map(
            proven_digits, *(each.mean(axis=(0, 1)) for each in (self.lengths, self.length_errors)), repeat(SHOWN)
        )
        ratios = [["", *map(_shown, self._estimates[name], self._is_proven(name))] for name in RATIOS]
        counts = [["", *(f"{x:.4g}" for x in each.mean(axis=(0, 1))), ""] for each in (self.transitions, self.pieces)]
        laws = [["", *("" if isnan(value) else f"{value:.4g}" for value in law.values)] for law in self._said]
        return [list(row) for row in zip(names, lengths, *ratios, *counts, *laws, strict=True)]

    def _verdicts(self) -> list[str]:
        """Return one line for each law."""
        return [f"{law.name}: {self._verdict(law)}" for law in self.laws]

    def _verdict(self, law: GrowthLaw) -> str:
        """Return how far the means are from a law; means that rounding may have moved are left out."""
        if not law.values:
            return f"does not apply, {law.reason}"
        means, proven = self.estimates(law.quantity), self._is_proven(law.quantity)
        there = [
            (mean, value)
            for mean, value, sure in zip(means, law.values, proven, strict=True)
            if mean is not None and not isnan(value) and sure
        ]
        if not there:
            return f"{law.quantity}, {law.kind}: nothing to compare"
        if law.kind in ("wide limit", "saturated limit"):
            shares = [mean.value / value for mean, value in there if value > 0.0] or [nan]
            return f"{law.quantity}, {law.kind}: means are {min(shares):.3g} to {max(shares):.3g} times the limit"
        off = [mean.deviation(value) for mean, value in there]
        if law.kind == "equal":
            return f"{law.quantity}, {law.kind}: means are off by up to {max(map(abs, off)):.1f} standard errors"
        least, side, beyond = (min(off), "above", "below") if law.kind == "at least" else (-max(off), "below", "above")
        if least < 0.0:
            return f"{law.quantity} {law.kind}: violated, means are up to {-least:.1f} standard errors {beyond} it"
        return f"{law.quantity} {law.kind}: holds, all means are {least:.1f} standard errors or more {side} it"


@helped()
def growth(
    ensemble: Ensemble,
    curve: Curve | Segment | Iterable[Curve | Segment],
    *,
    networks: int,
    rng: int | np.random.Generator,
    progress: Progress = None,
    workers: Workers = None,
) -> Growth:
    """Follow curves through many random networks, and compare their growth with theory.

    Parameters
    ----------
    ensemble : Ensemble
    curve : Curve, Segment, or iterable of these
        In input space; the same for all networks.
    networks : int
        Number of random networks, at least 2.
    rng : int or numpy.random.Generator
        A seed, or a generator.
    progress, workers
        As for `count`; each thread takes a network. The networks are the same for any number of threads.

    Returns
    -------
    Growth

    Raises
    ------
    TypeError, ValueError
        Not an ensemble, no curves; numbers out of range.
    ShapeMismatchError
        A curve that does not lie in the input space; no curves.
    BeyondDoublesError
        The image of a curve is longer than the largest double.
    KeyboardInterrupt
        ``partial`` is the `Growth` of the finished networks, or None if there are fewer than two.

    Examples
    --------
    >>> import regions
    >>> from regions.theory import ensembles
    >>> found = regions.growth(ensembles.he([8, 8, 8, 1]), regions.Arc([1] * 8, [1, -1] * 4), networks=50, rng=0)
    >>> [round(mean.value, 2) for mean in found.estimates("growth")]
    [0.92, 0.86, 0.43]
    >>> law = found.laws[0]
    >>> law.name, law.kind, [round(value, 2) for value in law.values]
    ('ReLU law', 'equal', [0.92, 0.92, 0.4])
    >>> bool(abs(found.deviations(law)).max() < 3)
    True
    """
    if not isinstance(ensemble, Ensemble):
        raise TypeError(f"expected regions.ensembles.Ensemble, got {type(ensemble).__name__}")
    curves, number, stream = _curves(curve, ensemble), samples(networks, "networks"), generator(rng)
    threads, drawn = number_of_workers(workers), _Drawn(ensemble, stream)
    laws = laws_of(ensemble, curves)
    found: list[dict[str, list[Any]]] = []

    def follow(index: int, report: Report | None) -> dict[str, list[Any]]:
        paths = trajectory(drawn.network(index), curves, progress=report, workers=1)
        if not all(np.isfinite(path.lengths).all() for path in paths):
            raise BeyondDoublesError(
                f"in network {index} the image of a curve is longer than the largest double; "
                "take smaller weights, fewer layers or a shorter curve"
            )
        if report is not None:
            report(1.0, sum(int(path.pieces[-1]) for path in paths))
        return {name: [getattr(path, name) for path in paths] for name in SAMPLES}

    def finished() -> Growth:
        arrays = {name: read_only(np.array([each[name] for each in found])) for name in SAMPLES}
        return Growth(ensemble, curves, **arrays, laws=laws)

    with reporting(progress) as report:
        try:
            each_by_workers(follow, number, threads, report, found)
        except KeyboardInterrupt as stopped:
            stopped.partial = finished() if len(found) > 1 else None  # type: ignore[attr-defined]
            raise
    return finished()


class _Drawn:
    """Networks that are drawn in order, whichever thread asks first; each can be taken once."""

    def __init__(self, ensemble: Ensemble, stream: np.random.Generator) -> None:
        self.ensemble, self.stream = ensemble, stream
        self.lock, self.count = Lock(), 0
        self.waiting: dict[int, Network] = {}

    def network(self, index: int) -> Network:
        with self.lock:
            while self.count <= index:
                self.waiting[self.count] = self.ensemble.draw(self.stream)
                self.count += 1
            return self.waiting.pop(index)


def _curves(given: Any, ensemble: Ensemble) -> tuple[Curve, ...]:
    listed = [given] if isinstance(given, (Curve, Segment)) else list_of(given, "curve", WANTED)
    curves = tuple(as_curve(each, f"curve[{index}]") for index, each in enumerate(listed))
    if not curves:
        raise ShapeMismatchError("curve is empty, at least one curve is needed")
    for index, each in enumerate(curves):
        if each.n_in != ensemble.n_in:
            name = "the curve" if len(curves) == 1 else f"curve[{index}]"
            raise ShapeMismatchError(f"{name} lies in R^{each.n_in}, the networks have {ensemble.n_in} inputs")
    return curves


def _estimate(below: Floats | Integers, above: Floats | Integers) -> Estimate | None:
    """Return the mean of ``above / below`` [networks, curves], averaged over the curves of a network that have one."""
    values = _means_of_networks(np.divide(above, below, out=np.zeros(below.shape), where=below > 0), below > 0)
    return Estimate(values) if len(values) > 1 else None


def _means_of_networks(values: Floats, there: Bits) -> Floats:
    """Return the average over the existing curves of each network [networks, curves], if it has any."""
    counts = there.sum(axis=1)
    return np.where(there, values, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0]


def _shown(mean: Estimate | None, is_proven: bool) -> str:
    return "" if mean is None else f"{'' if is_proven else '~'}{mean.value:.{SHOWN}g} +- {mean.standard_error:.1g}"
