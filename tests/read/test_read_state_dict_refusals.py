# SPDX-License-Identifier: MIT
"""Is an ambiguous state dict refused, with advice?"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    NetworkError,
    NonFiniteError,
    NotACheckpointError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.read import load
from state_dict_parts import dense, norm, slopes, state_dict

AMBIGUOUS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "no activation named": (
        {"0": dense(4, 3), "2": dense(2, 4)},
        None,
        r"activation='relu'.*0 \[4, 3\], 2 \[2, 4\]",
    ),
    "no chain": ({"0": dense(4, 3), "2": dense(2, 5)}, "relu", r"do not form a chain.*there are 0 \(3-4\), 2 \(5-2\)"),
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
    "two norms that fit the input": (
        {"a": norm(3), "b": norm(3, 1), "fc1": dense(4, 3), "fc2": dense(2, 4)},
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
        r"conv1.weight has shape .*two-dimensional convolution",
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
    "half of a pruned layer": ({"0.weight_orig": np.ones((4, 3))}, "pruned in part.*prune.remove"),
    "a mask beside weights": (
        {"0.weight": np.ones((4, 3)), "0.weight_orig": np.ones((4, 3)), "0.weight_mask": np.ones((4, 3))},
        "pruned in part.*prune.remove",
    ),
    "a mask of other numbers": (
        {"0.weight_orig": np.ones((4, 3)), "0.weight_mask": np.full((4, 3), 0.1)},
        "0.weight_mask has numbers other than 0 and 1",
    ),
    "spectral norm": (
        {"0.bias": vector, "0.weight_orig": np.ones((4, 3)), "0.weight_u": vector, "0.weight_v": np.ones(3)},
        r"0.weight_orig belongs to a layer with spectral norm.*torch\.nn\.utils\.remove_spectral_norm",
    ),
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
    "scalar weight": (
        {"0.weight": np.ones((4, 3)), "1.weight": np.array(1.0)},
        r"1.weight has shape \[\]; .* two axes",
    ),
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
        ({"W0": np.array([[1, np.nan]])}, NonFiniteError, r"^W0\[0, 1\] is nan"),
        ({"W0": np.ones((1, 2)), "b0": np.array([-np.inf])}, NonFiniteError, r"^b0\[0\] is -inf"),
        (broken("0.bias", np.ones(5)), ShapeMismatchError, r"0: weights \[4, 3\] .* need biases \[4\], got \[5\]$"),
        (broken("0.bias", np.ones(1)), ShapeMismatchError, r"got \[1\]$"),
        (broken("0.bias", np.ones((4, 4))), ShapeMismatchError, r"got \[4, 4\]$"),
        (broken("0.bias", np.ones(3)), ShapeMismatchError, r"got \[3\]; these fit the transposed weights: pass W.T$"),
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
        ({}, NotACheckpointError, "no weights under their names"),
        ({"epoch": 3}, NotACheckpointError, "mapping with 'epoch'"),
        ({"0.weight": [[1.0]]}, NotACheckpointError, "mapping with '0.weight'"),
        (
            {"bn.running_mean": np.ones((2, 2)), "bn.running_var": np.ones(2)},
            NotACheckpointError,
            "no dense layer",
        ),
        (
            {"0.weight": np.ones((4, 3)), "x" * 1000 + ".weight": np.ones((3, 4))},
            CheckpointError,
            "too long .* 1007 characters",
        ),
        ({"\x1b[2J.weight": np.ones((4, 3))}, CheckpointError, r"not printable: '\\x1b"),
        (
            {"a": {"0.weight": np.ones((1, 2))}, "b": {"0.weight": np.ones((1, 2))}},
            AmbiguousCheckpointError,
            "at 'a', 'b'",
        ),
        (
            {"0.weight": np.ones((1, 2)), "b": {"0.weight": np.ones((1, 2))}},
            AmbiguousCheckpointError,
            "at the top level, 'b'",
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


@pytest.mark.parametrize(
    ("eps", "error"),
    [(-1.0, ValueError), (np.nan, ValueError), (np.inf, ValueError), ("1e-5", TypeError), (None, TypeError)],
)
def test_invalid_eps(eps: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="batch_norm_eps"):
        load(state_dict({"0": dense(4, 3)}), batch_norm_eps=eps)


@pytest.mark.parametrize("source", [3, None, [(np.ones((1, 2)), np.zeros(1))], b"bytes"])
def test_sources_of_another_type(source: Any) -> None:
    with pytest.raises(TypeError, match="path, a state dict or a torch module"):
        load(source)


def test_missing_file() -> None:
    for name in ("no_such_file.pt", "no_such_file"):
        with pytest.raises(FileNotFoundError):
            load(name)


def test_paths_that_are_not_model_files(tmp_path: Path) -> None:
    """A pipe is not opened, because that would wait for its writer."""
    (tmp_path / "folder.pt").mkdir()
    (tmp_path / "model").write_text("these are not weights")
    os.mkfifo(tmp_path / "pipe.pt")
    for name, message in (("folder.pt", "a directory; give"), ("model", "not a model file"), ("pipe.pt", "ordinary")):
        with pytest.raises(NotACheckpointError, match=f"^{re.escape(str(tmp_path / name))}: .*{message}.* .npz"):
            load(tmp_path / name)


def test_a_scale_is_of_a_quantized_layer_only_beside_a_zero_point() -> None:
    net = {"net.0.weight": np.ones((3, 2)), "net.2.weight": np.ones((1, 3))}
    with pytest.raises(UnsupportedLayerError, match="net.scale belongs to a quantized layer"):
        load({**net, "net.scale": np.array(0.5), "net.zero_point": np.array(3)}, "relu")
    with pytest.raises(UnsupportedLayerError, match=r"^scale \(shape \[2\]\) is not a parameter of a dense layer"):
        load({"scale": np.ones(2), **net}, "relu")


@pytest.mark.parametrize(
    ("name", "value", "is_named"),
    [
        ("scale", np.ones(2), True),
        ("norm.shift", np.ones(2), True),
        ("action_scale", np.ones(1), True),
        ("temperature", np.array(0.5), True),
        ("obs_rms.mean", np.ones(2), True),
        ("log_std", np.ones(1), False),
        ("steps", np.array(3), False),
        ("table", np.ones(5), False),
    ],
)
def test_numbers_that_a_prefix_leaves_out_are_named(name: str, value: Any, is_named: bool) -> None:
    state = {"net.0.weight": np.ones((3, 2)), "net.2.weight": np.ones((1, 3)), name: value}
    notes = load(state, "relu", prefix="net").notes
    assert any(f"left out: {name}; if they normalise" in note for note in notes) is is_named
