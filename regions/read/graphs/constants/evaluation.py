# SPDX-License-Identifier: MIT
"""What does an operator make of constants?

Operators that only move numbers do the same to arrays. Most others have a function of numpy in `FUNCTIONS`. The rest,
such as convolutions and pools, are read as if their operand depended on an input: the resulting network is evaluated at
the constant. No function needs to be piecewise linear here.
Invariant: memory and products are counted within the budgets of the file before they are used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NetworkError, RegionsError, UnsupportedLayerError
from regions.ground.arithmetic.arrays import exact_float64
from regions.networks.network import Network
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.constants import along_axes, decompositions, grids, matrices, pointwise
from regions.read.graphs.constants.rounding import Step, Steps
from regions.read.graphs.operations import Tensor
from regions.read.graphs.piecewise import settled
from regions.read.graphs.site import Site

__all__ = ["FUNCTIONS", "POINTWISE", "computed", "not_computed", "require_not_random"]

# By their names in torch.
FUNCTIONS: dict[str, Operation] = {
    **pointwise.FUNCTIONS,
    **along_axes.FUNCTIONS,
    **matrices.FUNCTIONS,
    **decompositions.FUNCTIONS,
    **grids.FUNCTIONS,
}
_ROUNDING = frozenset(FUNCTIONS.values())
_ROUNDED_ONCE = frozenset(pointwise.FUNCTIONS.values())
_FACTORED = {
    *decompositions.FUNCTIONS.values(),
    *(matrices.FUNCTIONS[name] for name in ("linalg_inv", "linalg_det", "linalg_cholesky", "linalg_solve")),
}
# The shape of their result is the common shape of their operands.
POINTWISE = frozenset(pointwise.FUNCTIONS)
_RANDOM = re.compile(r"rand|bernoulli|normal$|normal_|multinomial")
# Bytes of a computed number, and of a copy.
BYTES = 16


def require_not_random(at: Site) -> None:
    """Refuse an operator that draws random numbers."""
    if _RANDOM.search(at.node.operator.lower()):
        raise UnsupportedLayerError(f"{at.label} is random, so what it makes is not a constant; leave it out")


def not_computed(label: str, why: str = "") -> UnsupportedLayerError:
    """Return the error for a constant that is not computed."""
    return UnsupportedLayerError(
        f"{label} computes a constant in a way that is not handled{why and f' ({why})'}; export the model with "
        "constant folding, or put the result into a buffer of the module before exporting it"
    )


def computed(call: Call, function: Operation | None, operation: Operation | None) -> list[Any]:
    """Apply an operator to constants, and return its results.

    Parameters
    ----------
    call : Call
        None of its arguments depends on the input.
    function : callable or None
        Computes arrays from the arrays of the call.
    operation : callable or None
        Reads the operator where it depends on an input; used if there is no function.

    Raises
    ------
    UnsupportedLayerError
        There is neither, or it does not take such constants.
    NotACheckpointError
        The arguments do not fit together.
    NonFiniteError, FileTooLargeError
        Numbers are not finite where they must be; the budget of the file is not enough.
    """
    if function is None and operation is None:
        require_not_random(call.at)
        raise not_computed(call.at.label)
    steps = Steps(call.at.reading.steps, call.at.reading.makers)

    def apply(given: Call) -> list[Any]:
        made = function(given) if function is not None else _as_if_dependent(given, operation)  # type: ignore[arg-type]
        return made if isinstance(made, list) else [made]

    try:
        with np.errstate(all="ignore"):
            results = apply(steps.watched(call, apply))
    except _UnhandledOperand:
        raise not_computed(call.at.label) from None
    except RegionsError:
        raise
    except (ValueError, IndexError, TypeError, OverflowError, ZeroDivisionError, np.linalg.LinAlgError):
        shapes = [list(one.shape) for one in call.arguments.values() if isinstance(one, np.ndarray)]
        raise call.at.refused(f"does not fit constants of shapes {shapes[:8]}") from None
    once = function in _ROUNDED_ONCE and call.arguments.get("alpha", 1) == 1
    steps.add(Step(call, apply, once=once, sums=function not in _FACTORED), results)
    if function in _ROUNDING and any(isinstance(one, np.ndarray) and one.dtype.kind == "f" for one in results):
        call.at.reading.computed.append(call.at.label)
    call.at.charge(BYTES * sum(one.size for one in results if isinstance(one, np.ndarray)))
    return results


class _UnhandledOperand(Exception):
    """An operand that cannot become the input of a network."""


@dataclass
class _AsIf(Call):
    """A call whose first operand becomes the input of a network of its own.

    Attributes
    ----------
    promoted : dict of str to Tensor
        The operand under each of its names.
    value : list of array
        The operand, once it is known.
    by_rows : bool
        Whether the network takes one row of the operand, along its first axis.
    """

    promoted: dict[str, Tensor] = field(default_factory=dict)
    value: list[NDArray[Any]] = field(default_factory=list)
    by_rows: bool = False

    def tensor(self, name: str = "self") -> Tensor:
        given = self.given(name)
        if isinstance(given, Tensor):
            return given
        if name not in self.promoted:
            if self.value or not isinstance(given, np.ndarray) or not given.size:
                raise _UnhandledOperand
            self.value.append(given)
            self.at.charge(0, BYTES * given.size)
            shape = (1, *given.shape[1:]) if self.by_rows else given.shape
            self.promoted[name] = self.at.reading.builder.input(shape)
        return self.promoted[name]

    def operands(
        self, first: str = "self", second: str = "other", *, infinite: bool = False, settle: bool = True
    ) -> list[Any]:
        raise _UnhandledOperand


def _as_if_dependent(call: Call, operation: Operation, by_rows: bool = False) -> list[Any]:
    """Read an operator as if its operand depended on an input, and evaluate it.

    If ``by_rows``, it is read for one row of the operand, and evaluated at each.
    """
    reading = replace(call.at.reading, builder=type(call.at.reading.builder)(), notes=[], input_names={})
    apart = Site(reading, call.at.node)
    own = _AsIf(apart, call.arguments, call.names, call.widest, call.stored, call.jumps, call.asked, by_rows=by_rows)
    try:
        made = operation(own)
    except (NetworkError, UnsupportedLayerError) as error:
        if not by_rows and own.value and own.value[0].ndim > 2 and len(own.value[0]) > 1:
            return _as_if_dependent(call, operation, by_rows=True)  # a convolution of several images
        raise not_computed(call.at.label, str(error).removeprefix(call.at.label).lstrip(": ")) from None
    results = settled(reading, made if isinstance(made, list) else [made])
    return [_evaluated(call, own, one) if isinstance(one, Tensor) else one for one in results]


def _evaluated(call: Call, own: _AsIf, result: Tensor) -> NDArray[Any]:
    (value,), rows = own.value, len(own.value[0]) if own.by_rows else 1
    graph, _ = own.at.reading.builder.finished(result, charge=own.at.reading.charge)
    points = exact_float64(value, f"{call.at.label}: its operand").reshape(rows, -1)
    call.at.charge(0, 2 * BYTES * rows * result.size)
    call.at.reading.charge_products(rows * graph.products)
    found = Network.from_graph(graph)(points)
    call.at.reading.computed.append(call.at.label)
    numbers = np.asarray(found).reshape((rows, *result.shape[1:]) if own.by_rows else result.shape)
    return numbers if value.dtype.kind == "f" else numbers.astype(np.int64)
