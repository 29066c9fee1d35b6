# SPDX-License-Identifier: MIT
"""Which exported programs do the tests need, and does a network agree with the module that torch evaluates?"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from regions.networks.network import Network

nn = torch.nn


class Applied(nn.Module):
    """A module whose output is ``function(module, x)``; the parts become its submodules and buffers."""

    def __init__(self, function: Callable[..., torch.Tensor], **parts: Any) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self, x)


class Block(nn.Module):
    """A residual block, with a convolution in its skip connection if it changes shapes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(after), nn.BatchNorm2d(after)])
        self.relu = nn.ReLU(inplace=True)
        same = stride == 1 and before == after
        self.beside = nn.Identity() if same else nn.Conv2d(before, after, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norms[1](self.second(self.relu(self.norms[0](self.first(x)))))
        h += self.beside(x)
        return self.relu(h)


def residual_net(blocks: int, widths: tuple[int, ...]) -> nn.Module:
    """Return convolutions with batch norms and skips, a mean over all positions, and a linear layer."""
    layers: list[nn.Module] = [nn.Conv2d(3, widths[0], 3, padding=1), nn.BatchNorm2d(widths[0]), nn.ReLU(inplace=True)]
    before = widths[0]
    for number, width in enumerate(widths):
        for index in range(blocks):
            layers.append(Block(before, width, 2 if number and not index else 1))
            before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def prepared(module: nn.Module, seed: int = 0) -> nn.Module:
    """Return a module in evaluation mode, with random statistics of batch norms."""
    torch.manual_seed(seed)
    for part in module.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_mean is not None:
            part.running_mean.normal_()
            part.running_var.uniform_(0.5, 2.0)
    return module.eval()


def exported(module: nn.Module, *shape: int, batch: int | None = None) -> bytes:
    """Return the archive of a module for inputs of a shape; without a batch size, for any batch."""
    dynamic = None if batch else ({0: torch.export.Dim("batch")},)
    program = torch.export.export(module, (torch.randn(batch or 2, *shape),), dynamic_shapes=dynamic)
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    return buffer.getvalue()


def rewritten(content: bytes, change: Callable[[dict[str, Any]], Any], member: str = "models/model.json") -> bytes:
    """Return the archive with a changed JSON in one of its members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith(member):
                parsed = json.loads(data)
                change(parsed)
                data = json.dumps(parsed).encode()
            new.writestr(name, data)
    return buffer.getvalue()


def agrees(module: nn.Module, net: Network, *shape: int, tolerance: float = 1e-12) -> None:
    """Compare a network with a module, in double precision, at random points."""
    points = torch.randn(6, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 3
    double = module.double()
    with torch.no_grad():
        wanted = np.stack([double(point[None]).numpy().ravel() for point in points])
    module.float()
    found = net(points.reshape(6, -1).numpy())
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())
