# SPDX-License-Identifier: MIT
"""Do the regions of convolutional networks, written by torch, agree with torch?

Patterns are compared with the signs of torch's own pre-activations, values and affine maps with torch's in double
precision, at an interior point of every region.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from regions import Network, Polygon, Segment, circumsquare

torch = pytest.importorskip("torch")
nn = torch.nn


class Residual(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.inner, self.outer = nn.ReLU(), nn.ReLU()

    def forward(self, x: Any) -> Any:
        return self.outer(x + self.second(self.inner(self.first(x))))


def lenet() -> Any:
    layers = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2)]
    layers += [nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Linear(24, 12), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(12, 10))


def residual() -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, stride=2, padding=1),
        nn.ReLU(),
        Residual(3),
        Residual(3),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(3, 10),
    )


def trained_like(make: Any, seed: int) -> Any:
    """With running statistics that differ from the initial ones."""
    torch.manual_seed(seed)
    model = make().double()
    for _ in range(5):
        model(torch.rand(32, 1, 8, 8, dtype=torch.float64))
    return model.eval()


def read_back(model: Any, folder: Path) -> Network:
    path = folder / "model.pt2"
    torch.export.save(torch.export.export(model, (torch.rand(1, 1, 8, 8, dtype=torch.float64),)), path)
    return regions.load(path)


def signs(model: Any, images: Any) -> np.ndarray:
    """Return whether torch's values before each ReLU are above 0."""
    found: list[Any] = []
    hooks = [
        module.register_forward_pre_hook(lambda _, given: found.append(given[0].flatten(1) > 0))
        for module in model.modules()
        if isinstance(module, nn.ReLU)
    ]
    model(images)
    for hook in hooks:
        hook.remove()
    return torch.cat(found, dim=1).numpy()


@pytest.mark.parametrize(("make", "size"), [(lenet, 0.1), (residual, 0.8)])
def test_regions_match_torch(make: Any, size: float, tmp_path: Path) -> None:
    model = trained_like(make, 3)
    network = read_back(model, tmp_path)
    images = np.random.default_rng(4).random((3, 64))
    assert network.input_shape == (1, 8, 8)
    square = circumsquare(*images)
    corners = square.generators[:, 1:] * size
    for domain in (Segment(*images[:2]), Polygon(square.to_input(corners))):
        partition = regions.enumerate(network, domain)
        assert regions.count(network, domain) == len(partition) > 10
        points = domain.to_input(np.array([region.interior_point for region in partition]))
        given = torch.tensor(points.reshape(-1, 1, 8, 8), requires_grad=True)
        assert (signs(model, given) == partition.patterns).all()
        values = model(given)
        assert np.abs(values.detach().numpy() - network(points)).max() < 1e-10
        linear, constants = partition.affine_maps(space="input")
        gradients = [torch.autograd.grad(values[:, i].sum(), given, retain_graph=True)[0] for i in range(10)]
        wanted = torch.stack(gradients, dim=1).flatten(2).numpy()
        assert np.abs(linear - wanted).max() < 1e-10
        assert np.abs(np.einsum("roi,ri->ro", linear, points) + constants - network(points)).max() < 1e-10


def test_small_ones_are_certified(tmp_path: Path) -> None:
    network = read_back(trained_like(residual, 5), tmp_path)
    images = np.random.default_rng(6).random((2, 64))
    partition = regions.enumerate(network, Segment(images[0], images[0] + 0.2 * (images[1] - images[0])))
    assert not regions.certify(partition, network, regions=10).failed
