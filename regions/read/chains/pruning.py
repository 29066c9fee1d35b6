# SPDX-License-Identifier: MIT
"""How are pruned weights and sparse tensors read?

`torch.nn.utils.prune` keeps a parameter as two tensors, ``weight_orig`` and ``weight_mask``, and multiplies them before
each call. A mask holds zeros and ones, so the product is exact: it is what the network computes with. A mask of other
numbers is refused, because torch would round the product. Sparse parameters of a module are converted to
dense ones, because torch cannot copy them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from regions.errors import NetworkError, ShapeMismatchError, UnsupportedLayerError
from regions.ground.arithmetic.arrays import as_numpy, exact_float64
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import listed

__all__ = ["copied_module", "masked_tensors", "with_plain_weights"]

_ADVICE = "make pruning permanent with torch.nn.utils.prune.remove, and save the weights again"


def masked_tensors(tensors: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Multiply pruned weights and biases with their masks.

    Parameters
    ----------
    tensors : mapping of str to array

    Returns
    -------
    dict of str to array
        The tensors in the same order; ``weight`` is in place of ``weight_orig`` and ``weight_mask``.
    list of str
        A note, if anything is pruned.

    Raises
    ------
    UnsupportedLayerError
        A mask has numbers other than 0 and 1.
    ShapeMismatchError, NonFiniteError, NetworkError
        A mask has another shape than its weights; the numbers are not finite, or not real.
    """
    pruned = [
        key.removesuffix("_orig")
        for key in tensors
        if key.rpartition(".")[2] in ("weight_orig", "bias_orig") and f"{key.removesuffix('orig')}mask" in tensors
    ]
    names = {f"{name}_orig": name for name in pruned if name not in tensors}
    masks = {f"{name}_mask" for name in names.values()}
    result = {
        names.get(key, key): _product(key, value, f"{names[key]}_mask", tensors) if key in names else value
        for key, value in tensors.items()
        if key not in masks
    }
    return result, _note(list(names.values()))


def _note(names: list[str]) -> list[str]:
    return [f"pruned weights, read as weight_orig * weight_mask: {listed(names)}"] if names else []


def _product(key: str, values: Any, mask_key: str, tensors: Mapping[str, Any]) -> Floats:
    weights, mask = exact_float64(values, key), as_numpy(tensors[mask_key], mask_key)
    if weights.shape != mask.shape:
        raise ShapeMismatchError(f"{mask_key} has shape {list(mask.shape)}, but {key} has {list(weights.shape)}")
    if not np.isin(mask, (0, 1)).all():
        raise UnsupportedLayerError(f"{mask_key} has numbers other than 0 and 1; {_ADVICE}")
    return np.where(mask == 1, weights, 0.0)


def with_plain_weights(module: Any) -> tuple[Any, list[str]]:
    """Apply the masks of a torch module to a copy of it, whose tensors are not sparse.

    Parameters
    ----------
    module : torch.nn.Module
        It is not changed, and is returned itself if nothing in it is pruned or sparse.

    Returns
    -------
    torch.nn.Module
    list of str
        A note, if anything is pruned.

    Raises
    ------
    NetworkError
        The module cannot be copied.
    """
    from torch.nn.utils import prune

    module = _without_sparse(module)
    parts = [(name, part, hook) for name, part in module.named_modules() for hook in _pruning_hooks(part)]
    if not parts:
        return module, []
    try:
        copied = copied_module(module)
        for part in copied.modules():
            for hook in _pruning_hooks(part):
                prune.remove(part, hook._tensor_name)
    except Exception as error:  # the caller's own objects, which copying and pruning call
        raise NetworkError(f"this {type(module).__name__} is pruned and cannot be copied; {_ADVICE}") from error
    pruned = [f"{name}.{hook._tensor_name}" if name else hook._tensor_name for name, _, hook in parts]
    return copied, _note(pruned)


def copied_module(module: Any) -> Any:
    """Copy a torch module; hooks that compute its weights, as of old weight norms, compute them again in the copy.

    Raises
    ------
    Exception
        Any error of the objects in it.
    """
    import torch

    # Results of operations, which torch does not copy.
    computed = {
        id(each): each.detach()
        for part in module.modules()
        for each in vars(part).values()
        if isinstance(each, torch.Tensor) and not each.is_leaf
    }
    return copy.deepcopy(module, computed)


def _without_sparse(module: Any) -> Any:
    """Return a copy of a module with dense tensors in place of sparse ones; the module itself if it has none."""
    import torch

    parameters = [each for each in module.parameters() if each.layout != torch.strided]
    buffers = [each for each in module.buffers() if each.layout != torch.strided]
    if not parameters and not buffers:
        return module
    plain = {id(each): torch.nn.Parameter(each.detach().to_dense(), False) for each in parameters}
    plain |= {id(each): each.detach().to_dense() for each in buffers}
    try:
        return copy.deepcopy(module, plain)
    except Exception as error:  # the caller's own objects
        raise NetworkError(
            f"this {type(module).__name__} has sparse tensors and cannot be copied; make them plain: tensor.to_dense()"
        ) from error


def _pruning_hooks(part: Any) -> list[Any]:
    from torch.nn.utils.prune import BasePruningMethod

    return [hook for hook in part._forward_pre_hooks.values() if isinstance(hook, BasePruningMethod)]
