# SPDX-License-Identifier: MIT
"""Which unusual layers does `doors.py` load: activations, masks, norms, recurrences, attention?"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.nn.utils import prune

from doors_parts import case, mlp

nn = torch.nn
Tensor = torch.Tensor


@case(3)
class Maxout(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin, self.out = nn.Linear(3, 4 * 3), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        m, _ = self.lin(x).view(x.size(0), 4, 3).max(dim=-1)
        return self.out(m)


@case(3)
class ConcatenatedRelu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x)
        return self.last(F.relu(torch.cat((h, -h), dim=1)))


@case(2, 4, 4)
def prelu_of_channels() -> nn.Module:
    layer = nn.PReLU(3)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([0.25, -0.5, 1.5]))
    return nn.Sequential(nn.Conv2d(2, 3, 2), layer, nn.Flatten(), nn.Linear(27, 2))


@case(3)
def random_leaky_net() -> nn.Module:
    return mlp([3, 6, 2], lambda: nn.RReLU(0.1, 0.4))


@case(3)
def threshold_net() -> nn.Module:
    return mlp([3, 6, 2], lambda: nn.Threshold(0.5, 0.5))


@case(3, refused="jump")
def jumping_threshold_net() -> nn.Module:
    return mlp([3, 6, 2], lambda: nn.Threshold(0.5, 0.0))


@case(3)
def soft_shrink_net() -> nn.Module:
    return mlp([3, 6, 2], lambda: nn.Softshrink(0.2))


@case(3, refused="jump")
def hard_shrink_net() -> nn.Module:
    return mlp([3, 6, 2], lambda: nn.Hardshrink(0.2))


@case(3)
def hard_sigmoid_net() -> nn.Module:
    return mlp([3, 6, 2], nn.Hardsigmoid)


@case(3)
def final_softsign() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2), nn.Softsign())


@case(3)
def final_tanhshrink() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2), nn.Tanhshrink())


@case(3, refused="(?i)softplus")
def softplus_net() -> nn.Module:
    return mlp([3, 6, 2], nn.Softplus)


@case(4)
class DropoutEverywhere(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm0, self.norm1 = nn.BatchNorm1d(4), nn.BatchNorm1d(6)
        self.first, self.last = nn.Linear(4, 6), nn.Linear(6, 2)
        self.drop, self.alpha = nn.Dropout(0.4), nn.AlphaDropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.drop(self.norm0(x))
        x = self.alpha(F.dropout(F.relu(self.norm1(self.first(x))), 0.2, self.training))
        return self.last(x)


@case(4)
def pruned_net() -> nn.Module:
    net = mlp([4, 6, 2])
    for layer in (net[0], net[2]):
        prune.l1_unstructured(layer, "weight", amount=0.4)
    prune.random_unstructured(net[0], "bias", amount=2)
    return net


class MaskedLinear(nn.Linear):
    def __init__(self, before: int, after: int) -> None:
        super().__init__(before, after)
        self.register_buffer("mask", (torch.rand(after, before) > 0.4).to(self.weight.dtype))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight * self.mask, self.bias)


@case(4)
def masked_net() -> nn.Module:
    return nn.Sequential(MaskedLinear(4, 6), nn.ReLU(), MaskedLinear(6, 2))


@case(4)
class GatedMixture(nn.Module):
    """Experts with constant gates."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList([mlp([4, 5, 2]) for _ in range(3)])
        self.gate_logits = nn.Parameter(torch.randn(3))

    def forward(self, x: Tensor) -> Tensor:
        gates = torch.softmax(self.gate_logits, dim=0)
        return torch.einsum("e,ebo->bo", gates, torch.stack([expert(x) for expert in self.experts]))


@case(4, refused="(?i)softmax|product")
class RoutedMixture(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.experts, self.router = nn.ModuleList([mlp([4, 5, 2]) for _ in range(3)]), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        gates = self.router(x).softmax(-1)
        return (gates.unsqueeze(-1) * torch.stack([expert(x) for expert in self.experts], 1)).sum(1)


@case(4)
class TaskEmbedding(nn.Module):
    """The embedding of a fixed index beside the input."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.net = nn.Embedding(5, 3), mlp([7, 6, 2])
        self.register_buffer("task", torch.tensor([2]))

    def forward(self, x: Tensor) -> Tensor:
        code = self.table(self.task).expand(x.shape[0], -1)
        return self.net(torch.cat([x, code], dim=-1))


@case(4)
class SinusoidalTime(nn.Module):
    """Sines of a constant time are constants."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.time = mlp([8, 6, 2]), 0.7

    def forward(self, x: Tensor) -> Tensor:
        frequencies = torch.exp(torch.arange(2, device=x.device, dtype=x.dtype) * -1.5)
        angles = self.time * frequencies
        code = torch.cat([angles.sin(), angles.cos()]).to(x.dtype)
        return self.net(torch.cat([x, code.repeat(x.shape[0], 1)], dim=1))


@case(3, 4)
class EinsumLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.mix = nn.Parameter(torch.randn(3, 4, 5)), nn.Parameter(torch.randn(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        h = torch.einsum("bni,nio->bno", x, self.weight).relu()
        return torch.matmul(self.mix, h).sum(-1)


@case(3, 2)
class FixedGraph(nn.Module):
    """Layers of a graph network, with the normalised adjacency matrix of a fixed graph."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("adj", torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
        self.first, self.last = nn.Linear(2, 4), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = self.adj + torch.eye(3, dtype=x.dtype)
        scale = a.sum(1).pow(-0.5)
        a = scale[:, None] * a * scale[None, :]
        return (a @ self.last(F.relu(a @ self.first(x)))).squeeze(-1)


@case(3, 2)
class SetNetwork(nn.Module):
    """A sum and a maximum over the elements of a set."""

    def __init__(self) -> None:
        super().__init__()
        self.phi, self.rho = mlp([2, 5, 4]), mlp([8, 5, 1])

    def forward(self, x: Tensor) -> Tensor:
        h = self.phi(x)
        return self.rho(torch.cat([h.sum(dim=-2), torch.amax(h, dim=-2)], dim=-1))


@case(4, refused="(?i)norm")
def layer_norm_net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2))


@case(4, 3, 3, refused="(?i)norm")
def group_norm_net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(4, 4, 1), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(36, 2))


@case(2, 3, 3, refused="(?i)norm")
def instance_norm_net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(2, 2, 1), nn.InstanceNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 2))


@case(3, 4, refused="(?i)attention|softmax")
class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention, self.head = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(F.relu(self.attention(x, x, x, need_weights=False)[0]).mean(1))


@case(3, 4, refused="(?i)attention|softmax")
class HandwrittenAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.q(x) @ self.k(x).transpose(-2, -1) / 2.0
        return (scores.softmax(dim=-1) @ self.v(x)).mean(1)


@case(3, 4, refused="(?i)lstm|recurrent|sigmoid|tanh|product")
class RecurrentLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.LSTM(4, 3, batch_first=True), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.rnn(x)[0][:, -1])


@case(3, 4, refused="(?i)gru|recurrent|sigmoid|tanh|product")
class RecurrentGru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.GRU(4, 3, batch_first=True), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.rnn(x)[0][:, -1])


@case(3, 4)
class UnrolledRelu(nn.Module):
    """A recurrence of ReLUs, written as a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.RNNCell(4, 3, nonlinearity="relu"), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = x.new_zeros(x.shape[0], 3)
        for step in x.unbind(1):
            h = self.cell(step, h)
        return self.head(h)


@case(3, 4)
class ReluRnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.RNN(4, 3, nonlinearity="relu", batch_first=True), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.rnn(x)[0][:, -1])


@case(4, refused="(?i)product|multipl")
class BilinearForm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.form = nn.Bilinear(4, 4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.form(x, x.relu())


@case(6)
class StridedView(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        windows = torch.stack([x[:, i : i + 3] for i in range(0, 4)], dim=1)
        return F.relu(self.line(windows))[:, ::2].reshape(x.size(0), -1)
