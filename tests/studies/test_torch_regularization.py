# SPDX-License-Identifier: MIT
"""Does trajectory regularisation compute the right loss and scale, and can networks trained with it be read?"""

from __future__ import annotations

import copy
import io
import math
from typing import Any

import numpy as np
import pytest

import regions
from regions.errors import UnsupportedLayerError

torch = pytest.importorskip("torch")
nn = torch.nn
TrajectoryRegularization = regions.torch.TrajectoryRegularization
trajectory_loss = regions.torch.trajectory_loss

POINTS = torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]], dtype=torch.float64)


def layer(strength: float = 1.0) -> Any:
    return TrajectoryRegularization(2, strength).double()


def test_the_loss_is_the_scaled_length_over_the_original_length() -> None:
    one = layer()
    one(POINTS)
    assert (one.original_length.item(), one.loss.item()) == (3.0, 1.0)
    one(2 * POINTS)
    assert (one.original_length.item(), one.loss.item()) == (3.0, 2.0)
    with torch.no_grad():
        one.learnt_scale.fill_(0.5)
    assert torch.equal(one(4 * POINTS), 2 * POINTS) and one.loss.item() == 2.0


def test_gradients() -> None:
    torch.manual_seed(0)
    one = layer(0.01)
    one(torch.randn(6, 2, 3, dtype=torch.float64))

    def both(batch: Any, scale: Any) -> tuple[Any, Any]:
        with torch.no_grad():
            one.learnt_scale.fill_(0.0)
        moved = torch.func.functional_call(one, {"learnt_scale": scale}, batch)
        return moved, one.loss

    batch = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    scale = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(both, (batch, scale))


def test_equal_points_have_a_gradient() -> None:
    one = layer()
    one(POINTS)
    batch = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    one(batch)
    one.loss.backward()
    assert one.loss.item() == 0.0 and batch.grad.isfinite().all()


@pytest.mark.parametrize("batch", [POINTS[:1], POINTS[:0], torch.zeros(4, 2, dtype=torch.float64)])
def test_a_batch_without_length_does_not_set_the_original_length(batch: Any) -> None:
    one = layer()
    one(batch)
    assert one.loss.item() == 0.0 and one.original_length.isnan()
    one(POINTS)
    assert (one.original_length.item(), one.loss.item()) == (3.0, 1.0)


def test_evaluation_computes_the_same_and_has_no_loss() -> None:
    one = layer()
    trained = one(POINTS)
    assert torch.equal(one.eval()(POINTS), trained) and one.loss is None


def test_it_is_saved_copied_and_begun_anew() -> None:
    one = layer()
    one(POINTS).sum().backward()
    with torch.no_grad():
        one.learnt_scale.fill_(0.5)
    other = layer()
    file = io.BytesIO()
    torch.save(one.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    same = copy.deepcopy(one)
    for each in (other, same):
        assert (each.original_length.item(), each.learnt_scale.item(), each.loss) == (3.0, 0.5, None)
    one.reset_parameters()
    assert one.original_length.isnan() and one.learnt_scale.item() == 1.0 and one.loss is None


def model(wide: int = 3) -> Any:
    torch.manual_seed(1)
    parts = [nn.Linear(2, 5), TrajectoryRegularization(5), nn.ReLU(), nn.Linear(5, wide), nn.ReLU()]
    return nn.Sequential(*parts, TrajectoryRegularization(wide), nn.Linear(wide, 1))


def test_losses_of_a_model_are_summed_and_what_is_trained_is_read() -> None:
    net = model()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.5)
    for _ in range(5):
        loss = net(torch.randn(8, 2)).pow(2).mean() + trajectory_loss(net)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert trajectory_loss(net).item() == pytest.approx(sum(net[i].loss.item() for i in (1, 5)))
    assert net[1].learnt_scale.item() != 1.0
    points = torch.randn(20, 2)
    found = regions.load(net)(points.numpy().astype(np.float64))
    assert abs(found - net.double()(points.double()).detach().numpy()).max() < 1e-12


def test_a_negative_scale_after_a_kink_is_read() -> None:
    net = model().double().eval()
    with torch.no_grad():
        net[5].learnt_scale.fill_(-2.0)
    points = torch.randn(20, 2, dtype=torch.float64)
    assert abs(regions.load(net)(points.numpy()) - net(points).detach().numpy()).max() < 1e-12


def test_a_state_dict_does_not_say_where_the_layer_is() -> None:
    with pytest.raises(UnsupportedLayerError, match="give the module"):
        regions.load(model().state_dict(), activation="relu")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((0,), ValueError),
        ((2.0,), TypeError),
        ((True,), TypeError),
        ((2, -1.0), ValueError),
        ((2, math.nan), ValueError),
        ((2, math.inf), ValueError),
        ((2, "1"), TypeError),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error, match="num_features|strength"):
        TrajectoryRegularization(*arguments)


def test_wrong_batches_and_modules() -> None:
    for batch in (torch.zeros(2), torch.zeros(3, 3)):
        with pytest.raises(ValueError, match=r"expected a batch \[n, 2, \.\.\]"):
            layer()(batch)
    with pytest.raises(TypeError, match="floating-point numbers, got torch.int64"):
        layer()(torch.zeros(3, 2, dtype=torch.int64))
    with pytest.raises(TypeError, match="torch.nn.Module"):
        trajectory_loss(3)
    with pytest.raises(ValueError, match="no TrajectoryRegularization"):
        trajectory_loss(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="the latest batch has no loss"):
        trajectory_loss(model())
    seen = model()
    seen(torch.zeros(3, 2))
    assert trajectory_loss(seen) is not None
    seen.eval()(torch.zeros(3, 2))
    with pytest.raises(ValueError, match=r"computed in training mode only; call model.train\(\)"):
        trajectory_loss(seen)
