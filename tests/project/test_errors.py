# SPDX-License-Identifier: MIT
"""Are the errors one family, each also a builtin, and can they be pickled?"""

from __future__ import annotations

import pickle

import pytest

from regions import errors

BUILTIN = {
    "NetworkError": ValueError,
    "EmptyLayerError": ValueError,
    "UnsupportedLayerError": NotImplementedError,
    "DomainError": ValueError,
    "DegenerateDomainError": ValueError,
    "NotConvexError": ValueError,
    "NotCoplanarError": ValueError,
    "ShapeMismatchError": ValueError,
    "NonFiniteError": ValueError,
    "CheckpointError": ValueError,
    "TruncatedFileError": ValueError,
    "NotACheckpointError": ValueError,
    "UnsafePickleError": ValueError,
    "FileTooLargeError": ValueError,
    "AmbiguousCheckpointError": ValueError,
    "BeyondDoublesError": OverflowError,
    "InexactArithmeticError": ArithmeticError,
    "BoundDoesNotApply": ValueError,
    "CountNotDecided": NotImplementedError,
    "VerdictNotDecided": NotImplementedError,
    "LimitReached": RuntimeError,
    "TimeoutReached": TimeoutError,
    "MissingDependencyError": ImportError,
    "InternalError": AssertionError,
}


def test_the_table_is_complete() -> None:
    assert set(BUILTIN) | {"RegionsError", "WorkStopped", "PrecisionWarning"} == set(errors.__all__)


@pytest.mark.parametrize("name", list(BUILTIN))
def test_every_error_is_also_a_builtin(name: str) -> None:
    error = getattr(errors, name)
    assert issubclass(error, errors.RegionsError)
    assert issubclass(error, BUILTIN[name])
    assert name in (errors.__doc__ or "")


def test_limit_reached_carries_what_was_found_also_through_pickle() -> None:
    error = errors.LimitReached("stopped at 3", limit=3, partial=2)
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert (str(copy), copy.limit, copy.partial) == ("stopped at 3", 3, 2)


def test_timeout_reached_carries_what_was_found_also_through_pickle() -> None:
    error = errors.TimeoutReached("stopped", timeout=0.5, partial=2)
    assert isinstance(error, errors.WorkStopped) and error.found is None
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert (str(copy), copy.timeout, copy.partial) == ("stopped", 0.5, 2)


def test_count_not_decided_carries_its_bounds_also_through_pickle() -> None:
    error = errors.CountNotDecided("between 3 and 5", least=3, most=5)
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert (str(copy), copy.least, copy.most) == ("between 3 and 5", 3, 5)


def test_verdict_not_decided_carries_what_was_proved_also_through_pickle() -> None:
    error = errors.VerdictNotDecided("open", partial=2)
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert (str(copy), copy.partial) == ("open", 2)


def test_missing_dependency_names_the_extra_also_through_pickle() -> None:
    error = errors.MissingDependencyError("matplotlib", "plot", "to draw a partition")
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert copy.name == "matplotlib"
        assert str(copy).endswith("pip install 'relu-regions[plot]'")
        assert "to draw a partition" in str(copy)
