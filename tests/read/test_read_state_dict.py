# SPDX-License-Identifier: MIT
"""Does a bare state dict become the right network?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regions.errors import AmbiguousCheckpointError, ShapeMismatchError
from regions.networks.named_activations import parse_activation, prelu
from regions.networks.network import Network
from regions.read import load
from state_dict_parts import check, dense, norm, slopes, state_dict

ACT = parse_activation("relu")


def guess(*names: str, n_in: int) -> str:
    """Return the note on the order of the layers."""
    order = ", ".join(names)
    advice = f"regions.load(module, input_shape={n_in}) finds them"
    return f"read as a chain in this order: {order}. State dicts hide skip connections; {advice}"


@pytest.mark.parametrize(
    "names",
    [
        ["0", "2", "4"],
        ["net.0", "net.2", "net.4"],
        ["module.model.layers.0", "module.model.layers.3", "module.model.layers.6"],
        ["0", "1", "2"],
        ["layers.0", "layers.1", "layers.2"],
        ["fc1", "fc2", "fc3"],
        ["input", "hidden", "output"],
        ["layers.0.linear", "layers.1.linear", "head"],
        ["0.0", "1.0", "2"],
        ["z", "y", "x"],
        ["_orig_mod.0", "_orig_mod.2", "_orig_mod.4"],
    ],
)
def test_names(names: list[str]) -> None:
    parts = [dense(5, 3), dense(4, 5), dense(2, 4)]
    modules = dict(zip(names, parts, strict=True))
    net = check(modules, [names[0], ACT, names[1], ACT, names[2]])
    assert repr(net) == "Network(3-5-4-2, relu, 9 hidden neurons)"


def test_plain_copies_are_bit_for_bit_and_only_the_order_is_noted() -> None:
    parts = [dense(5, 3), dense(2, 5)]
    net = load(state_dict({"0": parts[0], "2": parts[1]}), "relu")
    assert net == Network([(part["weight"], part["bias"]) for part in parts])
    assert net.notes == (guess("0", "2", n_in=3),)


def test_pruned_weights_are_multiplied_with_their_masks() -> None:
    first, last = dense(5, 3), dense(2, 5)
    mask = np.arange(15).reshape(5, 3) % 2
    stored = {"0.weight_orig": first["weight"], "0.weight_mask": mask, "0.bias_mask": np.arange(5) > 2}
    stored |= {"0.bias_orig": first["bias"]} | {f"2.{name}": value for name, value in last.items()}
    net = load({f"net.{name}": value for name, value in stored.items()}, "relu", prefix="net")
    assert net == Network([(first["weight"] * mask, first["bias"] * [0, 0, 0, 1, 1]), (last["weight"], last["bias"])])
    assert "pruned weights, read as weight_orig * weight_mask: net.0.weight, net.0.bias" in net.notes
    with pytest.raises(ShapeMismatchError, match=r"0.weight_mask has shape \[5\], but 0.weight_orig has \[5, 3\]"):
        load(stored | {"0.weight_mask": np.ones(5)}, "relu")
    with pytest.raises(AmbiguousCheckpointError, match=r"The layers are 0 \[5, 3\], 2 \[2, 5\]"):
        load(
            {"0.bias": np.zeros(5), "0.weight_orig": first["weight"], "0.weight_mask": mask, "2.weight": last["weight"]}
        )


def test_a_single_layer_needs_no_activation() -> None:
    for name in ("", "0", "net.0"):
        assert repr(load(state_dict({name: dense(2, 3)}))) == "Network(3-2, affine, 0 hidden neurons)"


@pytest.mark.parametrize("activation", ["leaky_relu(0.3)", "hard_tanh(-2, 2)", "relu6", "abs", "identity"])
def test_activations(activation: str) -> None:
    act = parse_activation(activation)
    check({"0": dense(5, 3), "2": dense(4, 5), "4": dense(2, 4)}, ["0", act, "2", act, "4"], activation)


def test_one_activation_for_each_layer() -> None:
    acts = [parse_activation("abs"), parse_activation("relu6")]
    check({"0": dense(5, 3), "2": dense(4, 5), "4": dense(2, 4)}, ["0", acts[0], "2", acts[1], "4"], acts)


def test_missing_biases() -> None:
    parts = {"0": {"weight": dense(5, 3)["weight"]}, "2": dense(2, 5)}
    net = check(parts, ["0", ACT, "2"])
    assert net.notes == (guess("0", "2", n_in=3), "no biases stored for 0: taken as zeros")


PLACES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "before the activation, by number": (
        {"0": dense(4, 3), "1": norm(4), "3": dense(2, 4)},
        ["0", "1", ACT, "3"],
    ),
    "after the activation, by number": (
        {"0": dense(4, 3), "2": norm(4), "3": dense(2, 4)},
        ["0", ACT, "2", "3"],
    ),
    "after activation and dropout": (
        {"0": dense(4, 3), "3": norm(4), "4": dense(2, 4)},
        ["0", ACT, "3", "4"],
    ),
    "before activation and dropout": (
        {"0": dense(4, 3), "1": norm(4), "4": dense(2, 4)},
        ["0", "1", ACT, "4"],
    ),
    "on both sides": (
        {"0": dense(4, 3), "1": norm(4), "3": norm(4, 1), "4": dense(2, 4)},
        ["0", "1", ACT, "3", "4"],
    ),
    "twice before": (
        {"0": dense(4, 3), "1": norm(4), "2": norm(4, 1), "4": dense(2, 4)},
        ["0", "1", "2", ACT, "4"],
    ),
    "twice after": (
        {"0": dense(4, 3), "2": norm(4), "3": norm(4, 1), "4": dense(2, 4)},
        ["0", ACT, "2", "3", "4"],
    ),
    "different in each layer": (
        {"0": dense(4, 3), "1": norm(4), "3": dense(5, 4), "5": norm(5), "6": dense(2, 5)},
        ["0", "1", ACT, "3", ACT, "5", "6"],
    ),
    "on the input": (
        {"0": norm(3), "1": dense(4, 3), "3": dense(2, 4)},
        ["0", "1", ACT, "3"],
    ),
    "twice on the input": (
        {"0": norm(3), "1": norm(3, 1), "2": dense(4, 3), "4": dense(2, 4)},
        ["0", "1", "2", ACT, "4"],
    ),
    "on the output": (
        {"0": dense(4, 3), "2": dense(2, 4), "3": norm(2)},
        ["0", ACT, "2", "3"],
    ),
    "on a square input": (
        {"0": norm(4), "1": dense(4, 4), "3": dense(4, 4)},
        ["0", "1", ACT, "3"],
    ),
    "by words": (
        {"fc1": dense(4, 3), "bn1": norm(4), "fc2": dense(5, 4), "bn2": norm(5), "fc3": dense(2, 5)},
        ["fc1", "bn1", ACT, "fc2", "bn2", ACT, "fc3"],
    ),
    "by words, on the input": (
        {"input_norm": norm(3), "fc1": dense(4, 3), "fc2": dense(2, 4)},
        ["input_norm", "fc1", ACT, "fc2"],
    ),
    "in blocks of words": (
        {
            "b.0.linear": dense(4, 3),
            "b.0.bn": norm(4),
            "b.1.linear": dense(4, 4),
            "b.1.bn": norm(4, 1),
            "o": dense(2, 4),
        },
        ["b.0.linear", "b.0.bn", ACT, "b.1.linear", "b.1.bn", ACT, "o"],
    ),
    "in blocks of numbers": (
        {"0.0": dense(4, 3), "0.1": norm(4), "1.0": dense(4, 4), "1.1": norm(4, 1), "2": dense(2, 4)},
        ["0.0", "0.1", ACT, "1.0", "1.1", ACT, "2"],
    ),
    "first in blocks of numbers": (
        {"0.0": norm(3), "0.1": dense(4, 3), "1.0": norm(4), "1.1": dense(2, 4)},
        ["0.0", "0.1", ACT, "1.0", "1.1"],
    ),
    "numbered through": (
        {"0": dense(4, 3), "1": norm(4), "2": dense(4, 4), "3": norm(4, 1), "4": dense(2, 4)},
        ["0", "1", ACT, "2", "3", ACT, "4"],
    ),
}


@pytest.mark.parametrize("place", list(PLACES))
def test_batch_norm(place: str) -> None:
    modules, order = PLACES[place]
    net = check(modules, order)
    widths = [len(part["weight"]) for part in modules.values() if np.ndim(part["weight"]) == 2]
    assert net.widths == tuple(widths[:-1])
    assert any("folded" in note for note in net.notes)
    assert any("eps=1e-05" in note for note in net.notes)


def test_assumed_places_are_noted() -> None:
    net = check(*PLACES["by words"])
    assert "batch norm bn1 was taken to follow fc1 directly, before the activation" in net.notes
    net = check(*PLACES["numbered through"])
    assert any("numbered without gaps" in note for note in net.notes)
    net = check(*PLACES["before the activation, by number"])
    assert not any("taken to follow" in note or "without gaps" in note for note in net.notes)


def test_batch_norm_without_weights_and_with_another_eps() -> None:
    plain = {key: value for key, value in norm(4).items() if key.startswith("running")}
    modules = {"0": dense(4, 3), "1": plain, "3": dense(2, 4)}
    check(modules, ["0", "1", ACT, "3"])
    check(modules, ["0", "1", ACT, "3"], batch_norm_eps=0.1)
    assert check(modules, ["0", "1", ACT, "3"], batch_norm_eps=0) != load(state_dict(modules), "relu")


def test_folding_by_hand() -> None:
    bn = {"weight": [3.0], "bias": [1.0], "running_mean": [2.0], "running_var": [4.0]}
    modules = {"0": {"weight": [[5.0]], "bias": [7.0]}, "1": bn, "3": {"weight": [[1.0]], "bias": [0.0]}}
    tensors = {name: np.array(value) for name, value in state_dict(modules).items()}
    net = load(tensors, "relu", batch_norm_eps=0.0)
    # (5x + 7 - 2) / 2 * 3 + 1
    assert net.layers[0].weights.tolist() == [[7.5]]
    assert net.layers[0].biases.tolist() == [8.5]


PRELUS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "by number": ({"0": dense(4, 3), "1": slopes(4), "2": dense(2, 4)}, ["0", "1", "2"]),
    "one slope": ({"0": dense(4, 3), "1": slopes(1), "2": dense(2, 4)}, ["0", "1", "2"]),
    "two": (
        {"0": dense(4, 3), "1": slopes(4), "2": dense(5, 4), "3": slopes(1), "4": dense(2, 5)},
        ["0", "1", "2", "3", "4"],
    ),
    "with norms around": (
        {"0": dense(4, 3), "1": norm(4), "2": slopes(4), "3": norm(4, 1), "4": dense(2, 4)},
        ["0", "1", "2", "3", "4"],
    ),
    "by words": ({"fc1": dense(4, 3), "act1": slopes(4), "fc2": dense(2, 4)}, ["fc1", "act1", "fc2"]),
    "at the end": (
        {"0": dense(4, 3), "1": slopes(4), "2": dense(2, 4), "3": slopes(2)},
        ["0", "1", "2", "3"],
    ),
    "shared, stored last": (
        {"fc1": dense(4, 3), "fc2": dense(5, 4), "fc3": dense(2, 5), "act": slopes(1)},
        ["fc1", "act", "fc2", "act", "fc3"],
    ),
    "shared, stored first": (
        {"act": slopes(1), "fc1": dense(4, 3), "fc2": dense(5, 4), "fc3": dense(2, 5)},
        ["fc1", "act", "fc2", "act", "fc3"],
    ),
    "shared, stored in between": (
        {"fc1": dense(4, 3), "act": slopes(1), "fc2": dense(5, 4), "fc3": dense(2, 5)},
        ["fc1", "act", "fc2", "act", "fc3"],
    ),
    "shared, with norms": (
        {
            "fc1": dense(4, 3),
            "bn1": norm(4),
            "fc2": dense(4, 4),
            "bn2": norm(4, 1),
            "fc3": dense(2, 4),
            "act": slopes(1),
        },
        ["fc1", "bn1", "act", "fc2", "bn2", "act", "fc3"],
    ),
}


@pytest.mark.parametrize("case", list(PRELUS))
def test_prelu(case: str) -> None:
    modules, order = PRELUS[case]
    net = check(modules, order, "prelu")
    assert any("only PReLU" in note for note in net.notes) == case.startswith("shared")
    assert net.layers[0].activation.name.startswith("prelu(")


def test_order_by_number_where_the_stored_order_does_not_chain() -> None:
    modules = {"4": dense(2, 4), "0": dense(5, 3), "2": dense(4, 5)}
    net = check(modules, ["0", ACT, "2", ACT, "4"])
    assert net.notes == (
        guess("0", "2", "4", n_in=3),
        "layers reordered by the numbers in their names, since the stored order does not chain",
    )


def test_ten_comes_after_two() -> None:
    names = [f"net.{i}" for i in range(0, 24, 2)]
    modules = {name: dense(4, 4, i) for i, name in enumerate(names)} | {"net.24": dense(3, 4)}
    order = [step for name in names for step in (name, ACT)] + ["net.24"]
    check(dict(sorted(modules.items())), order)


def test_stored_order_kept_where_only_it_chains() -> None:
    net = check({"fc2": dense(5, 3), "fc1": dense(2, 5)}, ["fc2", ACT, "fc1"])
    assert any("only that one chains" in note for note in net.notes)


def test_prelu_is_not_a_leaky_relu_by_chance() -> None:
    modules, order = PRELUS["by number"]
    assert load(state_dict(modules), "prelu").layers[0].activation == prelu(modules[order[1]]["weight"])


def test_normalisers_beside_the_chosen_part_are_noted() -> None:
    layer = {"actor.0.weight": np.ones((4, 3)), "actor.2.weight": np.ones((1, 4))}
    norms = {f"actor_obs_normalizer.{name}": np.ones((1, 3)) for name in ("_mean", "_var", "_std")}
    batch_norm = {f"critic.1.{name}": np.ones(3) for name in ("weight", "bias", "running_mean", "running_var")}
    found = load({"model": layer | norms | batch_norm, "other": {"mean": np.ones(3)}}, "relu", prefix="actor")
    (note,) = [note for note in found.notes if note.startswith("left out: ")]
    assert note.startswith(
        "left out: model.actor_obs_normalizer._mean, model.actor_obs_normalizer._var, model.actor_obs_normalizer._std"
    )
    assert "running" not in note and "normalize=(mean, std), with the std that the program divides by" in note
    wide = {"actor_obs_normalizer._mean": np.ones(5)}
    assert not any("normalise" in note for note in load(layer | wide, "relu", prefix="actor").notes)
