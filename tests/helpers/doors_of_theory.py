# SPDX-License-Identifier: MIT
"""Which Lyapunov functions, convex networks, Lipschitz networks and solutions of equations does `doors.py` load?"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.utils import parametrizations, parametrize

from doors_parts import case, mlp

nn = torch.nn
Tensor = torch.Tensor


@case(2)
class AbsoluteLyapunov(nn.Module):
    """|f(x) - f(0)| plus a norm of (R'R + eps I) x."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([2, 8, 8, 1], nn.LeakyReLU)
        self.R = nn.Parameter(torch.randn(2, 2))
        self.register_buffer("x_eq", torch.zeros(1, 2))
        self.eps = 0.01

    def forward(self, x: Tensor) -> Tensor:
        square = self.eps * torch.eye(2, dtype=x.dtype, device=x.device) + self.R.transpose(0, 1) @ self.R
        part = torch.norm((x - self.x_eq) @ square.T, p=1, dim=1, keepdim=True)
        return torch.abs(self.net(x) - self.net(self.x_eq)) + part


@case(2)
class SummedLyapunov(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f = mlp([2, 6, 4])
        self.goal = torch.tensor([0.3, -0.2])

    def forward(self, x: Tensor) -> Tensor:
        return (self.f(x) - self.f(self.goal)).abs().sum(dim=-1, keepdim=True)


@case(2, refused="(?i)mul|pow|square|product|power")
class QuadraticLyapunov(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f = mlp([2, 6, 4])

    def forward(self, x: Tensor) -> Tensor:
        return (self.f(x) ** 2).sum(dim=-1, keepdim=True)


@case(2, refused="(?i)norm")
class EuclideanNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f = mlp([2, 6, 4])

    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.norm(self.f(x), dim=-1, keepdim=True)


@case(2)
class LargestNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f = mlp([2, 6, 4])

    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.vector_norm(self.f(x), ord=math.inf, dim=-1, keepdim=True)


@case(2)
class SkewParametrized(nn.Module):
    """A matrix from its upper triangle."""

    def __init__(self) -> None:
        super().__init__()
        self.upper = nn.Parameter(torch.randn(2, 2))
        self.out = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        skew = self.upper.triu(1)
        return F.relu(self.out(x @ (skew - skew.mT)))


class ConvexBase(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.skips = nn.ModuleList([nn.Linear(3, width) for width in (8, 6, 1)])
        self.passes = nn.ModuleList([nn.Linear(8, 6, bias=False), nn.Linear(6, 1, bias=False)])

    def positive(self, weight: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        z = F.relu(self.skips[0](x))
        for i, layer in enumerate(self.passes):
            z = F.linear(z, self.positive(layer.weight)) + self.skips[i + 1](x)
            if i < len(self.passes) - 1:
                z = F.relu(z)
        return z


@case(3)
class ConvexClamped(ConvexBase):
    def positive(self, weight: Tensor) -> Tensor:
        return weight.clamp(min=0)


@case(3)
class ConvexSoftplus(ConvexBase):
    def positive(self, weight: Tensor) -> Tensor:
        return F.softplus(weight) / weight.shape[1]


@case(3)
class ConvexExponential(ConvexBase):
    def positive(self, weight: Tensor) -> Tensor:
        return torch.exp(weight - 2.0)


@case(3)
class ConvexRelu(ConvexBase):
    def positive(self, weight: Tensor) -> Tensor:
        return torch.where(weight > 0, weight, torch.zeros_like(weight))


@case(3)
class PotentialDifference(nn.Module):
    """Difference of two convex maxima."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(3, 6), nn.Linear(3, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x).max(1)[0] - self.down(x).max(1)[0]


def pairs_sorted(x: Tensor, size: int) -> Tensor:
    shape = list(x.shape)
    grouped = x.view(shape[0], shape[1] // size, size)
    return grouped.sort(dim=2)[0].view(*shape)


@case(3)
class GroupSortNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Linear(3, 8), nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(pairs_sorted(self.second(pairs_sorted(self.first(x), 2)), 4))


@case(3)
class MaxMinNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, x: Tensor) -> Tensor:
        a, b = self.first(x).chunk(2, dim=1)
        return self.last(torch.cat((torch.max(a, b), torch.min(a, b)), dim=1))


@case(3)
def spectral_norm_net() -> nn.Module:
    return nn.Sequential(
        parametrizations.spectral_norm(nn.Linear(3, 8)), nn.ReLU(), parametrizations.spectral_norm(nn.Linear(8, 1))
    )


@case(3)
def weight_norm_net() -> nn.Module:
    return nn.Sequential(parametrizations.weight_norm(nn.Linear(3, 8)), nn.ReLU(), nn.Linear(8, 1))


@case(3)
def orthogonal_net() -> nn.Module:
    return nn.Sequential(parametrizations.orthogonal(nn.Linear(3, 3)), nn.ReLU(), nn.Linear(3, 1))


class Bjorck(nn.Linear):
    """The weight is orthogonalised at each call."""

    def forward(self, x: Tensor) -> Tensor:
        w = self.weight / self.weight.norm()
        for _ in range(4):
            w = 1.5 * w - 0.5 * w @ (w.t() @ w)
        return F.linear(x, w, self.bias)


@case(3)
def bjorck_net() -> nn.Module:
    return nn.Sequential(Bjorck(3, 6), nn.ReLU(), Bjorck(6, 2))


class InfinityNormLinear(nn.Linear):
    """Rows whose absolute sums are at most one."""

    def forward(self, x: Tensor) -> Tensor:
        sums = self.weight.abs().sum(dim=1, keepdim=True)
        return F.linear(x, self.weight / torch.maximum(torch.ones_like(sums), sums), self.bias)


@case(3)
def infinity_norm_net() -> nn.Module:
    return nn.Sequential(InfinityNormLinear(3, 6), nn.ReLU(), InfinityNormLinear(6, 2))


class Symmetric(nn.Module):
    def forward(self, weight: Tensor) -> Tensor:
        return weight.triu() + weight.triu(1).transpose(-1, -2)


@case(3)
def symmetric_net() -> nn.Module:
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    return nn.Sequential(layer, nn.ReLU(), nn.Linear(3, 2))


@case(3)
class LightningStyle(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hparams: dict[str, Any] = {"lr": 1e-3, "hidden": 8, "negative_slope": 0.1}
        self.save_every = 10
        self.layers = nn.ModuleList([nn.Linear(3, 8), nn.Linear(8, 8), nn.Linear(8, 2)])
        self.loss = nn.MSELoss()

    def training_step(self, batch: Any, index: int) -> Tensor:
        x, y = batch
        return self.loss(self(x), y)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            x = F.leaky_relu(layer(x), self.hparams["negative_slope"])
        return self.layers[-1](x)


@case(2)
class ScaledCoordinates(nn.Module):
    """Coordinates moved to [-1, 1] before the network, as in solvers of equations."""

    def __init__(self) -> None:
        super().__init__()
        self.lb, self.ub = torch.tensor([0.0, -1.0]), torch.tensor([2.0, 3.0])
        self.net = mlp([2, 8, 8, 1])

    def forward(self, xt: Tensor) -> Tensor:
        h = 2.0 * (xt - self.lb.to(xt.device)) / (self.ub - self.lb) - 1.0
        return self.net(h)


@case(2)
class SeparateCoordinates(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([2, 8, 1])

    def forward(self, xt: Tensor) -> Tensor:
        x, t = xt[:, 0:1], xt[:, 1:2]
        return self.net(torch.hstack([x / math.pi, 2 * t - 1])).squeeze(-1)


@case(2, refused="(?i)sin|cos")
class FourierFeatures(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("B", torch.randn(2, 4))
        self.net = mlp([8, 8, 1])

    def forward(self, x: Tensor) -> Tensor:
        projected = 2 * math.pi * x @ self.B
        return self.net(torch.cat([projected.sin(), projected.cos()], -1))


@case(2, refused="(?i)product|multipl")
class BoundaryFactor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([2, 8, 1])

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :1] * (1 - x[:, :1]) * self.net(x)


@case(3, refused="(?i)norm|div")
class UnitInputs(nn.Module):
    """Inputs over their length."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([3, 8, 1])

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x / (x.norm(dim=1, keepdim=True) + 1e-8))


@case(3, refused="(?i)norm|div")
class NormalizedFeatures(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([3, 8, 2])

    def forward(self, x: Tensor) -> Tensor:
        return F.normalize(self.net(x), dim=-1)
