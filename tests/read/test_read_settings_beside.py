# SPDX-License-Identifier: MIT
"""Are the settings in ``config.json`` beside a file used, and settings that a chain of layers contradicts noted?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regions.errors import AmbiguousCheckpointError, UnsupportedLayerError
from regions.read import load

LAYERS = {"0.weight": np.eye(2), "0.bias": np.ones(2), "2.weight": np.ones((1, 2)), "2.bias": np.zeros(1)}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    safetensors = pytest.importorskip("safetensors.numpy")
    safetensors.save_file(LAYERS, str(tmp_path / "model.safetensors"))
    return tmp_path / "model.safetensors"


def settings(model: Path, content: Any) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (model.parent / "config.json").write_text(text, encoding="utf-8")


def notes(source: Any, activation: str | None = "relu") -> str:
    return "\n".join(load(source, activation=activation).notes)


def test_a_stated_activation_is_taken(model: Path) -> None:
    settings(model, {"architectures": ["M"], "hidden_act": "leaky_relu"})
    assert "as the file states: leaky_relu (config.json: hidden_act)" in notes(model, None)


@pytest.mark.parametrize("content", [{"hidden_act": "gelu"}, {"text_config": {"hidden_act": "tanh"}}])
def test_another_one_is_refused_unless_the_tensors_are_given_alone(model: Path, content: Any) -> None:
    settings(model, content)
    with pytest.raises(UnsupportedLayerError, match=r"config\.json: .*hidden_act.*load the tensors alone"):
        load(model, activation="relu")
    with open(model, "rb") as file:  # an open file has no folder
        assert "hidden_act" not in notes(file)


def test_a_torch_file(model: Path) -> None:
    torch = pytest.importorskip("torch")
    path = model.parent / "pytorch_model.bin"
    torch.save({name: torch.tensor(array) for name, array in LAYERS.items()}, path)
    settings(model, {"hidden_act": "gelu"})
    with pytest.raises(UnsupportedLayerError, match=r"gelu \(config\.json: hidden_act\)"):
        load(path)


@pytest.mark.parametrize("content", ["{", "[]", " " * 2**21, '{"a": 1, "a": 2}', "[" * 10**5])
def test_settings_that_cannot_be_read(model: Path, content: str) -> None:
    settings(model, content)
    assert "settings that cannot be read (config.json), which is not known here; 'relu' was used" in notes(model)
    with pytest.raises(AmbiguousCheckpointError, match="settings that cannot be read"):
        load(model)


def test_neither_pipes_nor_folders_are_read(model: Path) -> None:
    os.mkfifo(model.parent / "config.json")
    assert "settings that cannot be read" in notes(model)
    (model.parent / "config.json").unlink()
    (model.parent / "config.json").mkdir()
    assert "settings that cannot be read" in notes(model)


def test_a_link_is_followed(model: Path) -> None:
    (model.parent / "blob").write_text('{"hidden_act": "relu"}')
    (model.parent / "config.json").symlink_to("blob")
    assert "as the file states: relu" in notes(model, None)


@pytest.mark.parametrize(
    "content, said",
    [
        ({"use_tanh": True}, "hyper_parameters.use_tanh = True"),
        ({"residual": True}, "without skip connections"),
        ({"model": {"useSkipConnections": True}}, "hyper_parameters.model.useSkipConnections = True"),
        ({"layer_norm": True}, "without such a norm"),
        ({"batch_norm": True}, "without batch norms"),
        ({"normalize_input": True}, "without a normalisation of inputs"),
        ({"policy": {"actor_obs_normalization": True}}, "hyper_parameters.policy.actor_obs_normalization = True"),
        ({"empirical_normalization": True}, "without a normalisation of inputs"),
        ({"use_relu": False}, "read as a chain with relu"),
        ({"squash_output": True, "elu": True}, "without a final squashing function, elu"),
    ],
)
def test_what_a_chain_contradicts_is_noted(content: dict[str, Any], said: str) -> None:
    assert said in notes({"state_dict": LAYERS, "hyper_parameters": content})


@pytest.mark.parametrize(
    "content",
    [{"use_tanh": False, "residual": False, "use_relu": True}, {"bias": True, "exp": True, "normalize_reward": True}],
)
def test_what_it_does_not_contradict_is_not(content: dict[str, Any]) -> None:
    assert "the file states" not in notes({"state_dict": LAYERS, "hyper_parameters": content})


def test_settings_of_another_part_are_not_noted() -> None:
    content = {"actor": LAYERS, "critic": LAYERS, "args": {"critic": {"layer_norm": True}}}
    assert "layer_norm" not in "\n".join(load(content, activation="relu", prefix="actor").notes)
