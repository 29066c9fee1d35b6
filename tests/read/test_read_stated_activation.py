# SPDX-License-Identifier: MIT
"""Is the activation that a checkpoint states taken, and another one refused?"""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import regions
from hostile_files import call, dict_of, name, program, saved_as_safetensors, saved_by_torch, tensor, text, torch_file
from hostile_files import storage as stored
from regions import Activation, Network, load
from regions.errors import (
    AmbiguousCheckpointError,
    NetworkError,
    NotACheckpointError,
    RegionsError,
    UnsupportedLayerError,
)
from regions.read import read_tensors
from regions.read.chains.stated_activation import find_statements

WEIGHTS = {
    "0.weight": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]], dtype="<f4"),
    "0.bias": np.array([0.5, -0.5, 0.25], dtype="<f4"),
    "2.weight": np.array([[1.0, -1.0, 2.0]], dtype="<f4"),
}
WITH_RELU = load(WEIGHTS, "relu")


def checkpoint(**settings: Any) -> dict[str, Any]:
    return {"state_dict": WEIGHTS, "hyper_parameters": settings}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("relu", "relu"),
        ("ReLU", "relu"),
        ("torch.nn.ReLU", "relu"),
        ("<class 'torch.nn.modules.activation.ReLU'>", "relu"),
        ("<function relu at 0x7f44ebdc7a60>", "relu"),
        ("<built-in method relu of type object at 0x7f0>", "relu"),
        ("lrelu", "leaky_relu(0.01)"),
        ("LeakyReLU(negative_slope=0.2)", "leaky_relu(0.2)"),
        ("LeakyReLU(negative_slope=0.2, inplace=True)", "leaky_relu(0.2)"),
        ("hardtanh", "hard_tanh"),
        ("linear", "identity"),
    ],
)
def test_it_is_taken_if_none_is_named(said: str, expected: str) -> None:
    network = load(checkpoint(hidden=3, activation=said))
    assert network == load(WEIGHTS, expected)
    assert any("as the file states" in note and "hyper_parameters.activation" in note for note in network.notes)


@pytest.mark.parametrize(
    "said", ["tanh", "Tanh", "nn.ELU", "gelu", "<class 'torch.nn.modules.activation.SiLU'>", "sine"]
)
def test_smooth_functions_have_no_regions(said: str) -> None:
    for activation in (None, "relu"):
        with pytest.raises(UnsupportedLayerError, match="not piecewise linear, so the network has no linear regions"):
            load(checkpoint(activation=said), activation)


def test_another_one_is_refused_and_the_advice_works(tmp_path: Path) -> None:
    with pytest.raises(AmbiguousCheckpointError, match=r"'abs' was named, but the file states relu .*\['state_dict'\]"):
        load(checkpoint(activation="relu"), "abs")
    assert load(checkpoint(activation="relu")["state_dict"], "abs") == load(WEIGHTS, "abs")
    for activation in ("relu", ["relu"], "ReLU", Activation("relu", [0.0], [0.0, 1.0], [0.0, 0.0])):
        assert load(checkpoint(activation="relu"), activation) == WITH_RELU
    assert load(checkpoint(activation="leaky_relu"), "leaky_relu(0.3)") == load(WEIGHTS, "leaky_relu(0.3)")
    with pytest.raises(AmbiguousCheckpointError, match="but the file states LeakyReLU"):
        load(checkpoint(activation="LeakyReLU(0.2)"), "leaky_relu(0.3)")
    with pytest.raises(NetworkError, match="2 activations for 1 hidden layers"):
        load(checkpoint(activation="relu"), ["relu", "relu"])
    with pytest.raises(UnsupportedLayerError, match="'tanh' is not piecewise linear"):
        load(checkpoint(activation="tanh"), "tanh")


def test_a_function_that_the_caller_built_is_meant() -> None:
    steps = Activation("steps", [-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0])
    network = load(checkpoint(activation="tanh"), steps)
    assert network == load(WEIGHTS, steps)
    assert any("the file states tanh" in note and "was used" in note for note in network.notes)


def test_words_that_are_not_known() -> None:
    network = load(checkpoint(activation="snake"), "relu")
    assert any("states snake (hyper_parameters.activation), which is not known here" in note for note in network.notes)
    with pytest.raises(AmbiguousCheckpointError, match="an activation that is not known here, snake"):
        load(checkpoint(activation="snake"))


@pytest.mark.parametrize(
    "settings",
    [
        {"activation_checkpointing": "full"},
        {"activation": True},
        {"activation": 3},
        {"action": "linear"},
        {"kernel_init": "relu"},
        {"loss": "softmax", "gain": "tanh"},
        {"activation": ["relu", None]},
    ],
)
def test_settings_about_other_things(settings: dict[str, Any]) -> None:
    assert load(checkpoint(**settings), "relu").notes == load({"state_dict": WEIGHTS}, "relu").notes


def test_the_last_layer_is_noted() -> None:
    network = load(checkpoint(activation="relu", output_activation="tanh"))
    assert network == WITH_RELU
    assert any("tanh (hyper_parameters.output_activation) at the end" in note for note in network.notes)
    assert not any("at the end" in note for note in load(checkpoint(output_activation="linear"), "relu").notes)


def test_a_single_layer_is_noted() -> None:
    """The hidden part of a policy alone: whether an activation follows its only layer is not known."""
    network = load({"state_dict": {"0.weight": np.ones((1, 2))}, "hyper_parameters": {"activation": "tanh"}}, "relu")
    words = "the file states tanh (hyper_parameters.activation), and there is no hidden layer: outputs are "
    assert any(note.startswith(words) for note in network.notes)


def test_several_statements() -> None:
    both = {"actor": {"activation": "relu"}, "critic": {"activation": "tanh"}}
    agent = {f"{part}.{key}": value for part in ("actor", "critic") for key, value in WEIGHTS.items()}
    assert load({"cfg": both, "agent": agent}, prefix="actor") == WITH_RELU
    with pytest.raises(UnsupportedLayerError, match=r"tanh \(cfg.critic.activation\)"):
        load({"cfg": both, "agent": agent}, "relu", prefix="critic")
    with pytest.raises(AmbiguousCheckpointError, match="several activations, .*relu.*tanh"):
        load({"cfg": both, "state_dict": WEIGHTS})
    assert load(checkpoint(activations=["relu", "relu"])) == WITH_RELU


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"activation": {"name": "relu"}}, "relu"),
        ({"activation": {"class_name": "LeakyReLU", "config": {"alpha": 0.2, "units": 3}}}, "leaky_relu(0.2)"),
        ({"act_cfg": {"type": "LeakyReLU", "negative_slope": 0.2}}, "leaky_relu(0.2)"),
        ({"activation": {"_target_": "torch.nn.ReLU", "inplace": True}}, "relu"),
        ({"activation": "leaky_relu", "negative_slope": 0.2, "dropout": 0.5}, "leaky_relu(0.2)"),
        ({"activation": "leaky_relu", "leak": 0.25}, "leaky_relu(0.25)"),
        ({"activation": "LeakyReLU", "activation_kwargs": {"negative_slope": 0.125}}, "leaky_relu(0.125)"),
        ({"activation": "leaky_relu", "dropout": 0.5}, "leaky_relu(0.01)"),
        ({"activation": ["leaky_relu", 0.25]}, "leaky_relu(0.25)"),
        ({"activation": ("leaky_relu", {"negative_slope": 0.25})}, "leaky_relu(0.25)"),
        ({"activation": ["leaky_relu", "leaky_relu"]}, "leaky_relu(0.01)"),
        ({"activation": "lrelu", "lrelu_alpha": 0.25}, "leaky_relu(0.25)"),
        ({"activation": "leaky_relu", "activation_param": 0.25}, "leaky_relu(0.25)"),
        ({"activation": "leaky_relu", "negative_slope": "0.25"}, "leaky_relu(0.25)"),
        ({"activation": "leaky_relu", "negative_slope": np.float32(0.25)}, "leaky_relu(0.25)"),
        ({"activation": "LeakyReLU(alpha=.25)"}, "leaky_relu(0.25)"),
        ({"activation": "Hardtanh(max_val=3, min_val=-2)"}, "hard_tanh(-2, 3)"),
        ({"activation": {"name": "leaky_relu", "kwargs": [0.25]}}, "leaky_relu(0.25)"),
        ({"activation": {"leaky_relu": {"negative_slope": 0.25}}}, "leaky_relu(0.25)"),
        (
            {"activation": {"class_path": "torch.nn.LeakyReLU", "init_args": {"negative_slope": 0.25}}},
            "leaky_relu(0.25)",
        ),
        ({"args": "Namespace(activation='leaky_relu', slope=0.25)"}, "leaky_relu(0.25)"),
        ({"activation": "hard_tanh", "min_val": -2, "max_val": 3}, "hard_tanh(-2, 3)"),
        ({"config": json.dumps({"model": {"hidden_act": "leaky_relu", "negative_slope": 0.2}})}, "leaky_relu(0.2)"),
    ],
)
def test_numbers_and_mappings_and_json(settings: dict[str, Any], expected: str) -> None:
    assert load(checkpoint(**settings)) == load(WEIGHTS, expected)
    assert load(checkpoint(**settings), activation=expected) == load(WEIGHTS, expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"activation": {"name": "tanh"}},
        {"activation": {"_target_": "torch.nn.Tanh"}},
        {"activations": ["relu", "tanh"]},
        {"activations": ["tanh", "relu"]},
        {"activation": "leaky_relu", "negative_slope": 0.2},
        {"config": json.dumps({"activation": "gelu"})},
        {"config": json.dumps({"activation": "gelu"}).encode()},
        {"config": "hidden: [8]\nactivation: gelu\n"},
        {"arguments": "--activation gelu --lr 0.1"},
        {"arguments": ["--activation", "gelu"]},
        {"activation": {"class_path": "torch.nn.Tanh"}},
        {"activation": {"hidden": "tanh", "output": "linear"}},
        {"layers": [{"activation": "tanh"}, {"activation": "relu"}]},
        {"nonlin": "tanh"},
        {"non_linearity": "tanh"},
        {"actv": "tanh"},
        {"transfer_function": "tanh"},
        {"config": json.dumps({"inner": json.dumps({"activation": "gelu"})})},
    ],
)
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "identity"])
def test_what_they_contradict(settings: dict[str, Any], activation: str) -> None:
    with pytest.raises(RegionsError, match=r"activation='\w+' was named, but the file states .*\(hyper_parameters"):
        load(checkpoint(**settings), activation=activation)


def test_a_list_with_one_activation_for_each_layer() -> None:
    weights = {f"{i}.weight": np.eye(3) for i in range(3)}
    content = {"state_dict": weights, "args": {"activations": ["relu", "leaky_relu"]}}
    named = ["relu", "leaky_relu(0.2)"]
    assert load(content, activation=named) == load(weights, activation=named)
    for other in ("relu", ["relu", "abs"], ["relu", "identity"]):
        with pytest.raises(AmbiguousCheckpointError, match="the file states relu .*, leaky_relu"):
            load(content, activation=other)


@pytest.mark.parametrize(
    ("settings", "doubt"),
    [
        ({"activation": "leaky_relu", "alpha": 0.25}, "alpha = 0.25"),
        ({"activation": "leaky_relu", "leaky_relu": 0.25}, "leaky_relu = 0.25"),
        ({"activation": "leaky_relu", "negative_slope": "a quarter"}, "negative_slope = a quarter"),
        ({"activation": "leaky_relu", "negative_slope": [0.25, 0.5]}, r"negative_slope = \[0.25, 0.5\]"),
        ({"activation": "leaky_relu", "negative_slope": 10**400}, "negative_slope = 1000"),
        ({"activation": {"name": "leaky_relu", "p": 0.25}}, "p = 0.25"),
        ({"activation": "LeakyReLU(negative_slope=1/4)"}, "negative_slope = 1/4"),
        ({"model": {"activation": "leaky_relu"}, "slope": 0.25}, "slope = 0.25"),
    ],
)
def test_numbers_that_are_not_understood_are_named_by_the_caller(settings: dict[str, Any], doubt: str) -> None:
    with pytest.raises(AmbiguousCheckpointError, match=f"leaky_relu with {doubt}|LeakyReLU with {doubt}"):
        load(checkpoint(**settings))
    with pytest.raises(AmbiguousCheckpointError, match="'relu' was named"):
        load(checkpoint(**settings), "relu")
    network = load(checkpoint(**settings), "leaky_relu(0.25)")
    assert network == load(WEIGHTS, "leaky_relu(0.25)")
    assert any("not clear which numbers" in note and "'leaky_relu(0.25)' was used" in note for note in network.notes)


@pytest.mark.parametrize("settings", [{"activation": "hard_tanh", "min_val": -2}, {"activation": "Hardtanh(-2)"}])
def test_some_of_the_numbers(settings: dict[str, Any]) -> None:
    with pytest.raises(AmbiguousCheckpointError, match="-2 .*not clear which numbers belong to it"):
        load(checkpoint(**settings))


def test_the_default_of_torch_is_not_said_to_be_stated() -> None:
    notes = load(checkpoint(activation="leaky_relu")).notes
    assert any("without numbers; those are torch's defaults, negative_slope = 0.01" in note for note in notes)
    assert not any("default" in note for note in load(checkpoint(activation="LeakyReLU(0.01)")).notes)


@pytest.mark.parametrize("key", ["f", "actor", "best_activation_of_all", "nl"])
def test_a_name_under_another_key_is_noted(key: str) -> None:
    said = f"the file has the words tanh (hyper_parameters.{key})"
    assert any(said in note for note in load(checkpoint(**{key: "tanh"}), "relu").notes)
    assert any(said in note for note in load(checkpoint(**{key: "tanh", "activation": "relu"})).notes)
    assert not any("has the words" in note for note in load(checkpoint(**{key: "relu"}), "relu").notes)


def test_the_printed_module_is_noted() -> None:
    printed = "Sequential(\n  (0): Linear(in_features=2, out_features=3)\n  (1): Tanh()\n)"
    assert any(
        "the words Tanh (hyper_parameters.arch.1)" in note for note in load(checkpoint(arch=printed), "relu").notes
    )


def test_different_parts_are_noted() -> None:
    settings = {"actor": {"activation": "tanh"}, "critic": {"activation": "relu"}}
    network = load(checkpoint(**settings), "relu")
    assert any("several activations, tanh (hyper_parameters.actor.activation), relu" in note for note in network.notes)


def test_the_last_of_the_layers() -> None:
    network = load(checkpoint(layers=[{"activation": "relu"}, {"activation": "softmax"}]))
    assert network == WITH_RELU
    assert any("softmax (hyper_parameters.layers.1.activation) at the end" in note for note in network.notes)


@pytest.mark.parametrize(
    "text", ["a: tanh\n" * 10**5, "a" * 10**6, "--" * 10**5, "'" * 10**5 + ":", "a:[" * 10**5, "a:b(" * 10**5]
)
def test_texts_that_are_long(text: str) -> None:
    assert load(checkpoint(text=text), "relu") == WITH_RELU


def test_slopes_of_several_networks() -> None:
    settings = {"activation": "leaky_relu", "encoder_slope": 0.2, "decoder_slope": 0.3}
    with pytest.raises(AmbiguousCheckpointError, match="encoder_slope = 0.2, decoder_slope = 0.3"):
        load(checkpoint(**settings))
    assert load(checkpoint(**settings), activation="leaky_relu(0.2)") == load(WEIGHTS, "leaky_relu(0.2)")


def test_the_end_of_another_part_is_not_noted() -> None:
    state = {f"{part}.{key}": value for part in ("actor", "critic") for key, value in WEIGHTS.items()}
    content = {"state_dict": state, "args": {"actor_output_activation": "tanh"}}
    assert any(
        "tanh (args.actor_output_activation) at the end" in note for note in load(content, "relu", prefix="actor").notes
    )
    assert not any("at the end" in note for note in load(content, "relu", prefix="critic").notes)


def test_one_layer_needs_none() -> None:
    assert load({"activation": "tanh", "w": {"weight": np.eye(2)}}).n_out == 2


def test_objects_in_memory() -> None:
    torch = pytest.importorskip("torch")
    for value in (torch.nn.Tanh, torch.nn.Tanh(), torch.tanh, torch.nn.functional.elu):
        with pytest.raises(UnsupportedLayerError, match="no linear regions"):
            load(checkpoint(activation_fn=value), "relu")
    assert load(checkpoint(act_layer=torch.nn.LeakyReLU(0.25))) == load(WEIGHTS, "leaky_relu(0.25)")
    assert load(checkpoint(act=torch.nn.ReLU)) == WITH_RELU


def pickled(settings: bytes) -> io.BytesIO:
    weights = dict_of({"0.weight": tensor([2, 2], [2, 1], stored(4)), "2.weight": tensor([2, 2], [2, 1], stored(4))})
    content = program(dict_of({"state_dict": weights, "args": settings}))
    return io.BytesIO(torch_file(content, {"0": np.ones(4, "<f4").tobytes()}))


@pytest.mark.parametrize(
    "settings",
    [
        dict_of({"activation": name("torch.nn.modules.activation", "Tanh")}),
        dict_of({"activation": name("torch.nn.modules.activation", "Tanh") + b")\x81"}),
        name("argparse", "Namespace") + b")\x81" + dict_of({"activation": text("tanh")}) + b"b",
        name("mine", "Settings") + b")\x81(" + text("activation") + text("tanh") + b"u",
        dict_of({"activation": call(name("mine", "Kind"), text("tanh"))}),
        dict_of({"activation": name("omegaconf.nodes", "AnyNode") + b")\x81" + dict_of({"_val": text("elu")}) + b"b"}),
        b"](" + dict_of({"act_fn": call(name("torch.nn.modules.activation", "ELU"))}) + b"e",
    ],
)
def test_classes_and_objects_in_files_are_names(settings: bytes) -> None:
    with pytest.raises(UnsupportedLayerError, match=r"no linear regions.*read_tensors\(.*\['state_dict'\]"):
        load(pickled(settings), "relu")
    alone = read_tensors(pickled(settings))["state_dict"]
    assert repr(load(alone, "relu")) == "Network(2-2-2, relu, 2 hidden neurons)"


def test_the_slope_of_a_pickled_object() -> None:
    kind = name("torch.nn.modules.activation", "LeakyReLU") + b")\x81"
    state = dict_of({"negative_slope": b"G?\xd0\x00\x00\x00\x00\x00\x00", "inplace": b"\x89"})
    assert load(pickled(dict_of({"activation": kind + state + b"b"}))).activations[0].name == "leaky_relu(0.25)"


def test_arrays_of_text_and_metadata(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", **WEIGHTS, activation="tanh")
    with pytest.raises(UnsupportedLayerError, match="the file states tanh .*of which only the tensors"):
        load(tmp_path / "m.npz", "relu")
    np.savez(tmp_path / "m.npz", W0=WEIGHTS["0.weight"], W1=WEIGHTS["2.weight"], activation="relu")
    assert repr(load(tmp_path / "m.npz")) == "Network(2-3-1, relu, 3 hidden neurons)"
    header = saved_as_safetensors(WEIGHTS)
    length = int.from_bytes(header[:8], "little")
    content = json.loads(header[8 : 8 + length]) | {"__metadata__": {"activation": "tanh"}}
    encoded = json.dumps(content).encode()
    (tmp_path / "m.safetensors").write_bytes(len(encoded).to_bytes(8, "little") + encoded + header[8 + length :])
    with pytest.raises(UnsupportedLayerError, match="the file states tanh"):
        load(tmp_path / "m.safetensors", "relu")


def policy(path: Path, settings: Any) -> Path:
    """Write what Stable-Baselines3 writes."""
    weights = {
        "mlp_extractor.policy_net.0.weight": WEIGHTS["0.weight"],
        "action_net.weight": WEIGHTS["2.weight"],
        "value_net.weight": WEIGHTS["2.weight"],
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", settings if isinstance(settings, bytes) else json.dumps(settings))
        archive.writestr("policy.pth", saved_by_torch(weights))
    return path


def settings_of(module: str, kind: str, **given: str) -> dict[str, Any]:
    """Return settings as the library writes them, with a pickle that would fail to open."""
    told = {
        ":type:": "<class 'abc.ABCMeta'>",
        ":serialized:": "!not opened!",
        "__module__": module,
        "__init__": f"<function {kind}.__init__ at 0x7f44ebdc7a60>",
    }
    kwargs = {":type:": "<class 'dict'>", ":serialized:": "!not opened!", **given} if given else {}
    return {"policy_class": told, "policy_kwargs": kwargs, "seed": float("nan")}


ACTOR = ["mlp_extractor.policy_net", "action_net"]
COMMON = "stable_baselines3.common.policies"


class TestPolicies:
    def test_the_default_of_the_class(self, tmp_path: Path) -> None:
        path = policy(tmp_path / "a.zip", settings_of(COMMON, "ActorCriticPolicy"))
        for activation in (None, "relu"):
            with pytest.raises(UnsupportedLayerError, match=r"tanh \(the default of ActorCriticPolicy\), which is not"):
                load(path, activation, prefix=ACTOR)
        assert load(read_tensors(path), "relu", prefix=ACTOR).n_out == 1
        path = policy(tmp_path / "b.zip", settings_of("stable_baselines3.dqn.policies", "DQNPolicy"))
        network = load(path, prefix=ACTOR)
        assert network == Network([(WEIGHTS["0.weight"], None), (WEIGHTS["2.weight"], None)], activation="relu")
        assert "activation relu, as the file states: relu (the default of DQNPolicy)" in network.notes

    def test_the_activation_of_the_settings(self, tmp_path: Path) -> None:
        given = settings_of(COMMON, "ActorCriticPolicy", activation_fn="<class 'torch.nn.modules.activation.ReLU'>")
        path = policy(tmp_path / "a.zip", given)
        assert load(path, prefix=ACTOR) == load(path, "relu", prefix=ACTOR)
        with pytest.raises(AmbiguousCheckpointError, match=r"states ReLU \(policy_kwargs.activation_fn\)"):
            load(path, "abs", prefix=ACTOR)

    def test_the_clipped_mean_of_an_actor(self, tmp_path: Path) -> None:
        kind = {"__module__": "stable_baselines3.sac.policies", "__init__": "<function SACPolicy.__init__ at 0x7f0>"}
        for settings, limit in (({}, 2.0), ({"clip_mean": 3}, 3.0), ({"use_sde": True, "clip_mean": 0.0}, None)):
            data = {"policy_class": kind, "policy_kwargs": settings, "use_sde": True}
            notes = load(policy(tmp_path / "a.zip", data), prefix=ACTOR).notes
            stated = [note for note in notes if "clip_mean of the actor" in note]
            assert len(stated) == (limit is not None)
            assert all(f"here hard_tanh({-limit:.1f}, {limit:.1f})" in note and "at the end" in note for note in stated)

    def test_actors_that_end_with_tanh(self, tmp_path: Path) -> None:
        relu: Any = {"activation_fn": "<class 'torch.nn.modules.activation.ReLU'>"}
        sde = {"use_sde": True}
        for module, more, settings, squashed in (
            ("stable_baselines3.td3.policies", {}, {}, True),
            ("stable_baselines3.sac.policies", {}, {}, True),
            ("stable_baselines3.dqn.policies", {}, {}, False),
            (COMMON, {"squash_output": True}, sde, True),
            (COMMON, {"squash_output": True}, {}, False),  # the library ignores it
            (COMMON, {}, sde, False),
        ):
            path = policy(tmp_path / "a.zip", settings_of(module, "Mine", **relu, **more) | settings)
            said = "the file states tanh (the actor of Mine) at the end, which is not part of this network"
            assert any(said in note for note in load(path, prefix=ACTOR).notes) == squashed
            assert not any(said in note for note in load(path, prefix="value_net").notes)

    def test_classes_of_users(self, tmp_path: Path) -> None:
        path = policy(tmp_path / "a.zip", settings_of("__main__", "Mine"))
        assert any("a class of __main__" in note for note in load(path, "relu", prefix=ACTOR).notes)
        with pytest.raises(AmbiguousCheckpointError, match="name the activation, .*a class of __main__"):
            load(path, prefix=ACTOR)

    def test_one_layer(self, tmp_path: Path) -> None:
        path = policy(tmp_path / "a.zip", settings_of(COMMON, "ActorCriticPolicy"))
        assert load(path, prefix="action_net").n_in == 3

    @pytest.mark.parametrize("settings", [b"\x80\x04 not JSON", b"[]", b'{"a": 1, "a": 2}', b"[" * 100_000])
    def test_damaged_settings(self, tmp_path: Path, settings: bytes) -> None:
        with pytest.raises(NotACheckpointError, match=r"unpack the archive and load policy\.pth"):
            load(policy(tmp_path / "a.zip", settings), "relu", prefix=ACTOR)

    @pytest.mark.parametrize(
        "settings",
        [{}, {"policy_class": 3}, {"policy_class": {"__module__": []}}, {"policy_kwargs": [], "policy_class": {}}],
    )
    def test_settings_that_say_nothing(self, tmp_path: Path, settings: Any) -> None:
        path = policy(tmp_path / "a.zip", settings)
        assert load(path, "relu", prefix=ACTOR).n_in == 2
        with pytest.raises(AmbiguousCheckpointError, match="name the activation"):
            load(path, prefix=ACTOR)


def test_statements_are_found_in_linear_time() -> None:
    shared: Any = {"activation": "relu"}
    for _ in range(50):
        shared = {"a": shared, "b": shared, "c": [shared, shared]}
    assert find_statements(shared) == []  # deeper than settings are
    assert len(find_statements({f"p{i}": {"activation": "relu"} for i in range(10_000)})) == 50
    assert find_statements({"activation": "x" * 10**6})[0].name is None
    assert pickle.dumps(SimpleNamespace(activation="relu"))  # a class that files may name
    assert regions.load(WEIGHTS, "relu") == WITH_RELU
