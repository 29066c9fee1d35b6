# SPDX-License-Identifier: MIT
"""Do curves grow in random networks according to the laws, and are other laws left out with a reason?"""

from __future__ import annotations

import json
import re
from math import sqrt
from typing import Any

import numpy as np
import pytest

import regions
from regions import Arc, Circle, GreatCircle, Growth, GrowthLaw, Polyline, Segment, bounds, ensembles, growth
from regions.ensembles import Discrete, Ensemble, Gaussian, Uniform
from regions.errors import BeyondDoublesError, ShapeMismatchError
from regions.studies.growth_laws import perpendicular_share

EIGHT = Arc([1] * 8, [1, -1] * 4)


def law(found: Growth, name: str) -> GrowthLaw:
    (one,) = (each for each in found.laws if each.name == name)
    return one


# Sizes with inputs and outputs, and biases: none, narrow ones, or ones as wide as all the rest.
SHAPES = [
    ([2, 1, 1], None),
    ([2, 2, 1], Gaussian(1.0)),
    ([3, 2, 2, 2], None),
    ([2, 4, 4, 4, 1], Uniform(0.1)),
    ([3, 8, 1], Gaussian(3.0)),
    ([2, 8, 8, 2], Discrete([-1.0, 1.0])),
    ([5, 3, 7, 2], Gaussian(0.5)),
    ([2, 16, 2, 16, 1], None),
    ([10, 10, 10, 10, 10, 1], Gaussian(0.01)),
    ([4, 32, 5], Uniform(2.0)),
    ([3, 1, 9, 1, 3], Gaussian(0.2)),
    ([2, 5, 5, 5, 5, 5, 5, 1], Gaussian(0.3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "biases"), SHAPES, ids=[str(sizes) for sizes, _ in SHAPES])
def test_the_relu_law(sizes: list[int], biases: Any) -> None:
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.standard_normal((2, sizes[0]))
    curves = [Segment(x, y), Arc(x, y), Polyline([-x, 0 * x, 2 * x])]
    found = growth(Ensemble(sizes, biases=biases), curves, networks=200, rng=rng)
    (exact,) = (each for each in found.laws if each.kind == "equal")
    assert abs(found.deviations(exact)).max() < 3
    assert np.prod(exact.values[:-1]) == pytest.approx(
        bounds.expected_length_relu_exact(sizes[0], sizes[1:-1], [sqrt(2 / fan) for fan in sizes[:-2]])
    )
    # A law with a wrong width would be noticed.
    errors = [mean.standard_error / value for mean, value in zip(found.estimates("growth"), exact.values, strict=True)]
    assert min(errors) < 0.08


@pytest.mark.parametrize("drawn", [Gaussian(2.0), Uniform(3.0), Discrete(range(-2, 3))])
@pytest.mark.parametrize("biases", [None, Gaussian(0.1)])
def test_price_and_tanner(drawn: Any, biases: Any) -> None:
    found = growth(Ensemble([8, 12, 12, 1], weights=drawn, alpha=0.4, biases=biases), EIGHT, networks=60, rng=1)
    said = law(found, "Price-Tanner")
    factor = {Gaussian: 2 * 0.797884560802865, Uniform: 3 / sqrt(8), Discrete: 6 / 5 / sqrt(2)}[type(drawn)]
    assert said.values[1] == pytest.approx(0.4 * factor / 2) and np.isnan(said.values[2])
    assert (found.deviations(said)[:2] > 0).all()
    assert {each.name for each in found.laws if each.values} == {"Price-Tanner"}


def test_hard_tanh() -> None:
    ensemble = ensembles.raghu2017(8, 64, 4, sigma_w=3.0, sigma_b=0.5)
    found = growth(ensemble, EIGHT, networks=40, rng=2)
    names = ["Raghu Thm 3", "Raghu upper", "wide limit", "Raghu Thm 4"]
    assert [each.name for each in found.laws if each.values] == names
    lower = law(found, "Raghu Thm 3")
    assert lower.values[3] == pytest.approx(bounds.raghu_length_lower(8, [64] * 4, 3.0, 0.5, activation="hard_tanh"))
    assert (found.deviations(lower)[:4] > 3).all()
    assert (found.deviations(law(found, "Raghu upper"))[:4] < -3).all()
    limit = law(found, "wide limit")
    assert found.estimates("growth")[3].value == pytest.approx(limit.values[3], rel=0.05)
    assert law(found, "Raghu Thm 4").values[1] == pytest.approx(bounds.raghu_transitions_lower(8, [64, 64], 3.0, 0.5))


@pytest.mark.slow
def test_transitions_of_nearly_saturated_layers() -> None:
    """Theorem 4 holds, and the exact factor of sign units, k (2 / pi) arctan(1 / sqrt(k - 1)), is reached."""
    for k, exact in ((4, 4 / 3), (16, 2.5738)):
        quarter = Arc([1, 1, 1, 1], [1, -1, 1, -1])
        found = growth(ensembles.raghu2017(4, k, 3, sigma_w=300.0), quarter, networks=300, rng=k)
        second = found.estimates("transitions")[1]
        assert second.value == pytest.approx(exact, rel=0.06)
        assert (found.deviations(law(found, "Raghu Thm 4"))[1:3] > -2).all()
        # Zero biases: on a quarter of a turn half of the units change their sign, and so twice their piece.
        assert found.transitions[..., 0].mean() == pytest.approx(k / 2 * 2, rel=0.05)


def test_perpendicular_parts() -> None:
    assert perpendicular_share(EIGHT) == pytest.approx(1.0, abs=1e-9)
    assert perpendicular_share(Polyline([[1, 1], [3, 3]])) == pytest.approx(0.0, abs=1e-6)
    # From (1, 0) to (1, 1) a part 1 / sqrt(1 + y^2) is perpendicular.
    assert perpendicular_share(Polyline([[1, 0], [1, 1]])) == pytest.approx(np.arcsinh(1.0), abs=1e-6)
    through_zero = Polyline([[-1, 0], [0, 0], [0, 1]])
    assert perpendicular_share(through_zero) == pytest.approx(0.0, abs=1e-3)
    # The bound is for the perpendicular part only, so along a ray it is empty.
    ray = growth(ensembles.raghu2017(8, 4, 2, sigma_w=1.0), Segment([1] * 8, [2] * 8), networks=2, rng=0)
    assert law(ray, "Raghu Thm 3").values[0] == pytest.approx(0.0, abs=1e-6)


REFUSED = [
    (Ensemble([2, 4, 1], alpha=0.5), "ReLU law", "dense"),
    (Ensemble([2, 4, 1], weights=Uniform(1.0)), "ReLU law", "Gaussian weights"),
    (Ensemble([2, 4, 1], "leaky_relu"), "Price-Tanner", "relu, and the layers are leaky_relu"),
    (Ensemble([2, 4, 4, 1], ["relu", "hard_tanh"]), "ReLU law", "hard_tanh, relu"),
    (Ensemble([2, 4, 5, 1]), "Raghu Thm 3", "one width"),
    (Ensemble([2, 4, 4, 1]), "Raghu Thm 3", "one sigma_w"),
    (Ensemble([4, 4, 4, 1], biases=Uniform(1.0)), "Raghu Thm 3", "Gaussian biases"),
    (ensembles.raghu2017(2, 4, 1, sigma_w=1.0), "Raghu Thm 4", "there is only one"),
]


@pytest.mark.parametrize(("ensemble", "name", "reason"), REFUSED)
def test_laws_that_do_not_apply(ensemble: Ensemble, name: str, reason: str) -> None:
    found = growth(ensemble, Segment([-1] * ensemble.n_in, [2] * ensemble.n_in), networks=2, rng=0)
    assert law(found, name).values == () and reason in law(found, name).reason
    assert f"{name}: does not apply, it" in str(found)


def test_samples_are_of_networks() -> None:
    """Two curves, one of which dies: the mean over the other; a network without any length is not a sample."""
    ensemble = Ensemble([1, 1, 1], weights=Discrete([-1, 1]), scaling="none")
    found = growth(ensemble, [Segment([0], [1]), Segment([-1], [3])], networks=64, rng=5)
    first, second = found.estimates("growth")
    assert set(first.samples) == {(1 + 3 / 4) / 2, (0 + 1 / 4) / 2}  # a positive and a negative weight
    assert set(second.samples) == {1.0} and len(second.samples) == 64
    assert found.lengths.shape == (64, 2, 3) and found.transitions.shape == found.pieces.shape == (64, 2, 1)
    one_sided = growth(ensemble, Segment([0], [1]), networks=64, rng=5)
    assert len(one_sided.estimates("growth")[1].samples) == (one_sided.lengths[:, 0, 1] > 0).sum() < 64
    assert one_sided.estimates("transitions") == [None, None]


def test_each_network_is_followed_as_trajectory_does() -> None:
    ensemble, rng = ensembles.hanin_rolnick2019([3, 5, 5, 2]), np.random.default_rng(3)
    curve = Circle([0, 0, 1], [1, 0, 0], [0, 1, 0])
    found = growth(ensemble, curve, networks=3, rng=3)
    for index in range(3):
        path = regions.trajectory(ensemble.draw(rng), curve)
        assert found.lengths[index, 0].tolist() == path.lengths.tolist()
        assert found.transitions[index, 0].tolist() == path.transitions.tolist()
        assert found.pieces[index, 0].tolist() == path.pieces.tolist()
    ratios = {"growth": found.lengths[:, 0, 1:] / found.lengths[:, 0, :-1]}
    ratios["stretching"] = found.lengths[:, 0, 1:] / found.lengths[:, 0, :1]
    ratios["transitions"] = found.transitions[:, 0, 1:] / found.transitions[:, 0, :-1]
    for name, layers in (("growth", [0, 1, 2]), ("stretching", [0, 1, 2]), ("transitions", [1])):
        for column, layer in enumerate(layers):
            estimate = found.estimates(name)[layer]  # type: ignore[arg-type]
            assert estimate is not None and estimate.samples.tolist() == ratios[name][:, column].tolist()


def test_what_was_finished_is_kept() -> None:
    shares = []

    def stop(share: float, pieces: int) -> None:
        shares.append(share)
        if share > 0.55:
            raise KeyboardInterrupt

    ensemble = ensembles.he([4, 8, 1])
    with pytest.raises(KeyboardInterrupt) as stopped:
        growth(ensemble, Segment([0] * 4, [1] * 4), networks=10, rng=0, progress=stop)
    partial = stopped.value.partial
    assert isinstance(partial, Growth) and 2 <= len(partial) < 10
    whole = growth(ensemble, Segment([0] * 4, [1] * 4), networks=10, rng=0)
    assert whole.lengths[: len(partial)].tolist() == partial.lengths.tolist()
    assert shares == sorted(shares)

    def at_once(share: float, pieces: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        growth(ensemble, Segment([0] * 4, [1] * 4), networks=10, rng=0, progress=at_once)
    assert stopped.value.partial is None


def test_words() -> None:
    found = growth(ensembles.raghu2017(2, 4, 2, sigma_w=2.0), Arc([1, 0], [0, 1]), networks=8, rng=0)
    text, html, facts = str(found), found._repr_html_(), json.loads(found.to_json())
    for words in (text, html):
        assert "Raghu Thm 3" in words and "8 networks, 1 curve" in words and "stretching at least" in words
    assert facts["networks"] == 8 and len(facts["mean_low_high"]["growth"]) == 3
    mean, low, high = facts["mean_low_high"]["growth"][0]
    assert low < mean < high
    assert mean == pytest.approx(found.lengths[:, 0, 1].mean() / found.lengths[0, 0, 0])
    assert facts["laws"][2]["values"][2] is None and len(facts["lengths"]) == 8
    assert found.lengths.flags.writeable is False
    beyond = GrowthLaw("too much", "at least", "growth", (100.0, 0.0, 0.0), "", "")
    assert re.fullmatch(
        r"growth at least: violated, means are up to [\d.]+ standard errors below it", found._verdict(beyond)
    )
    assert re.search(r"Raghu upper: growth at most: holds, all means are [\d.]+ standard errors or more below it", text)
    assert re.search(r"wide limit: growth, wide limit: means are 0.[\d]+ to [\d.]+ times the limit", text)


def test_what_is_not_proven_is_marked_and_held_against_nothing() -> None:
    """An arc so short that the lengths of its images are smaller than their errors."""
    found = growth(ensembles.he([2, 8, 8, 1]), GreatCircle([1, 0], [1, 1e-15]), networks=8, rng=0)
    assert found.length_errors.shape == found.lengths.shape
    head, first = (line.split() for line in str(found).splitlines()[2:5:2])
    assert head[0] == "layer" and [word[0] for word in first[1:3]] == ["~", "~"]
    assert "ReLU law: growth, equal: nothing to compare" in str(found)


def test_wrong_arguments() -> None:
    ensemble = ensembles.he([2, 3, 1])
    with pytest.raises(TypeError, match="expected regions.ensembles.Ensemble"):
        growth([2, 3, 1], Segment([0, 0], [1, 1]), networks=2, rng=0)  # type: ignore[arg-type]
    with pytest.raises(ShapeMismatchError, match=r"curve\[1\] lies in R\^3, the networks have 2 inputs"):
        growth(ensemble, [Segment([0, 0], [1, 1]), Segment([0, 0, 0], [1, 1, 1])], networks=2, rng=0)
    with pytest.raises(ShapeMismatchError, match=r"the curve lies in R\^3, the networks have 2 inputs"):
        growth(ensemble, Arc([1, 0, 0], [0, 1, 0]), networks=2, rng=0)
    with pytest.raises(BeyondDoublesError, match="in network 0 the image of a curve is longer than the largest double"):
        growth(Ensemble([2, 4, 4, 1], weights=Gaussian(1e149)), Arc([1, 0], [0, 1]), networks=2, rng=0)
    with pytest.raises(ShapeMismatchError, match="curve is empty"):
        growth(ensemble, [], networks=2, rng=0)
    with pytest.raises(ValueError, match="networks must be at least 2"):
        growth(ensemble, Segment([0, 0], [1, 1]), networks=1, rng=0)


def test_picture() -> None:
    figure = growth(ensembles.he([2, 4, 4, 1]), Arc([1, 0], [0, 1]), networks=4, rng=0).plot()[0].figure
    figure.draw_without_rendering()
    assert [ax.get_title() for ax in figure.axes] == ["layer's length / curve's length", "growth"]
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()][0] == "ReLU law (equal)"


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_the_same_for_any_number_of_workers(workers: int) -> None:
    curves = [Arc([1, 0], [0, 1]), Polyline([[0, 0], [1, 0], [1, 1]])]
    alone = growth(ensembles.he([2, 6, 6, 1]), curves, networks=20, rng=1)
    found = growth(ensembles.he([2, 6, 6, 1]), curves, networks=20, rng=1, workers=workers)
    for name in ("lengths", "transitions", "pieces"):
        assert getattr(found, name).tobytes() == getattr(alone, name).tobytes()
