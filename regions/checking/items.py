# SPDX-License-Identifier: MIT
"""What is one line of a report on the theory?

It is a count, a layer, a bound, an invariant, or an order of magnitude. Lines that can be violated have a status.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from regions.theory.bounds.registry import Value

__all__ = ["BoundItem", "BoundStatus", "CountItem", "Invariant", "LayerItem", "OrderItem"]

BoundStatus = Literal["holds", "violated", "for information", "does not apply"]
InvariantStatus = Literal["holds", "violated", "not decided"]


@dataclass(frozen=True)
class CountItem:
    """Number of regions by one definition.

    Attributes
    ----------
    definition : str
        As `regions.count` names them.
    regions : int or None
        None if it is not known.
    note : str
        Why not, with bounds on the number if they are proven.
    """

    definition: str
    regions: int | None
    note: str = ""


@dataclass(frozen=True)
class LayerItem:
    """One hidden layer.

    Attributes
    ----------
    layer : int
        Counted from 1.
    units : int
    activation : str
    regions : int or None
        Activation regions of the network that ends after this layer. None if counting them would take too long.
    boundary : float or None
        Points, length, area or volume of the boundary that this layer makes, in the whole network. None if regions are
        only counted.
    counts : tuple of CountItem
        Regions by each definition, of the network whose outputs are the activations of this layer. Empty if that would
        take too long.
    """

    layer: int
    units: int
    activation: str
    regions: int | None
    boundary: float | None
    counts: tuple[CountItem, ...] = ()


@dataclass(frozen=True)
class BoundItem:
    """One bound, compared with the network.

    Attributes
    ----------
    name, kind, quantity, source, proof : str
        As in `regions.bounds.BOUNDS`; ``proof`` is its status there: "theorem", "explicit", "quoted" or "derived".
    status : "holds", "violated", "for information" or "does not apply"
        "for information": a number that the best network of this shape reaches; this network may have fewer.
    found : int, float or None
        The measured quantity, after the last layer at which the bound applies.
    value : int, Fraction, float or None
        The bound, there.
    after_each_layer : tuple
        The bound for the network cut off after layer 1, 2, ..; None where it does not apply. Empty for quantities that
        are not counted layer by layer.
    note : str
        Why it does not apply, where it is violated, or a remark.
    """

    name: str
    kind: str
    quantity: str
    source: str
    proof: str
    status: BoundStatus
    found: int | float | None = None
    value: Value | None = None
    after_each_layer: tuple[Value | None, ...] = ()
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """``found`` divided by the bound."""
        if self.found is None or not self.value:
            return None
        return float(Fraction(self.found) / Fraction(self.value))


@dataclass(frozen=True)
class Invariant:
    """One identity or inequality that every result must satisfy.

    Attributes
    ----------
    name, claim : str
    status : "holds", "violated" or "not decided"
    found, expected : str
        Both sides.
    note : str
        The rounding error within which they agree, or why it is not decided.
    """

    name: str
    claim: str
    status: InvariantStatus
    found: str = ""
    expected: str = ""
    note: str = ""


@dataclass(frozen=True)
class OrderItem:
    """A measured number and the order that theory expects for random networks; it cannot be violated.

    Attributes
    ----------
    name : str
    value : float or None
    in_units : float or None
        The value divided by its expected order: of order 1 according to theory.
    order : str
        The expected order.
    note : str
        How it was measured, or why the value is missing.
    """

    name: str
    value: float | None
    in_units: float | None
    order: str
    note: str = ""
