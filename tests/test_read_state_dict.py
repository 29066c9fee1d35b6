# SPDX-License-Identifier: MIT
"""Does a bare state dict become the right network, or else a refusal that says what to do?

The oracle evaluates the modules one after the other, as written in the test, and knows nothing of folding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regions.activations import Activation, parse_activation, prelu
from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    NetworkError,
    NonFiniteError,
    NotACheckpointError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.network import Network
from regions.read import load

EPS = 1e-5


def dense(n_out: int, n_in: int, seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng([n_out, n_in, seed])
    return {"weight": generator.standard_normal((n_out, n_in)), "bias": generator.standard_normal(n_out)}


def norm(n: int, seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng([n, seed, 77])
    return {
        "weight": generator.standard_normal(n),
        "bias": generator.standard_normal(n),
        "running_mean": generator.standard_normal(n),
        "running_var": generator.uniform(0.1, 2.0, n),
        "num_batches_tracked": np.array(5),
    }


def slopes(n: int, seed: int = 0) -> dict[str, Any]:
    return {"weight": np.random.default_rng([n, seed, 78]).uniform(-0.5, 0.5, n)}


def state_dict(modules: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{name}.{key}" if name else key: value
        for name, part in modules.items()
        for key, value in part.items()
    }


def evaluate(steps: list[Any], x: np.ndarray, eps: float = EPS) -> np.ndarray:
    """Apply modules (dicts as above) and activations, in order."""
    for step in steps:
        if isinstance(step, Activation):
            x = step(x)
        elif "running_mean" in step:
            scaled = (x - step["running_mean"]) / np.sqrt(step["running_var"] + eps)
            x = scaled * step.get("weight", 1.0) + step.get("bias", 0.0)
        elif step["weight"].ndim == 1:
            x = np.where(x > 0, x, step["weight"] * x)
        else:
            x = x @ step["weight"].T + step.get("bias", 0.0)
    return x


def check(
    modules: dict[str, dict[str, Any]], order: list[Any], activation: Any = "relu", **options: Any
) -> Network:
    """Load the modules, and compare with evaluating ``order``: names of modules, and activations."""
    net = load(state_dict(modules), activation, **options)
    steps = [modules[step] if isinstance(step, str) else step for step in order]
    x = np.random.default_rng(1).standard_normal((200, net.n_in)) * 2
    expected = evaluate(steps, x, options.get("batch_norm_eps", EPS))
    np.testing.assert_allclose(net(x), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    return net


ACT = parse_activation("relu")


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


def test_plain_copies_are_bit_for_bit_and_have_no_notes() -> None:
    parts = [dense(5, 3), dense(2, 5)]
    net = load(state_dict({"0": parts[0], "2": parts[1]}), "relu")
    assert net == Network([(part["weight"], part["bias"]) for part in parts])
    assert net.notes == ()


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
    assert net.notes == ("no biases stored for 0: taken as zeros",)


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
    assert net.layers[0].activation.name == "prelu"


def test_order_by_number_where_the_stored_order_does_not_chain() -> None:
    modules = {"4": dense(2, 4), "0": dense(5, 3), "2": dense(4, 5)}
    net = check(modules, ["0", ACT, "2", ACT, "4"])
    assert net.notes == (
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


AMBIGUOUS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "no activation named": (
        {"0": dense(4, 3), "2": dense(2, 4)},
        None,
        r"activation='relu'.*0 \[4, 3\], 2 \[2, 4\]",
    ),
    "no chain": ({"0": dense(4, 3), "2": dense(2, 5)}, "relu", r"do not form a chain.*\[2, 5\]"),
    "two heads": ({"body": dense(4, 3), "a": dense(2, 4), "b": dense(1, 4)}, "relu", "do not form a chain"),
    "numbers against stored order": (
        {"2": dense(3, 3), "0": dense(3, 3, 1)},
        "relu",
        "stored as 2, 0, by number 0, 2",
    ),
    "gaps here but not there": (
        {"0": dense(4, 3), "2": dense(4, 4), "3": dense(2, 4)},
        "relu",
        "leave no room",
    ),
    "gaps on both sides of a norm": (
        {"0": dense(4, 3), "2": norm(4), "4": dense(2, 4)},
        "relu",
        "between 0 and 4",
    ),
    "a gap after the norm on the input": (
        {"0": norm(3), "2": dense(4, 3), "4": dense(2, 4)},
        "relu",
        "before the first",
    ),
    "norms before all layers": (
        {"bn1": norm(4), "bn2": norm(4, 1), "fc1": dense(4, 4), "fc2": dense(4, 4, 1), "fc3": dense(2, 4)},
        "relu",
        "before the first",
    ),
    "one norm that fits on both sides": (
        {"bn1": norm(4), "fc1": dense(4, 4), "fc2": dense(2, 4)},
        "relu",
        "before the first",
    ),
    "norms after all layers": (
        {"fc1": dense(4, 3), "fc2": dense(4, 4), "bn1": norm(4)},
        "relu",
        "after the last",
    ),
    "two norms by words": (
        {"fc1": dense(4, 3), "a": norm(4), "b": norm(4, 1), "fc2": dense(2, 4)},
        "relu",
        "between fc1 and fc2",
    ),
    "PReLU not named": ({"0": dense(4, 3), "1": slopes(4), "2": dense(2, 4)}, "relu", "activation='prelu'"),
    "PReLU named but missing": ({"0": dense(4, 3), "2": dense(2, 4)}, "prelu", "no tensor with one axis"),
    "PReLU in one place of two, by number": (
        {"0": dense(4, 3), "1": slopes(4), "2": dense(4, 4), "4": dense(2, 4)},
        "prelu",
        "a PReLU",
    ),
    "two PReLUs in one place": (
        {"0": dense(4, 3), "1": slopes(4), "2": slopes(4), "3": dense(4, 4), "5": dense(2, 4)},
        "prelu",
        "a PReLU",
    ),
}


@pytest.mark.parametrize("case", list(AMBIGUOUS))
def test_ambiguous(case: str) -> None:
    modules, activation, words = AMBIGUOUS[case]
    with pytest.raises(AmbiguousCheckpointError, match=words):
        load(state_dict(modules), activation)


vector = np.ones(4)
UNSUPPORTED: dict[str, tuple[dict[str, Any], str]] = {
    "convolution": (
        {"conv1.weight": np.ones((8, 1, 3, 3))},
        r"conv1.weight has 4 axes.*two-dimensional convolution",
    ),
    "convolution in one dimension": ({"0.weight": np.ones((8, 1, 3))}, "one-dimensional convolution"),
    "layer norm": (
        {"0.weight": np.ones((4, 3)), "1.weight": vector, "1.bias": vector},
        "1.weight and bias .* layer norm",
    ),
    "embedding": ({"token_embedding.weight": np.ones((10, 4))}, "token_embedding.weight .* embedding"),
    "embedding by its short name": ({"transformer.wte.weight": np.ones((10, 4))}, "wte.weight .* embedding"),
    "LSTM": (
        {"rnn.weight_ih_l0": np.ones((4, 3)), "rnn.weight_hh_l0": np.ones((4, 4))},
        "rnn.weight_ih_l0 .* recurrent",
    ),
    "attention": ({"attn.in_proj_weight": np.ones((12, 4))}, "in_proj_weight .* attention"),
    "pruned": ({"0.weight_orig": np.ones((4, 3)), "0.weight_mask": np.ones((4, 3))}, "prune.remove"),
    "weight norm": ({"0.weight_g": np.ones((4, 1)), "0.weight_v": np.ones((4, 3))}, "remove_weight_norm"),
    "parametrization": (
        {"0.bias": vector, "0.parametrizations.weight.original0": np.ones((4, 1))},
        "remove_parametrizations",
    ),
    "unknown parameter": (
        {"0.weight": np.ones((4, 3)), "temperature": np.array(2.0)},
        "temperature .* remove it",
    ),
    "unknown beside a weight": ({"0.weight": np.ones((4, 3)), "0.mask": np.ones((4, 3))}, "0.mask"),
    "bias alone": ({"0.weight": np.ones((4, 3)), "1.bias": vector}, "1.bias has no weight"),
    "unknown beside a norm": (
        {"0.weight": np.ones((4, 3)), "1.running_mean": vector, "1.running_var": vector, "1.x": vector},
        "1.x is not a parameter of a batch norm",
    ),
    "scalar weight": ({"0.weight": np.ones((4, 3)), "1.weight": np.array(1.0)}, "1.weight has 0 axes"),
}


@pytest.mark.parametrize("case", list(UNSUPPORTED))
def test_unsupported(case: str) -> None:
    tensors, words = UNSUPPORTED[case]
    with pytest.raises(UnsupportedLayerError, match=words):
        load(tensors, "relu")


def broken(name: str, change: Any) -> dict[str, Any]:
    return state_dict({"0": dense(4, 3), "1": norm(4), "3": dense(2, 4)}) | {name: change}


@pytest.mark.parametrize(
    ("tensors", "error", "words"),
    [
        (broken("0.weight", np.full((4, 3), np.nan)), NonFiniteError, r"0.weight\[0, 0\] is nan"),
        (broken("0.bias", np.ones(5)), ShapeMismatchError, r"0: weights \[4, 3\] .* biases \[5\]"),
        (broken("0.bias", np.ones(1)), ShapeMismatchError, r"biases \[1\]"),
        (broken("0.bias", np.ones((4, 4))), ShapeMismatchError, r"biases \[4, 4\]"),
        (broken("1.running_mean", np.ones(5)), ShapeMismatchError, "one and the same length"),
        (
            broken("1.running_var", np.full(4, -1.0)),
            NetworkError,
            r"running_var\[0\] \+ eps is -0.99999, not positive",
        ),
        (broken("1.running_var", np.full(4, np.inf)), NonFiniteError, "running_var"),
        (
            broken("1.weight", np.full(4, 1e308)) | {"1.running_var": np.full(4, 1e-4)},
            NonFiniteError,
            "not finite",
        ),
        (
            broken("0.weight", np.full((4, 3), 1e308)) | {"1.weight": np.full(4, 1e4)},
            NonFiniteError,
            "layer 0",
        ),
        (
            {"0.weight": np.ones((4, 3)), "1.running_mean": vector},
            CheckpointError,
            "1.running_var is missing",
        ),
        (
            state_dict({"0": dense(4, 3), "1": norm(5), "3": dense(2, 4)}),
            ShapeMismatchError,
            "batch norm '1' has 5 features",
        ),
        ({}, NotACheckpointError, "no mapping"),
        ({"epoch": 3}, NotACheckpointError, "mapping with epoch"),
        ({"0.weight": [[1.0]]}, NotACheckpointError, "mapping with 0.weight"),
        (
            {"bn.running_mean": np.ones((2, 2)), "bn.running_var": np.ones(2)},
            NotACheckpointError,
            "no dense layer",
        ),
        (
            {"0.weight": np.ones((4, 3)), "x" * 1000 + ".weight": np.ones((3, 4))},
            CheckpointError,
            "1007 characters",
        ),
        (
            {"a": {"0.weight": np.ones((1, 2))}, "b": {"0.weight": np.ones((1, 2))}},
            AmbiguousCheckpointError,
            "at a, b",
        ),
        (
            {"0.weight": np.ones((1, 2)), "b": {"0.weight": np.ones((1, 2))}},
            AmbiguousCheckpointError,
            "at the top level, b",
        ),
    ],
)
def test_broken(tensors: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        load(tensors, "relu")


def test_slopes_for_another_number_of_units() -> None:
    with pytest.raises(ShapeMismatchError, match="slopes for 5 units, the layer has 4"):
        load(state_dict({"0": dense(4, 3), "1": slopes(5), "2": dense(2, 4)}), "prelu")


def test_wrong_number_of_activations() -> None:
    with pytest.raises(NetworkError, match="3 activations for 1 hidden layers"):
        load(state_dict({"0": dense(4, 3), "2": dense(2, 4)}), ["relu"] * 3)


@pytest.mark.parametrize("eps", [-1.0, np.nan, np.inf, "1e-5", None])
def test_eps_that_is_none(eps: Any) -> None:
    with pytest.raises(ValueError, match="batch_norm_eps"):
        load(state_dict({"0": dense(4, 3)}), batch_norm_eps=eps)


@pytest.mark.parametrize("source", [3, None, [(np.ones((1, 2)), np.zeros(1))], b"bytes"])
def test_sources_of_another_type(source: Any) -> None:
    with pytest.raises(TypeError, match="path, a state dict or a torch module"):
        load(source)


def test_missing_file() -> None:
    with pytest.raises(FileNotFoundError):
        load("no_such_file.pt")


def test_prelu_is_not_a_leaky_relu_by_chance() -> None:
    modules, order = PRELUS["by number"]
    assert load(state_dict(modules), "prelu").layers[0].activation == prelu(modules[order[1]]["weight"])
