# SPDX-License-Identifier: MIT
"""Do the regions of networks with max-pools, written by torch, agree with torch?

A LeNet with batch norms and max-pools on digits, as an exported program and as ONNX. At an interior point of every
region the pattern is compared with torch's signs and argmaxes, and values and affine maps with torch's in double
precision. With ReLUs fused into the max-pools the function is the same, with fewer regions.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import regions
from regions import Network, Polygon, Segment, circumsquare
from regions.networks.graph import Maxima

torch = pytest.importorskip("torch")
nn = torch.nn
digits = pytest.importorskip("sklearn.datasets").load_digits()

IMAGES = digits.images[:60] / 16.0


def lenet() -> Any:
    """Return a LeNet, trained a little, in evaluation mode."""
    torch.manual_seed(3)
    layers = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(4, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(3, stride=1, padding=1)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(96, 12), nn.ReLU(), nn.Linear(12, 10)).double()
    given, wanted = torch.tensor(IMAGES[:, np.newaxis]), torch.tensor(digits.target[:60])
    steps = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(20):
        steps.zero_grad()
        nn.functional.cross_entropy(model(given), wanted).backward()
        steps.step()
    return model.eval()


MODEL = lenet()


def written(kind: str) -> io.BytesIO:
    content, example = io.BytesIO(), torch.rand(1, 1, 8, 8, dtype=torch.float64)
    if kind == "pt2":
        torch.export.save(torch.export.export(MODEL, (example,)), content)
    else:
        torch.onnx.export(MODEL, (example,), content, dynamo=False, training=torch.onnx.TrainingMode.PRESERVE)
    content.seek(0)
    return content


def seen_by_torch(network: Network, given: Any, fused: bool) -> np.ndarray:
    """Return the bits that follow from torch's values before each ReLU and each max-pool."""
    before: list[tuple[str, np.ndarray]] = []
    hooks = [
        module.register_forward_pre_hook(
            lambda module, given: before.append((type(module).__name__, given[0].detach().numpy()))
        )
        for module in MODEL.modules()
        if isinstance(module, nn.ReLU | nn.MaxPool2d)
    ]
    MODEL(given)
    for hook in hooks:
        hook.remove()
    bits, kinds = [], [node.units for node in network.graph.hidden if node.units.kinks]
    pools = iter([windows(4, 8, 2, 2, 0), windows(6, 4, 3, 1, 1)])
    for place, (kind, values) in enumerate(before):
        flat = values.reshape(len(values), -1)
        if kind == "ReLU" and not (fused and before[place + 1 :][:1] and before[place + 1][0] == "MaxPool2d"):
            bits.append(flat > 0)
            kinds.pop(0)
        elif kind == "MaxPool2d":
            units = kinds.pop(0)
            assert isinstance(units, Maxima)
            arms = [[flat[:, arm] for arm in own] for own in next(pools)]
            # A constant 0 comes first; torch's ReLU is 0 where it is inactive, so the constant wins ties.
            rows = [row for own in arms for row in ([np.zeros(len(flat))] if fused else []) + own]
            bits.append(units.bits_of(units.pieces_at(np.stack(rows, axis=1))))
    return np.concatenate(bits, axis=1)


def windows(channels: int, length: int, size: int, stride: int, padding: int) -> list[list[int]]:
    """Return the flat places that each window of a max-pool over square images reads."""
    starts = range(-padding, length + padding - size + 1, stride)
    inside = range(length)
    return [
        [(c * length + i) * length + j for i in range(a, a + size) for j in range(b, b + size) if {i, j} <= {*inside}]
        for c in range(channels)
        for a in starts
        for b in starts
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pt2", "onnx"])
def test_regions_match_torch(kind: str) -> None:
    content, counts = written(kind), []
    square = circumsquare(*IMAGES[:3].reshape(3, 64))
    domains = Segment(*IMAGES[:2].reshape(2, 64)), Polygon(square.to_input(square.generators[:, 1:] * 0.05))
    for fused in (False, True):
        content.seek(0)
        network = regions.load(content, fuse_max=fused)
        assert network.input_shape == (1, 8, 8) and any("max(0, ..)" in note for note in network.notes) == fused
        for domain in domains:
            partition = regions.enumerate(network, domain)
            counts.append(len(partition))
            assert regions.count(network, domain) == len(partition) > 10
            points = domain.to_input(np.array([region.interior_point for region in partition]))
            given = torch.tensor(points.reshape(-1, 1, 8, 8), requires_grad=True)
            assert (seen_by_torch(network, given, fused) == partition.patterns).all()
            values = MODEL(given)
            assert np.abs(values.detach().numpy() - network(points)).max() < 1e-10
            linear, constants = partition.affine_maps(space="input")
            gradients = [torch.autograd.grad(values[:, i].sum(), given, retain_graph=True)[0] for i in range(10)]
            assert np.abs(linear - torch.stack(gradients, dim=1).flatten(2).numpy()).max() < 1e-10
            assert np.abs(np.einsum("roi,ri->ro", linear, points) + constants - network(points)).max() < 1e-10
    assert counts[2] < counts[0] and counts[3] < counts[1]


def test_images_are_pooled_as_torch_does() -> None:
    for kind in ("pt2", "onnx"):
        network = regions.load(written(kind))
        wanted = MODEL(torch.tensor(IMAGES[:, np.newaxis])).detach().numpy()
        assert np.abs(network(IMAGES[:, np.newaxis]) - wanted).max() < 1e-10
