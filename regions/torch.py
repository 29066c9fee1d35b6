# SPDX-License-Identifier: MIT
"""How can the length of trajectories be kept small while a network is trained?

Trajectory regularisation: a module that stands where a batch norm would, adds to the loss its learnt scale times the
length of the batch as it comes by, over what that length was at first, and multiplies what goes on by the same scale.
The batch is taken as a polyline from each point to the next. Training and evaluation compute the same.
Source: Raghu et al. 2017, section 3.3.
This file needs torch, and nothing else of the package needs this file.
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
    """Multiply activations by one learnt number, and keep the loss that holds their length down.

    It takes the place of ``BatchNorm1d(num_features)`` or ``BatchNorm2d(num_features)``. `regions.load` reads a module
    with it: the scale is folded into the layer next to it. In evaluation mode ``torch.export`` takes it;
    ``torch.jit.script`` does not.

    Parameters
    ----------
    num_features : int
        The size of axis 1 of what comes in.
    strength : float
        What the loss is multiplied by; 0.01 in the paper.

    Attributes
    ----------
    learnt_scale : torch.nn.Parameter
        The learnt number, one at first. Nothing keeps it above 0; where it is below, so is the loss.
    original_length : torch.Tensor
        Mean length of a step from one point of a batch to the next, in the first batch of training in which that was
        not zero; NaN until then. A buffer, saved with the weights.
    loss : torch.Tensor or None
        ``strength * learnt_scale * length / original_length`` for the batch that came by last, with its gradient. None
        before the first batch in training mode, and after one in evaluation mode.

    Raises
    ------
    TypeError, ValueError
        ``num_features`` is no positive integer, ``strength`` no finite number from 0 on.

    References
    ----------
    Raghu et al. 2017, section 3.3. Their "original length" is taken to be that of the first batch of training.

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
            raise ValueError(f"strength must be a finite number from 0 on, got {strength}")
        super().__init__()
        self.num_features, self.strength = num_features, float(strength)
        self.learnt_scale = torch.nn.Parameter(torch.ones(()))
        self.register_buffer("original_length", torch.full((), math.nan))
        self.loss: Any = None

    def forward(self, batch: Any) -> Any:
        """Scale a batch [n, num_features, ..]; in training also measure it."""
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
        """Begin anew: a scale of one, and no original length."""
        with torch.no_grad():
            self.learnt_scale.fill_(1.0)
            self.original_length.fill_(math.nan)
        self.loss = None

    def extra_repr(self) -> str:
        """What its repr says."""
        return f"{self.num_features}, strength={self.strength:g}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loss": None}  # it belongs to a batch, and has a graph that cannot be copied


def trajectory_loss(module: torch.nn.Module) -> Any:
    """The losses of all `TrajectoryRegularization` in a module, for the batch that came by last.

    Parameters
    ----------
    module : torch.nn.Module

    Returns
    -------
    torch.Tensor []
        Their sum, to be added to the loss that is trained for.

    Raises
    ------
    TypeError
        No torch module.
    ValueError
        There is none in it, or one that has no loss: no batch came by, or the last one in evaluation mode.

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
                f"{name or 'the module'}: there is no loss of the batch that came by last; it is kept in training "
                "mode only, so call model.train(), and the model on a batch"
            )
    return sum(part.loss for _, part in layers)
