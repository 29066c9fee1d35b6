# SPDX-License-Identifier: MIT
"""What is known about a sampled number?

It has independent samples, whose mean is the number. They give a value, a standard error, and an interval by Student's
t, which is right for normal samples and in the limit of many samples for all others. An estimate proves nothing, and
does not account for rare large samples that did not occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, fsum, ldexp, sqrt

import numpy as np

from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import real
from regions.ground.arithmetic.arrays import exact_float64, read_only
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """The mean of independent samples.

    Parameters
    ----------
    samples : array_like, float64 [m]
        At least two, finite; stored read-only.

    Raises
    ------
    ShapeMismatchError, NonFiniteError, NetworkError
        Not a list of at least two finite real numbers.

    Examples
    --------
    >>> estimate = Estimate([1.0, 2.0, 3.0, 2.0])
    >>> estimate
    Estimate(2 +- 0.41, 4 samples)
    >>> low, high = estimate.interval(0.95)
    >>> round(low, 4), round(high, 4)
    (0.7008, 3.2992)
    """

    samples: Floats

    def __post_init__(self) -> None:
        values = exact_float64(self.samples, "samples")
        if values.ndim != 1 or len(values) < 2:
            raise ShapeMismatchError(f"samples must be a list of at least 2 numbers, got shape {list(values.shape)}")
        object.__setattr__(self, "samples", read_only(values))

    @property
    def value(self) -> float:
        """Mean of the samples."""
        scaled, exponent = self._scaled
        return ldexp(fsum(scaled.tolist()) / len(scaled), exponent)

    @property
    def standard_error(self) -> float:
        """Standard deviation of the value, estimated from the samples."""
        scaled, exponent = self._scaled
        return ldexp(float(np.std(scaled, ddof=1)) / sqrt(len(scaled)), exponent)

    @property
    def _scaled(self) -> tuple[Floats, int]:
        """The samples times 2**-exponent, exactly, so that their squares stay within the doubles."""
        _, exponent = frexp(float(np.abs(self.samples).max()))
        return np.ldexp(self.samples, -exponent), exponent

    def _repr_html_(self) -> str:
        low, high = self.interval()
        facts = [
            ("value", f"{self.value:.6g}"),
            ("standard error", f"{self.standard_error:.2g}"),
            ("95% confidence", f"{low:.6g} to {high:.6g}"),
            ("samples", f"{len(self.samples):,}"),
        ]
        return facts_table(repr(self), facts)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval of the mean, by Student's t.

        It depends on the samples only: if all of them are equal, as when none of them met a rare event, it is a single
        number.

        Parameters
        ----------
        confidence : float
            Between 0 and 1.

        Raises
        ------
        ValueError
        """
        from scipy.special import stdtrit

        confidence = real(confidence, "confidence")
        if not 0.0 < confidence < 1.0:
            raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
        half = float(stdtrit(len(self.samples) - 1, 0.5 + confidence / 2)) * self.standard_error
        return self.value - half, self.value + half

    def deviation(self, other: Estimate | float) -> float:
        """Return the distance above another independent estimate, or a known number, in standard errors.

        0 if both are equal, infinite if they differ and neither has an error. Samples that are all equal count as
        known exactly: if they are all 0 because a rare event was not met, the result is meaningless.

        Examples
        --------
        >>> round(Estimate([1.0, 2.0, 3.0, 2.0]).deviation(1.0), 4)
        2.4495
        """
        if isinstance(other, Estimate):
            value, error = other.value, other.standard_error
        else:
            value, error = real(other, "other"), 0.0
        difference, scale = self.value - value, float(np.hypot(self.standard_error, error))
        if difference == 0.0:
            return 0.0
        return difference / scale if scale else float(np.copysign(np.inf, difference))

    def __repr__(self) -> str:
        return f"Estimate({self.value:.6g} +- {self.standard_error:.2g}, {len(self.samples)} samples)"
