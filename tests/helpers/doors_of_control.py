# SPDX-License-Identifier: MIT
"""Which policies, critics and controllers does `doors.py` load?

They are written in the style of libraries for reinforcement learning and for model predictive control.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from doors_parts import case, mlp

nn = torch.nn
Tensor = torch.Tensor


class RunningNorm(nn.Module):
    """Observations minus their mean, over their deviation."""

    def __init__(self, size: int, eps: float = 1e-2) -> None:
        super().__init__()
        self.eps = eps
        self.register_buffer("_mean", torch.randn(1, size))
        self.register_buffer("_var", torch.rand(1, size) + 0.5)
        self.register_buffer("_std", self._var.sqrt())
        self.register_buffer("count", torch.tensor(7, dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            self.count += x.shape[0]
        return (x - self._mean) / (self._std + self.eps)


@case(5)
class ActorWithRunningNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.obs_normalizer = RunningNorm(5)
        self.actor = mlp([5, 8, 8, 2])
        self.std = nn.Parameter(torch.ones(2))

    def forward(self, obs: Tensor) -> Tensor:
        return self.actor(self.obs_normalizer(obs))


@case(5, refused="(?i)elu.*not piecewise linear")
class ActorWithElu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.obs_normalizer = RunningNorm(5)
        self.actor = mlp([5, 8, 8, 2], nn.ELU)

    def forward(self, obs: Tensor) -> Tensor:
        return self.actor(self.obs_normalizer(obs))


@case(3)
class Td3Actor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.fc_mu = nn.Linear(3, 16), nn.Linear(16, 8), nn.Linear(8, 2)
        low, high = torch.tensor([-2.0, -1.0]), torch.tensor([2.0, 0.5])
        self.register_buffer("action_scale", (high - low) / 2)
        self.register_buffer("action_bias", (high + low) / 2)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = torch.tanh(self.fc_mu(x))
        return x * self.action_scale + self.action_bias


@case(3)
class SacActorMean(nn.Module):
    """The mean action; the deviation is computed and not returned."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.mean, self.logstd = mlp([3, 8, 8]), nn.Linear(8, 2), nn.Linear(8, 2)
        self.register_buffer("scale", torch.tensor([1.5, 0.5]))

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu(self.body(x))
        mean, log_std = self.mean(h), torch.tanh(self.logstd(h))
        log_std = -5 + 0.5 * (2 + 5) * (log_std + 1)
        log_std.exp()
        return torch.tanh(mean) * self.scale


@case(3)
class GaussianHead(nn.Module):
    """Mean and logarithm of the deviation, which is clamped, in one vector."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.mu, self.log_std = mlp([3, 8, 6]), nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.trunk(x).relu()
        return torch.cat([self.mu(h), self.log_std(h).clamp(-20, 2)], dim=-1)


@case(3, refused="(?i)tanh.*not piecewise linear")
class SquashedMeanWithDeviation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.mu = mlp([3, 8, 6]), nn.Linear(6, 2)
        self.log_std = nn.Parameter(torch.tensor([-0.5, 0.25]))

    def forward(self, x: Tensor) -> Tensor:
        mu = self.mu(self.trunk(x).relu())
        return torch.cat([torch.tanh(mu), self.log_std.expand_as(mu)], dim=-1)


@case(3)
class SquashedMeanWithLinearDeviation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.mu, self.log_std = mlp([3, 8, 6]), nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.trunk(x).relu()
        return torch.cat([torch.tanh(self.mu(h)), self.log_std(h)], dim=-1)


@case(4)
class PpoValue(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.critic = mlp([4, 8, 8, 1])
        for part in self.critic:
            if isinstance(part, nn.Linear):
                nn.init.orthogonal_(part.weight, math.sqrt(2))
                nn.init.constant_(part.bias, 0.0)

    def forward(self, x: Tensor) -> Tensor:
        return self.critic(x).flatten()


@case(4)
class CategoricalPolicy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features_extractor = nn.Flatten()
        self.policy_net, self.action_net = mlp([4, 8, 8]), nn.Linear(8, 3)

    def forward(self, obs: Tensor) -> Tensor:
        latent = self.policy_net(self.features_extractor(obs.float() if obs.dtype == torch.uint8 else obs)).relu()
        return F.softmax(self.action_net(latent), dim=-1)


@case(4)
class GreedyAction(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q_net = mlp([4, 8, 3])

    def forward(self, obs: Tensor) -> Tensor:
        return self.q_net(obs).argmax(dim=1)


@case(5)
class TwinCritics(nn.Module):
    """The smaller of two critics; the input is observation and action in one vector."""

    def __init__(self) -> None:
        super().__init__()
        self.qf1, self.qf2 = mlp([5, 8, 8, 1]), mlp([5, 8, 8, 1])

    def forward(self, both: Tensor) -> Tensor:
        obs, act = both[:, :3], both[:, 3:]
        x = torch.cat([obs, act], 1)
        return torch.min(self.qf1(x), self.qf2(x))


@case(5)
class CriticEnsemble(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.critics = nn.ModuleList([mlp([5, 6, 1]) for _ in range(4)])

    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([critic(x) for critic in self.critics], dim=0).mean(dim=0)


@case(5)
class VectorizedCritics(nn.Module):
    """Batched weights [critic, in, out], and the minimum over critics."""

    def __init__(self) -> None:
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.randn(3, 5, 6)), nn.Parameter(torch.randn(3, 1, 6))
        self.w2, self.b2 = nn.Parameter(torch.randn(3, 6, 1)), nn.Parameter(torch.randn(3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        h = x.unsqueeze(0).expand(3, -1, -1)
        h = torch.baddbmm(self.b1, h, self.w1).relu()
        return torch.baddbmm(self.b2, h, self.w2).min(dim=0).values


@case(4)
class DuelingHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.feature, self.value, self.advantage = mlp([4, 8, 8]), mlp([8, 6, 1]), mlp([8, 6, 3])

    def forward(self, x: Tensor) -> Tensor:
        f = self.feature(x).relu()
        v, a = self.value(f), self.advantage(f)
        return v + (a - a.mean(dim=-1, keepdim=True))


@case(4)
class QuantileHead(nn.Module):
    """Quantiles of each action's return, averaged."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([4, 12, 3 * 5])

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x).view(-1, 3, 5).mean(dim=2)


@case(4, refused="(?i)softmax")
class DistributionalHead(nn.Module):
    """Expected value of a categorical distribution: softmax is followed by a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([4, 12, 2 * 5])
        self.register_buffer("atoms", torch.linspace(-1, 1, 5))

    def forward(self, x: Tensor) -> Tensor:
        return (self.net(x).view(-1, 2, 5).softmax(-1) * self.atoms).sum(-1)


@case(4)
class MonotoneQuantiles(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = mlp([4, 8, 6])

    def forward(self, x: Tensor) -> Tensor:
        h = self.net(x)
        return h[..., :1] + torch.cumsum(F.pad(F.relu(h[..., 1:]), (1, 0)), dim=-1)


@case(4)
class SaturatedFeedback(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.K = nn.Parameter(torch.randn(2, 4))
        self.register_buffer("u_min", torch.tensor([-1.0, -0.5]))
        self.register_buffer("u_max", torch.tensor([1.0, 0.75]))

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(-x @ self.K.T, self.u_min, self.u_max)


@case(2)
class Deadzone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Linear(2, 3)
        self.width = 0.3

    def forward(self, x: Tensor) -> Tensor:
        u = self.gain(x)
        return torch.where(u.abs() <= self.width, torch.zeros_like(u), u - self.width * torch.sign(u))


@case(3)
class MinMaxTree(nn.Module):
    """Maximum of minima of affine functions."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces = nn.Linear(3, 4 * 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.pieces(x).view(-1, 4, 3).amin(dim=2).amax(dim=1, keepdim=True)


@case(4)
class SortedGains(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.Linear(4, 5), nn.Linear(5, 2)

    def forward(self, x: Tensor) -> Tensor:
        ordered, _ = torch.sort(self.before(x), dim=1, descending=True)
        return self.after(ordered)


@case(2)
class ClosedLoopStep(nn.Module):
    """One step of a linear system under a policy with limits."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = mlp([2, 8, 1])
        self.register_buffer("A", torch.tensor([[1.0, 0.1], [0.0, 1.0]]))
        self.register_buffer("B", torch.tensor([[0.005], [0.1]]))
        self.x_eq, self.u_lim = torch.zeros(2), 1.5

    def forward(self, x: Tensor) -> Tensor:
        u = torch.clamp(self.policy(x) - self.policy(self.x_eq), -self.u_lim, self.u_lim)
        return x @ self.A.t() + u @ self.B.t()


@case(2)
class ThreeStepRollout(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.policy = mlp([2, 4, 1])
        self.A, self.B = nn.Linear(2, 2, bias=False), nn.Linear(1, 2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        states: list[Any] = []
        for _ in range(3):
            x = self.A(x) + self.B(F.hardtanh(self.policy(x), -0.5, 0.5))
            states.append(x)
        return torch.stack(states, dim=1)


@case(2)
class HysteresisFree(nn.Module):
    """Gain scheduling by masks whose branches meet."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(2, 3)

    def forward(self, x: Tensor) -> Tensor:
        e = self.line(x)
        return 2.0 * e * (e > 0).to(e.dtype) + 0.5 * e * (e <= 0).to(e.dtype)


@case(2, refused="jumps")
class BangBang(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(2, 1)

    def forward(self, x: Tensor) -> Tensor:
        return 1.5 * torch.sign(self.line(x))
