# SPDX-License-Identifier: MIT
"""How can the length of trajectories be kept small while a network is trained?

Trajectory regularisation is a module that takes the place of a batch norm. It multiplies the batch by a learnt scale,
in training and in evaluation. In training it also computes a loss: its strength times the scale times the length of
the incoming batch, divided by the length at first. `trajectory_loss` adds these up, and is to be added to the model's
own loss. The batch is taken as a polyline from each point to the next.
Source: Raghu et al. 2017, section 3.3.
This file needs torch; nothing else in the package needs this file.
"""

from __future__ import annotations

import math
from typing import Any

from regions.errors import MissingDependencyError

try:
    import torch
except ImportError:
    raise MissingDependencyError("torch", "torch", "for regions.torch") from None

__all__ = ["TrajectoryRegularization", "trajectory_loss"]


class TrajectoryRegularization(torch.nn.Module):  # type: ignore[misc]
    """Multiply activations by one learnt number, and compute a loss that limits the length of trajectories.

    It takes the place of ``BatchNorm1d(num_features)`` or ``BatchNorm2d(num_features)``. `regions.load` reads a module
    with it: the scale is folded into the layer next to it. In evaluation mode ``torch.export`` takes it;
    ``torch.jit.script`` does not.

    Parameters
    ----------
    num_features : int
        The size of axis 1 of the input.
    strength : float
        The factor of the loss; 0.01 in the paper.

    Attributes
    ----------
    learnt_scale : torch.nn.Parameter
        The learnt number, one at first. It may become negative; then the loss is negative as well.
    original_length : torch.Tensor
        Mean distance between consecutive points of a batch, in the first training batch in which it was not zero; NaN
        until then. A buffer, saved with the weights.
    loss : torch.Tensor or None
        ``strength * learnt_scale * length / original_length`` for the latest batch, with its gradient. None before
        the first batch in training mode, and after a batch in evaluation mode.

    Raises
    ------
    TypeError, ValueError
        ``num_features`` is not a positive integer, or ``strength`` is not a finite number of at least 0.

    References
    ----------
    Raghu et al. 2017, section 3.3. Their "original length" is interpreted as the length of the first training batch.

    Examples
    --------
    >>> import torch
    >>> layer = TrajectoryRegularization(2)
    >>> _ = layer(torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]]))
    >>> _ = layer(torch.tensor([[0.0, 0.0], [6.0, 8.0], [6.0, 10.0]]))
    >>> layer.original_length.item(), round(layer.loss.item(), 6)
    (3.0, 0.02)
    """

    def __init__(self, num_features: int, strength: float = 0.01) -> None:
        if isinstance(num_features, bool) or not isinstance(num_features, int):
            raise TypeError(f"num_features must be an integer, got {num_features!r}")
        if num_features < 1:
            raise ValueError(f"num_features must be positive, got {num_features}")
        if isinstance(strength, bool) or not isinstance(strength, (int, float)):
            raise TypeError(f"strength must be a number, got {strength!r}")
        if not 0.0 <= strength < math.inf:
            raise ValueError(f"strength must be a finite number of at least 0, got {strength}")
        super().__init__()
        self.num_features, self.strength = num_features, float(strength)
        self.learnt_scale = torch.nn.Parameter(torch.ones(()))
        self.register_buffer("original_length", torch.full((), math.nan))
        self.loss: Any = None

    def forward(self, batch: Any) -> Any:
        """Scale a batch [n, num_features, ..]; in training mode also measure it."""
        if not batch.is_floating_point():
            raise TypeError(f"expected a batch of floating-point numbers, got {batch.dtype}")
        if batch.dim() < 2 or batch.shape[1] != self.num_features:
            raise ValueError(f"expected a batch [n, {self.num_features}, ..], got {list(batch.shape)}")
        self.loss = self._loss(batch) if self.training else None
        return batch * self.learnt_scale

    def _loss(self, batch: Any) -> Any:
        steps = torch.linalg.vector_norm(batch.flatten(1).diff(dim=0), dim=1)
        if not len(steps):  # a batch of one point has no length
            return self.learnt_scale.new_zeros(())
        length = steps.mean()
        if self.original_length.isnan() and length > 0:
            self.original_length.copy_(length.detach())
        if self.original_length.isnan():
            return self.learnt_scale.new_zeros(())
        return self.strength * self.learnt_scale * length / self.original_length

    def reset_parameters(self) -> None:
        """Reset the scale to one and forget the original length."""
        with torch.no_grad():
            self.learnt_scale.fill_(1.0)
            self.original_length.fill_(math.nan)
        self.loss = None

    def extra_repr(self) -> str:
        """Return the arguments for the module's repr."""
        return f"{self.num_features}, strength={self.strength:g}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loss": None}  # the loss belongs to a batch; its graph cannot be copied


def trajectory_loss(module: torch.nn.Module) -> Any:
    """Return the sum of the losses of all `TrajectoryRegularization` in a module, for the latest batch.

    Parameters
    ----------
    module : torch.nn.Module

    Returns
    -------
    torch.Tensor []
        The sum, to be added to the training loss.

    Raises
    ------
    TypeError
        Not a torch module.
    ValueError
        The module contains no such layer, or one without a loss: before the first batch, or after a batch in
        evaluation mode.

    Examples
    --------
    >>> import torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), TrajectoryRegularization(3), torch.nn.ReLU())
    >>> _ = model(torch.eye(2))
    >>> round(trajectory_loss(model).item(), 6)
    0.01
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module must be a torch.nn.Module, got {type(module).__name__}")
    layers = [(name, part) for name, part in module.named_modules() if isinstance(part, TrajectoryRegularization)]
    if not layers:
        raise ValueError(f"there is no TrajectoryRegularization in {type(module).__name__}")
    for name, part in layers:
        if part.loss is None:
            raise ValueError(
                f"{name or 'the module'}: the latest batch has no loss, because losses are computed in training "
                "mode only; call model.train(), and the model on a batch"
            )
    return sum(part.loss for _, part in layers)
