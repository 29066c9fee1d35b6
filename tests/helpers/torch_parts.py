# SPDX-License-Identifier: MIT
"""Which unusual torch modules do the tests need, and does a network agree with its module?

Networks are compared with torch itself: every module that is read is also run, in float64 and evaluation mode.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from regions.networks.network import Network

torch = pytest.importorskip("torch")
nn = torch.nn


class Residual(nn.Module):
    """Three layers, and a skip connection around the second."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = (nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Any) -> Any:
        hidden = torch.relu(self.first(x))
        return self.last(torch.relu(self.second(hidden)) + hidden)


def batch_norm(n: int, **options: Any) -> nn.BatchNorm1d:
    module = nn.BatchNorm1d(n, **options)
    assert module.running_mean is not None
    assert module.running_var is not None
    module.running_mean.normal_()
    module.running_var.uniform_(0.5, 2.0)
    if module.affine:
        nn.init.normal_(module.weight)
        nn.init.normal_(module.bias)
    return module


def prelu(n: int) -> nn.PReLU:
    module = nn.PReLU(n)
    with torch.no_grad():
        module.weight.copy_(torch.randint(-4, 5, (n,)) / 8)
    return module


def agrees(module: nn.Module, net: Network) -> None:
    points = torch.from_numpy(np.random.default_rng(2).standard_normal((300, net.n_in)) * 3)
    with torch.no_grad():
        expected = copy.deepcopy(module).double().eval()(points).numpy()
    np.testing.assert_allclose(net(points.numpy()), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
