# SPDX-License-Identifier: MIT
"""How is a bound described for programs?

A `Bound` has its function, its quantity, its side, the activations it is for, its status, its source, and the arguments
it takes besides ``n_in`` and ``widths``. Each is registered next to its theorem, by `registered`. Together they are
`regions.bounds.BOUNDS`, for programs that compare a network with the theory: one row for each function of ``n_in`` and
``widths``, or for each form of it. Functions that take other arguments, such as bounds for convolutions, are not in it.
The caller checks whether a row is for the activation at hand; `Bound.value` checks only the number of breakpoints, if
it is given. The function itself raises `BoundDoesNotApply` if the theorem does not cover the widths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from regions.errors import BoundDoesNotApply
from regions.theory.bounds.bound_arguments import Widths, per_layer, shape

Value = int | float | Fraction
Kind = Literal["upper", "lower", "best", "expected", "expected upper", "expected lower"]
Activations = Literal["relu", "hard_tanh", "one breakpoint", "two breakpoints", "any", "maxout"]
Domain = Literal["convex", "whole space", "ball", "cube", "manifold", "curve", "0"]
Status = Literal["theorem", "explicit", "quoted", "derived"]

# Largest number of breakpoints of a unit, by kind of activation. Bounds for other kinds take the number, or are for
# maxout.
_MOST_BREAKPOINTS: dict[Activations, int] = {"relu": 1, "one breakpoint": 1, "hard_tanh": 2, "two breakpoints": 2}

Facts = ParamSpec("Facts")
Function = TypeVar("Function", bound=Callable[..., Value])

# The files with rows, in the order of the table: bounds for every network, from the coarsest to the sharpest; for the
# best network; for maxout; for the region graph; for means over random networks.
_FILES = (
    *("upper", "dimension_flow", "hyperplane_arrangements", "lower", "maxout", "region_graph_bounds"),
    *("expected_counts", "shallow", "whole_space", "wide_lines", "random_maxout", "length", "sparse_length", "volume"),
)


@dataclass(frozen=True)
class Bound:
    """One bound, as a row of the table.

    Attributes
    ----------
    function : callable
        ``function(n_in, widths, ...)``.
    kind : str
        "upper", "lower": for every network. "best": some network of this shape has at least that many. "expected": the
        mean over random networks; "expected upper", "expected lower": a bound on that mean.
    quantity : str
        The bounded quantity: "regions", "decision pieces", "bounded regions", "mean degree", "least degree",
        "diameter", "boundary per volume", "distance to the boundary", "length ratio", "volume ratio", "transition
        ratio" or "closed share".
    definition : str
        The finest definition of a region for which it holds, as `regions.count` names them; an upper bound holds for
        all coarser ones too. "pattern" means patterns at all inputs, including those on sets without volume.
    activations : str
        "relu" needs units that are constant on their inactive side; "one breakpoint" is ReLU, leaky ReLU, PReLU, abs;
        "two breakpoints" is hard tanh, ReLU6; "any" takes the number of breakpoints as an argument.
    domain : str
        "convex": any convex part of the input space, with its own dimension as ``n_in``; otherwise where it holds. "0"
        is the point 0.
    condition : str
        A further condition: "zero biases", "generic" (neurons in general position) or "".
    status : str
        "theorem": proven as stated. "explicit": published with O() or Omega() only; the function is the number that
        the published proof gives. "quoted": published, but constants or conditions are quoted from notes, not from
        the paper's text. "derived": proven here, see the function's docstring.
    source : str
    also_needs : tuple of str
        Names of required arguments for which the function has a default.
    fixed : tuple of (name, value)
        Arguments that this row fixes.
    skips : bool
        Whether it also holds if layers read other ones than the layer before, such as in residual networks.
    """

    function: Callable[..., Value]
    kind: Kind
    quantity: str
    activations: Activations
    source: str
    definition: Literal["pattern", "activation"] = "activation"
    domain: Domain = "convex"
    condition: Literal["", "zero biases", "generic"] = ""
    status: Status = "theorem"
    also_needs: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    skips: bool = False

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Names of the required arguments, besides the shape."""
        required = (name for name, one in self._arguments.items() if one.default is Parameter.empty)
        return (*required, *self.also_needs)

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """Names of the optional arguments."""
        return tuple(name for name in self._arguments if name not in self.needs)

    @cached_property
    def _arguments(self) -> dict[str, Parameter]:
        """The parameters besides the shape."""
        fixed = {"n_in", "widths", *dict(self.fixed)}
        return {name: one for name, one in signature(self.function).parameters.items() if name not in fixed}

    @cached_property
    def name(self) -> str:
        """The function's name, with the fixed arguments in brackets: no two rows share it."""
        return self.function.__name__ + "".join(f"[{value}]" for _, value in self.fixed)

    def value(self, n_in: int, widths: Widths, **facts: Any) -> Value:
        """Return the bound for a network of this shape.

        Parameters
        ----------
        n_in : int
        widths : int or sequence of int
        **facts
            Known facts about the network, by the names of ``needs`` and ``takes``; others are ignored, except
            ``breakpoints``, which must fit ``activations``.

        Raises
        ------
        BoundDoesNotApply
            The theorem does not cover this shape or as many breakpoints, or a required argument is missing.
        TypeError, ValueError
            Invalid arguments.

        Examples
        --------
        >>> from regions.theory.bounds import BOUNDS
        >>> raghu = next(bound for bound in BOUNDS if bound.name == "raghu")
        >>> raghu.value(2, [4, 4], breakpoints=2, ranks=[2, 4])
        1089
        """
        missing = [name for name in self.needs if name not in facts]
        if missing:
            raise BoundDoesNotApply(f"{self.name} needs {' and '.join(missing)}, which the shape does not determine")
        if "breakpoints" in facts and self.activations in _MOST_BREAKPOINTS:
            most = max(per_layer(facts["breakpoints"], shape(n_in, widths)[1], "breakpoints", least=0))
            if most > _MOST_BREAKPOINTS[self.activations]:
                raise BoundDoesNotApply(
                    f"{self.name} is for units with at most {_MOST_BREAKPOINTS[self.activations]} breakpoints, here "
                    f"breakpoints has {most}"
                )
        known = {name: facts[name] for name in (*self.needs, *self.takes) if name in facts}
        return self.function(n_in, widths, **known, **dict(self.fixed))

    def after_each_layer(self, n_in: int, widths: Widths, **facts: Any) -> tuple[Value, ...]:
        """Return the bound for the first layer, the first two, .., all: for networks cut off there.

        Parameters
        ----------
        n_in, widths, **facts
            As for `value`. Lists with one entry for each layer are cut off as well.

        Examples
        --------
        >>> from regions.theory.bounds import BOUNDS
        >>> serra = next(bound for bound in BOUNDS if bound.name == "serra2018_upper")
        >>> serra.after_each_layer(784, [20, 2], ranks=[20, 2])
        (1048576, 4194281)
        """
        _, layers = shape(n_in, widths)
        values = []
        for depth in range(1, len(layers) + 1):
            cut = {name: tuple(fact)[:depth] if _one_each(name, fact) else fact for name, fact in facts.items()}
            values.append(self.value(n_in, layers[:depth], **cut))
        return tuple(values)


def _one_each(name: str, fact: Any) -> bool:
    """Return whether this is a list with one entry for each layer."""
    return name in ("alpha", "breakpoints", "rank", "ranks", "weight_std") and isinstance(fact, Iterable)


_ROWS: list[Bound] = []


def _as_decorator(
    row: Callable[Concatenate[Callable[..., Value], Facts], Bound],
) -> Callable[Facts, Callable[[Function], Function]]:
    def decorator(*facts: Facts.args, **named: Facts.kwargs) -> Callable[[Function], Function]:
        def register(function: Function) -> Function:
            _ROWS.append(row(function, *facts, **named))
            return function

        return register

    return decorator


# Adds a row for the decorated function; takes the arguments of `Bound` after the function.
registered = _as_decorator(Bound)


def all_registered() -> tuple[Bound, ...]:
    """Return all rows, file by file, in the order of definition."""
    return tuple(sorted(_ROWS, key=lambda row: _FILES.index(row.function.__module__.rpartition(".")[2])))
