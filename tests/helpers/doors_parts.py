# SPDX-License-Identifier: MIT
"""Which modules does `doors.py` load, and what are people entitled to?

A case is a class or function without arguments that makes a torch module. It is registered with the shape of one input
and, if the module is not piecewise linear, with words that the refusal must contain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from exported_parts import prepared

nn = torch.nn

Maker = TypeVar("Maker", bound=Callable[[], nn.Module])


@dataclass(frozen=True)
class Case:
    """A module that people have: its name, its maker, the shape of one input, and why it must be refused, if so."""

    name: str
    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    refused: str | None

    def module(self, kind: torch.dtype) -> nn.Module:
        """Return the module in evaluation mode, with the same numbers at each call."""
        before = torch.get_default_dtype()
        torch.set_default_dtype(kind)
        try:
            torch.manual_seed(sum(map(ord, self.name)))
            return prepared(self.make(), 3)
        finally:
            torch.set_default_dtype(before)


CASES: dict[str, Case] = {}


def case(*shape: int, refused: str | None = None) -> Callable[[Maker], Maker]:
    """Register a maker of modules for inputs of a shape."""

    def register(make: Maker) -> Maker:
        name = make.__name__
        assert name not in CASES, name
        CASES[name] = Case(name, make, shape, refused)
        return make

    return register


def mlp(widths: Sequence[int], activation: Callable[[], Any] = nn.ReLU) -> nn.Sequential:
    """Return linear layers with an activation between them."""
    layers: list[nn.Module] = []
    for before, after in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers[:-1])
