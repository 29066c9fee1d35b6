# SPDX-License-Identifier: MIT
"""What can go wrong, and which exception says so?

The policy: whatever is wrong with something the *user* handed over raises a subclass of `RegionsError`. Each subclass
also inherits from the matching builtin exception, so ``except ValueError`` keeps working. The groups (`NetworkError`,
`DomainError`, `CheckpointError`) catch families. A message says what is wrong, which item (layer, tensor name, index,
file), and what to do. Errors have no codes. The only warning, `PrecisionWarning`, announces that a result, though
right, will take very long.
A mistake in the *calling code* (a wrong type, an unknown option) raises the plain builtin `TypeError` or `ValueError`.
The classes and their bases::

    RegionsError
        NetworkError (ValueError)              the weights do not make a network
            EmptyLayerError
            UnsupportedLayerError (NotImplementedError)
        DomainError (ValueError)               the points do not make a domain
            DegenerateDomainError  NotConvexError  NotCoplanarError
        ShapeMismatchError (ValueError)        raised for networks, domains and points alike
        NonFiniteError (ValueError)            likewise
        CheckpointError (ValueError)           a file, or the state dict in it, cannot be read
            TruncatedFileError  NotACheckpointError  UnsafePickleError  FileTooLargeError
            AmbiguousCheckpointError
        BeyondDoublesError (OverflowError)     a result that no double holds
        InexactArithmeticError (ArithmeticError)  this thread does not compute as IEEE 754 says
        BoundDoesNotApply (ValueError)         a theorem says nothing about networks of this shape
        CountNotDecided (NotImplementedError)  a number that is hard to compute; only bounds on it are known
        VerdictNotDecided (NotImplementedError)  a property that is neither proven nor refuted
        WorkStopped                            the work stopped where the caller asked it to stop
            LimitReached (RuntimeError)  TimeoutReached (TimeoutError)
        MissingDependencyError (ImportError)   an optional package is not installed
        InternalError (AssertionError)         our own invariant failed: please report

    PrecisionWarning (UserWarning)             most signs are left to exact arithmetic, which is slow
"""

from __future__ import annotations

from functools import partial
from typing import Any

__all__ = [
    "AmbiguousCheckpointError",
    "BeyondDoublesError",
    "BoundDoesNotApply",
    "CheckpointError",
    "CountNotDecided",
    "DegenerateDomainError",
    "DomainError",
    "EmptyLayerError",
    "FileTooLargeError",
    "InexactArithmeticError",
    "InternalError",
    "LimitReached",
    "MissingDependencyError",
    "NetworkError",
    "NonFiniteError",
    "NotACheckpointError",
    "NotConvexError",
    "NotCoplanarError",
    "PrecisionWarning",
    "RegionsError",
    "ShapeMismatchError",
    "TimeoutReached",
    "TruncatedFileError",
    "UnsafePickleError",
    "UnsupportedLayerError",
    "VerdictNotDecided",
    "WorkStopped",
]


class RegionsError(Exception):
    """Base of every error this package raises about its input."""


class ShapeMismatchError(RegionsError, ValueError):
    """An array has the wrong number of axes or a length that does not fit its neighbours."""


class NonFiniteError(RegionsError, ValueError):
    """A weight, bias, point or chart contains NaN or infinity."""


class NetworkError(RegionsError, ValueError):
    """The given weights and activations do not make a network."""


class EmptyLayerError(NetworkError):
    """A layer without neurons or without inputs, or a network without layers."""


class UnsupportedLayerError(NetworkError, NotImplementedError):
    """A layer whose meaning is known but which this version does not handle (convolution, softmax, ...)."""


class DomainError(RegionsError, ValueError):
    """The given points do not make a domain."""


class DegenerateDomainError(DomainError):
    """A domain without length or area: coincident ends, a zero direction, a single point."""


class NotConvexError(DomainError):
    """The vertices do not go once around a convex polygon: a dent, or edges that cross."""


class NotCoplanarError(DomainError):
    """The vertices of a polygon do not lie in one plane."""


class CheckpointError(RegionsError, ValueError):
    """A file (or the state dict in it) cannot be turned into a network."""


class TruncatedFileError(CheckpointError):
    """The file ends before the data it announces."""


class NotACheckpointError(CheckpointError):
    """The content is not what the file's name or header claims."""


class UnsafePickleError(CheckpointError):
    """The pickle in the file asks for something that only running code could provide. Nothing was run."""


class FileTooLargeError(CheckpointError):
    """The file, or what it claims to unpack to, is above the limits of the readers."""


class AmbiguousCheckpointError(CheckpointError):
    """The tensors are readable, but which network they make cannot be known; the message says what to do."""


class BeyondDoublesError(RegionsError, OverflowError):
    """A number that was asked for is beyond the largest double."""


class InexactArithmeticError(RegionsError, ArithmeticError):
    """A library has changed how this thread rounds; the message says what to do."""


class BoundDoesNotApply(RegionsError, ValueError):
    """The conditions of a theorem are not met; the message says which one."""


class CountNotDecided(RegionsError, NotImplementedError):
    """The number of regions in some sense is not known; the message says why.

    Attributes
    ----------
    least, most : int
        Proven bounds on the number.
    """

    def __init__(self, message: str, *, least: int, most: int) -> None:
        super().__init__(message)
        self.least = least
        self.most = most

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(CountNotDecided, least=self.least, most=self.most), (str(self),)


class VerdictNotDecided(RegionsError, NotImplementedError):
    """A property is neither proven nor refuted on a box with many free inputs; the message says what can be done.

    Attributes
    ----------
    partial : PropertyVerdict, Unfinished or Verdict
        The decisions so far, with the share of each box that is proven to be safe. Of `verify` it has only that share,
        and of a margin the verdict.
    """

    def __init__(self, message: str, *, partial: Any) -> None:
        super().__init__(message)
        self.partial = partial

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(VerdictNotDecided, partial=self.partial), (str(self),)


class WorkStopped(RegionsError):
    """The work reached the caller's ``limit`` or ``timeout``.

    Attributes
    ----------
    partial : object
        The result so far: a number for ``count``, a `Partition` for ``enumerate``, or None.
    found : Found or None
        More about the result so far, after a call for one network and one domain.
    """

    partial: Any = None
    found: Any = None


class LimitReached(WorkStopped, RuntimeError):
    """The number of regions reached the caller's ``limit``.

    Attributes
    ----------
    limit : int
        The limit that was given.
    partial, found
        As for `WorkStopped`.
    """

    def __init__(self, message: str, *, limit: int, partial: Any) -> None:
        super().__init__(message)
        self.limit = limit
        self.partial = partial

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes return exceptions by pickle, which would otherwise lose the keyword arguments.
        return partial(LimitReached, limit=self.limit, partial=self.partial), (str(self),)


class TimeoutReached(WorkStopped, TimeoutError):
    """The work took longer than the caller's ``timeout``.

    Attributes
    ----------
    timeout : float
        The seconds that were given.
    partial, found
        As for `WorkStopped`.
    """

    def __init__(self, message: str, *, timeout: float, partial: Any = None) -> None:
        super().__init__(message)
        self.timeout = timeout
        self.partial = partial

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(TimeoutReached, timeout=self.timeout, partial=self.partial), (str(self),)


class MissingDependencyError(RegionsError, ImportError):
    """An optional package is missing; the message names the extra that brings it.

    Parameters
    ----------
    package : str
        The import name of the missing package.
    extra : str
        The extra of ``relu-regions`` that installs it.
    purpose : str
        What it is needed for, as the end of "is needed ...".
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{package} is needed {purpose} and is not installed: pip install 'relu-regions[{extra}]'",
            name=package,
        )
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[Any, ...]:
        return MissingDependencyError, (self.name, self.extra, self.purpose)


class InternalError(RegionsError, AssertionError):
    """An invariant of this package failed. This is a bug in the package, not in the input: please report it."""


class PrecisionWarning(UserWarning):
    """The work under way will take very long: error bounds prove almost no sign, so signs are decided exactly.

    The warning is issued after one second of work. To stop there instead, call
    ``warnings.simplefilter("error", regions.errors.PrecisionWarning)``.
    """
