# SPDX-License-Identifier: MIT
"""Which layers are arrays whose names are numbers?

``W0, b0, W1, b1, ..`` is a chain by these names, and so is ``arr_0, arr_1, ..``, as `numpy.savez` names arrays without
names: their order is the order in which they were given. There each matrix is a layer, and a vector right after
it is its bias. Anything else among them is refused. Other arrays are left out, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from regions.errors import AmbiguousCheckpointError, CheckpointError, UnsupportedLayerError
from regions.ground.text.printable import listed
from regions.read.chains.layer_order import Module, list_shapes
from regions.read.chains.prefixes import Part

__all__ = ["are_numbered", "numbered_modules", "require_axes"]

_CONVOLUTIONS = {
    3: "one-dimensional convolution",
    4: "two-dimensional convolution",
    5: "three-dimensional convolution",
}
_IMAGES = {3: "(C, L)", 4: "(C, H, W)", 5: "(C, D, H, W)"}
_NUMBERED, _POSITION = re.compile("W[0-9]+"), re.compile("arr_(0|[1-9][0-9]{0,5})")


def are_numbered(part: Part) -> bool:
    """Return whether the names in a part are numbers, which imply a chain and its order."""
    return any(_NUMBERED.fullmatch(name) or _POSITION.fullmatch(name) for name in _plain(part))


def numbered_modules(part: Part) -> tuple[list[Module], list[str]] | None:
    """Return the modules of a part with such names, and notes; None if it has other names.

    Raises
    ------
    CheckpointError
        A number is missing, or a bias has no weights.
    AmbiguousCheckpointError
        An array is neither the weights nor the bias of a layer.
    UnsupportedLayerError
        A convolution.
    """
    tensors = _plain(part)
    if any(_NUMBERED.fullmatch(name) for name in tensors):
        return _pairs(tensors)
    if any(_POSITION.fullmatch(name) for name in tensors):
        return _in_order(tensors)
    return None


def _plain(part: Part) -> dict[str, Any]:
    """Return the tensors without the beginning of their names."""
    within = f"{part.within}." if part.within else ""
    return {name.removeprefix(within): value for name, value in part.tensors.items()}


def _pairs(tensors: Mapping[str, Any]) -> tuple[list[Module], list[str]]:
    """Return modules from ``W0, b0, W1, b1, ..``; biases may be missing."""
    numbers = sorted(int(name[1:]) for name in tensors if re.fullmatch(r"W(0|[1-9][0-9]{0,5})", name))
    expected = list(range(numbers[0], numbers[0] + len(numbers))) if numbers else [0]
    if numbers != expected or expected[0] > 1:
        raise CheckpointError(
            f"weights must be named W0, W1, .. (or W1, W2, ..) without a gap; found W with {numbers[:20]}"
        )
    for name in tensors:
        if re.fullmatch(r"b[0-9]+", name) and f"W{name[1:]}" not in tensors:
            raise CheckpointError(f"{name} is stored, but W{name[1:]} is not")
    modules = [
        _dense(tensors, f"W{number}", f"b{number}" if tensors.get(f"b{number}") is not None else None)
        for number in numbers
    ]
    used = {name for number in numbers for name in (f"W{number}", f"b{number}")}
    return modules, [*_on_orientation(modules), *_others(tensors, used)]


def _in_order(tensors: Mapping[str, Any]) -> tuple[list[Module], list[str]]:
    """Return modules from ``arr_0, arr_1, ..``, weights and biases in this order."""
    names = sorted((name for name in tensors if _POSITION.fullmatch(name)), key=lambda name: int(name[4:]))
    if names != [f"arr_{i}" for i in range(len(names))]:
        raise CheckpointError(f"arrays must be named arr_0, arr_1, .. without a gap; found {listed(names)}")
    modules: list[Module] = []
    for name in names:
        shape = tensors[name].shape
        if len(shape) != 1:
            modules.append(_dense(tensors, name, None))
        elif modules and "bias" not in modules[-1].tensors:
            modules[-1] = _dense(tensors, modules[-1].name, name)
        else:
            raise AmbiguousCheckpointError(
                f"{name} (shape {list(shape)}) follows no weights of which it could be the bias; found "
                f"{listed(names, lambda one: f'{one} {list(tensors[one].shape)}')}. Give names: "
                "numpy.savez(path, W0=.., b0=.., W1=..)"
            )
    note = f"arrays without names, read as weights and biases in the order of their numbers: {list_shapes(modules)}"
    return modules, [note, *_on_orientation(modules), *_others(tensors, set(names))]


def _on_orientation(modules: list[Module]) -> list[str]:
    """Return a note if the shapes do not say whether rows or columns are outputs; names of arrays do not, either."""
    shapes = [module.tensors["weight"].shape for module in modules]
    biases = any(
        n_out != n_in for module, (n_out, n_in) in zip(modules, shapes, strict=True) if "bias" in module.tensors
    )
    if biases or any(before[1] != after[0] for before, after in pairwise(shapes)):
        return []
    return [
        "weights were read as [outputs, inputs]; the shapes fit [inputs, outputs], too: if x @ W is meant, give W.T"
    ]


def _dense(tensors: Mapping[str, Any], weight: str, bias: str | None) -> Module:
    require_axes(weight, tensors[weight])
    if bias is None:
        return Module(weight, "dense", {"weight": tensors[weight]}, {"weight": weight})
    return Module(weight, "dense", {"weight": tensors[weight], "bias": tensors[bias]}, {"weight": weight, "bias": bias})


def _others(tensors: Mapping[str, Any], used: set[str]) -> list[str]:
    others = [name for name in tensors if name not in used]
    return [f"arrays beside the weights, left out: {listed(others)}"] if others else []


def require_axes(key: str, weight: Any) -> None:
    """Refuse weights that do not belong to a dense layer; ``key`` is their name in messages."""
    axes = len(weight.shape)
    if axes in _CONVOLUTIONS:
        raise UnsupportedLayerError(
            f"{key} has shape {list(weight.shape)}, as in a {_CONVOLUTIONS[axes]}. A state dict does not hold strides, "
            f"padding or the order of calls. Load the module: regions.load(module, input_shape={_IMAGES[axes]}). Or "
            "load what torch.export.save(torch.export.export(module.eval(), (x,)), 'model.pt2') writes"
        )
    if axes != 2:
        raise UnsupportedLayerError(f"{key} has shape {list(weight.shape)}; the weights of a dense layer have two axes")
