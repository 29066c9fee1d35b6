# SPDX-License-Identifier: MIT
"""Is the right network read: in the right order, and the right one of several?

Every name and shape here is one that public code has; comments say why a chain in the stored order would be another
function.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from cli_cases import runner
from regions.errors import AmbiguousCheckpointError, CheckpointError, UnsupportedLayerError
from regions.networks.network import Network
from regions.read import load
from regions.read.chains.name_hints import find_contradiction, find_parallel
from state_dict_parts import dense, norm, state_dict


def layers(**shapes: tuple[int, int]) -> dict[str, Any]:
    """Return a state dict of dense layers; ``__`` stands for a dot."""
    return state_dict(
        {name.replace("__", "."): dense(*shape, seed) for seed, (name, shape) in enumerate(shapes.items())}
    )


def pairs(tensors: dict[str, Any], *names: str) -> Network:
    return Network([(tensors[f"{name}.weight"], tensors[f"{name}.bias"]) for name in names])


CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    # Defined out of the order of the calls: in this order they are a 64-2-64-64 network.
    "the output first": (layers(out=(2, 64), h1=(64, 2), h2=(64, 64)), "out stands before h1"),
    "the output first, numbered below": (layers(output__0=(4, 4), body__0=(4, 4)), "output stands before body"),
    # In the order of numbers they do not form a chain, but as h1, h2, out they do.
    "the output first, numbers descending": (layers(out=(4, 2), h2=(2, 4), h1=(4, 2)), "stored as out, h2, h1"),
    "what is in the middle": (layers(encoder=(4, 4), decoder=(4, 4), middle=(4, 4)), "decoder stands before middle"),
    "the output in the middle": (layers(fc1=(4, 4), fc_out=(4, 4), fc2=(4, 4)), "fc_out stands before fc2"),
    "the head first": (layers(head=(4, 4), body=(4, 4)), "head stands before body"),
    "the input last": (layers(hidden=(4, 4), input_layer=(4, 4)), "hidden stands before input_layer"),
    "sorted by name": (layers(hidden=(4, 4), input=(4, 4), output=(4, 4)), "hidden stands before input"),
    "decoder before encoder": (
        layers(decoder__0=(5, 2), decoder__2=(3, 5), encoder__0=(5, 3), encoder__2=(2, 5)),
        "decoder stands before encoder",
    ),
    "numbers in words": (layers(second=(4, 4), first=(4, 4)), "second stands before first"),
    "numbers against the stored order": (layers(fc3=(4, 4), fc1=(4, 4), fc2=(4, 4)), "by number fc1, fc2, fc3"),
    "layer2 before layer1": (layers(layer2=(3, 4), layer1=(4, 3)), "by number layer1, layer2"),
    "inside a model": (layers(model__final=(4, 4), model__fc=(4, 4)), "model.final stands before model.fc"),
}


@pytest.mark.parametrize("case", list(CONTRADICTIONS))
def test_names_that_contradict_the_stored_order(case: str) -> None:
    tensors, words = CONTRADICTIONS[case]
    with pytest.raises(
        AmbiguousCheckpointError, match=f"order of the layers is unclear.*{words}.*mapping in the order"
    ):
        load(tensors, "relu")


PARALLEL: dict[str, tuple[dict[str, Any], str]] = {
    "actor and critic of a square environment": (
        layers(actor__0=(8, 4), actor__2=(4, 8), critic__0=(8, 4), critic__2=(1, 8)),
        r"actor and critic .* there are actor \(4-8-4\), critic \(4-8-1\)",
    ),
    "critic first": (layers(critic__0=(8, 2), critic__2=(2, 8), actor_mean__0=(4, 2)), "actor_mean and critic"),
    "heads of a policy": (layers(fc1=(4, 3), fc_pi=(4, 4), fc_v=(4, 4)), "fc_pi and fc_v"),
    "mean and spread": (layers(fc1=(4, 3), mean_linear=(4, 4), log_std_linear=(4, 4)), "a mean and a spread"),
    "a VAE": (layers(encoder__0=(4, 3), mu=(4, 4), logvar=(4, 4), decoder__0=(3, 4)), "mu and logvar"),
    "dueling": (layers(fc1=(4, 3), V=(4, 4), A=(4, 4)), "an advantage and a value"),
    "a GAN": (layers(generator__0=(6, 2), generator__2=(4, 6), discriminator__0=(1, 4)), "a generator"),
    "a policy and its target": (layers(q_net__0=(4, 4), q_net_target__0=(4, 4)), "a copy"),
    "attention": (layers(wq=(4, 4), wk=(4, 4), wv=(4, 4), wo=(4, 4)), "queries and keys"),
    "a gate": (layers(gate_proj=(4, 4), up_proj=(4, 4), down_proj=(4, 4)), "gate_proj .* beside a chain"),
    "two critics": (layers(l1=(4, 3), q1=(4, 4), q2=(4, 4)), "q1 and q2 are named like two critics"),
    "two critics in a model": (layers(critic__qf0__0=(1, 4), critic__qf1__0=(4, 1)), "critic.qf0 and critic.qf1"),
    "two towers": (layers(user__0=(4, 4), user__2=(4, 4), item__0=(4, 4), item__2=(4, 4)), "user and item look like"),
    "two towers in a model": (
        layers(m__user__0=(4, 4), m__user__2=(4, 4), m__item__0=(4, 4), m__item__2=(4, 4)),
        "m.user and m.item look like",
    ),
    "an adapter": (layers(fc__base=(4, 4), fc__lora_A=(2, 4), fc__lora_B=(4, 2)), "fc.lora_A"),
    "a shortcut": (layers(block__fc1=(4, 4), block__fc2=(4, 4), block__shortcut=(4, 4)), "block.shortcut"),
}


@pytest.mark.parametrize("case", list(PARALLEL))
def test_names_that_do_not_form_a_chain(case: str) -> None:
    tensors, words = PARALLEL[case]
    with pytest.raises(AmbiguousCheckpointError, match=f"not read as one chain: .*{words}"):
        load(tensors, "relu")


# Names of chains in public repositories, in the order of definition, which is the order of calls.
ORDINARY = [
    "fc1 fc2 fc3", "l1 l2 l3", "linear1 linear2 mean", "fc1 fc2 fc_mu", "fc1 fc2 out", "hidden predict", "hidden out",
    "fc1 q", "fc1 action_head", "fc1 state_value", "fc1 fc2 state_value", "affine1 affine2", "fcs1 fc2 fc3 fc4",
    "encoder decoder", "encoder.0 encoder.2 decoder.0 decoder.2", "encoder fc_z decoder_input decoder final_layer",
    "features.0 features.2 classifier", "model output_layer", "network.0 q_func", "in_proj out_proj", "net1 net2",
    "backbone.0 backbone.2 head", "head.0 body.0 body.2 tail.0", "input hidden1 hidden2 output", "projection out",
    "first second third", "stem blocks.0 blocks.1 head", "to_in layers.0 layers.1 to_out", "fc fc_h_v fc_z_v",
    "target", "actor.0 actor.2 actor.4", "q_network.0 q_network.2", "policy_net.l1 policy_net.l2",
]  # fmt: skip


@pytest.mark.parametrize("names", ORDINARY)
def test_ordinary_names_are_read_in_the_stored_order(names: str) -> None:
    each = names.split()
    assert find_contradiction(each) is None and find_parallel(each) is None
    tensors = layers(**{name.replace(".", "__"): (4, 4) for name in each})
    net = load(tensors, "relu")
    assert net == pairs(tensors, *each)
    order = ", ".join(each)
    assert f"read as a chain in this order: {order}. State" in net.notes[0]


def test_the_only_possible_order_is_used_with_a_note() -> None:
    tensors = layers(out=(5, 3), h1=(2, 5))
    net = load(tensors, "relu")
    assert net == pairs(tensors, "out", "h1")
    assert "out stands before h1; that order was kept, since only that one chains" in net.notes


def test_networks_defined_in_any_order_are_never_read_as_another_one() -> None:
    """The order of names determines the function of a network; a loaded network must compute it."""
    rng = np.random.default_rng(0)
    loaded = 0
    for _ in range(400):
        order = str(
            rng.choice(["h1 h2 out", "fc1 fc2 fc3", "input hidden output", "encoder middle decoder", "l1 l2 head"])
        )
        names = order.split()
        widths = rng.choice([2, 4], len(names) + 1)
        shapes = {name: (int(widths[i + 1]), int(widths[i])) for i, name in enumerate(names)}
        defined = [str(name) for name in rng.permutation(names)]
        tensors = layers(**{name: shapes[name] for name in defined})
        try:
            net = load(tensors, "relu")
        except AmbiguousCheckpointError:
            assert defined != names
        else:
            assert net == pairs(tensors, *names), defined
            loaded += defined != names
    assert loaded > 20


def test_a_residual_network_is_read_with_a_warning() -> None:
    """Its names do not show that it has skip connections, so the note always warns."""
    net = load(layers(blocks__0=(4, 4), blocks__1=(4, 4)), "relu")
    assert "State dicts hide skip connections; regions.load(module, input_shape=4) finds them" in net.notes[0]


def test_the_place_between_two_numbered_rows_is_noted() -> None:
    """``encoder.2`` may be followed by an activation, ``encoder.3``, or not, as in most autoencoders."""
    tensors = layers(encoder__0=(5, 4), encoder__2=(2, 5), decoder__0=(5, 2), decoder__2=(4, 5))
    open_place = "whether an activation lies between encoder.2 and decoder.0 cannot be seen"
    assert open_place in load(tensors, "relu").notes
    assert load(tensors, ["relu", "identity", "relu"]).layers[1].activation.name == "identity"
    assert not any("whether" in note for note in load(layers(fc1=(4, 3), fc2=(2, 4)), "relu").notes)


class TestPrefix:
    SHARED = layers(shared__0=(6, 4), shared__2=(5, 6), actor=(2, 5), critic=(1, 5))

    def test_one_network_of_two(self) -> None:
        tensors = layers(actor__0=(8, 4), actor__2=(2, 8), critic__0=(8, 4), critic__2=(1, 8))
        with pytest.raises(AmbiguousCheckpointError, match=r"prefix=.*--prefix.*actor \(4-8-2\), critic \(4-8-1\)"):
            load(tensors, "relu")
        for prefix in ("actor", "actor.", ["actor"], ("actor",)):
            net = load(tensors, "relu", prefix=prefix)
            assert net == pairs(tensors, "actor.0", "actor.2")
            assert "prefix actor: 4 of 8 tensors" in net.notes
        assert load(tensors, "relu", prefix="critic") == pairs(tensors, "critic.0", "critic.2")

    def test_mappings_inside_mappings(self) -> None:
        policy, target = layers(fc1=(3, 2), fc2=(1, 3)), layers(fc2=(2, 2), fc3=(1, 2))
        content = {"policy": policy, "target": target, "step": 3, "optimizer": {"state": {0: {"exp": np.ones((3, 2))}}}}
        with pytest.raises(
            AmbiguousCheckpointError, match=r"at 'policy', 'target'.*policy \(2-3-1\), target \(2-2-1\)"
        ):
            load(content, "relu")
        assert load(content, "relu", prefix="policy") == pairs(policy, "fc1", "fc2")
        assert load(content, "relu", prefix="target") == pairs(target, "fc2", "fc3")
        nested = {"model": {"nets": content}}
        assert load(nested, "relu", prefix="model.nets.target") == pairs(target, "fc2", "fc3")
        with pytest.raises(AmbiguousCheckpointError, match=r"there are model.nets.policy \(2-3-1\), model.nets.target"):
            load(nested, "relu")

    def test_lists_of_networks(self) -> None:
        """An actor and a list of critics: without looking into lists, the actor would be the only one."""
        actor, first, second = (layers(fc1=(3, 2), fc2=(n, 3)) for n in (2, 1, 4))
        content = {"actor": actor, "critics": [first, second], "log": [{"loss": 1.0}]}
        with pytest.raises(
            AmbiguousCheckpointError, match=r"actor \(2-3-2\), critics.0 \(2-3-1\), critics.1 \(2-3-4\)"
        ):
            load(content, "relu")
        assert load(content, "relu", prefix="critics.1") == pairs(second, "fc1", "fc2")

    def test_a_name_is_counted_from_its_mapping_or_from_the_top(self) -> None:
        tensors = layers(model__actor__0=(8, 4), model__actor__2=(2, 8), model__critic__0=(1, 4))
        content = {"state_dict": tensors, "epoch": 3}
        expected = pairs(tensors, "model.actor.0", "model.actor.2")
        assert load(content, "relu", prefix="model.actor") == expected
        assert load(content, "relu", prefix="state_dict.model.actor") == expected
        with pytest.raises(AmbiguousCheckpointError, match=r"there are state_dict.model.actor \(4-8-2\)"):
            load(content, "relu")

    def test_the_top_level_as_one_of_several_networks(self) -> None:
        tensors = layers(fc1=(3, 2), fc2=(1, 3))
        content = {**tensors, "ema": layers(fc1=(3, 2), fc2=(1, 3))}
        assert load(content, "relu", prefix="") == pairs(tensors, "fc1", "fc2")
        assert load(content, "relu", prefix="ema") == pairs(content["ema"], "fc1", "fc2")
        with pytest.raises(AmbiguousCheckpointError, match="'fc1' fits in several mappings"):
            load(content, "relu", prefix="fc1")

    def test_whole_words_only(self) -> None:
        tensors = layers(q__0=(3, 2), q__2=(1, 3), q_target__0=(3, 2), q_target__2=(1, 3))
        assert load(tensors, "relu", prefix="q") == pairs(tensors, "q.0", "q.2")
        with pytest.raises(CheckpointError, match=r"begins with the prefix 'q_t'.*q_target \(2-3-1\)"):
            load(tensors, "relu", prefix="q_t")

    def test_several_are_read_in_the_order_given(self) -> None:
        net = load(self.SHARED, "relu", prefix=["shared", "actor"])
        assert net == pairs(self.SHARED, "shared.0", "shared.2", "actor")
        assert load(self.SHARED, "relu", prefix=["shared", "critic"]).n_out == 1
        with pytest.raises(AmbiguousCheckpointError, match="do not form a chain"):
            load(self.SHARED, "relu", prefix=["actor", "shared"])

    def test_prefixes_decide_an_unclear_order(self) -> None:
        tensors = CONTRADICTIONS["the output first"][0]
        assert load(tensors, "relu", prefix=["h1", "h2", "out"]) == pairs(tensors, "h1", "h2", "out")
        stored = load(tensors, "relu", prefix=["out", "h1", "h2"])  # even against the names
        assert stored == pairs(tensors, "out", "h1", "h2")

    def test_other_entries_do_not_disturb_the_chosen_part(self) -> None:
        tensors = {"conv.weight": np.ones((2, 2, 3, 3)), **layers(head__0=(3, 2), head__2=(1, 3))}
        with pytest.raises(UnsupportedLayerError, match=r"two-dimensional convolution.*head \(2-3-1\)"):
            load(tensors, "relu")
        assert load(tensors, "relu", prefix="head") == pairs(tensors, "head.0", "head.2")

    def test_names_outside_the_chosen_part_are_not_judged(self) -> None:
        net = layers(fc1=(3, 2), fc2=(1, 3))
        content = {"state_dict": net, "bias": True, "R": np.zeros((4, 2))}
        assert load(content, "relu", prefix="state_dict") == load(net, "relu")
        inside = layers(a__0=(3, 2), a__2=(1, 3), b__0=(3, 2)) | {"b.0.bias": [1.0]}
        assert repr(load(inside, "relu", prefix="a")) == "Network(2-3-1, relu, 3 hidden neurons)"
        for prefix in ("b", None):
            with pytest.raises(UnsupportedLayerError, match=r"b\.0\.bias has type list"):
                load(inside, "relu", prefix=prefix)

    @pytest.mark.parametrize("wrapper", ["_orig_mod", "module", "model", "module._orig_mod.model"])
    def test_a_beginning_of_all_names_may_be_left_out(self, wrapper: str) -> None:
        net = layers(actor__0=(3, 2), actor__2=(1, 3), critic__0=(5, 2), critic__2=(1, 5))
        wrapped = {f"{wrapper}.{name}": value for name, value in net.items()} | {"n_averaged": np.array(3)}
        expected = load(net, "relu", prefix="actor")
        for content, prefix in (
            (wrapped, "actor"),
            (wrapped, f"{wrapper}.actor"),
            ({"state_dict": wrapped}, "actor"),
            ({"state_dict": wrapped}, "state_dict.actor"),
            ({"state_dict": wrapped}, f"state_dict.{wrapper}.actor"),
        ):
            assert load(content, "relu", prefix=prefix) == expected
        with pytest.raises(CheckpointError, match="no name of several parts begins with the prefix 'other'"):
            load(wrapped, "relu", prefix="other")

    def test_layers_under_numbers_are_not_skipped(self) -> None:
        layer = layers(a=(3, 2), b=(2, 3))
        hidden, out = ({"weight": layer[f"{name}.weight"], "bias": layer[f"{name}.bias"]} for name in "ab")
        content = {"hidden": {0: hidden}, "out": out}
        with pytest.raises(AmbiguousCheckpointError, match="'hidden.0', 'out'"):
            load(content, "relu")
        assert load(content, "relu", prefix=["hidden.0", "out"]) == pairs(layer, "a", "b")

    def test_keys_that_are_no_words(self) -> None:
        net = layers(fc1=(3, 2), fc2=(1, 3))
        with pytest.raises(UnsupportedLayerError, match=r"<tuple 4> \(shape \[2, 2\]\) is not a parameter"):
            load({**net, (1, 2): np.ones((2, 2))}, "relu")
        assert "arrays beside the weights, left out: 7" in load({**net, 7: np.ones((2, 2))}, "relu").notes

    def test_numbered_pairs_under_a_prefix(self) -> None:
        net = {"actor.W0": np.eye(2), "actor.b0": np.ones(2), "critic.W0": np.eye(3)}
        assert load(net, prefix="actor") == load({"W0": np.eye(2), "b0": np.ones(2)})

    def test_numbered_pairs_in_a_mapping(self) -> None:
        pair = {"W0": np.ones((3, 2)), "b0": np.zeros(3), "W1": np.ones((1, 3))}
        net = load({"a": pair, "b": dict(pair)}, "relu", prefix="b")
        assert net == Network([(pair["W0"], pair["b0"]), (pair["W1"], None)])

    @pytest.mark.parametrize("prefix", [3, b"actor", ["actor", 3], {"actor"}])
    def test_values_that_are_not_prefixes(self, prefix: Any) -> None:
        with pytest.raises(TypeError, match="prefix must be"):
            load(self.SHARED, "relu", prefix=prefix)

    @pytest.mark.parametrize("prefix", [[], ["actor", "actor"]])
    def test_empty_and_repeated_prefixes(self, prefix: list[str]) -> None:
        with pytest.raises(ValueError, match="at least one part, and none twice"):
            load(self.SHARED, "relu", prefix=prefix)

    def test_messages_show_few_of_many_long_names(self) -> None:
        """Each of these names is 450 characters long, and no part of them works."""
        tensors = {f"{'a.' * 20}x{i}{'y' * 400}.weight": np.ones((1, 2)) for i in range(200)}
        with pytest.raises(AmbiguousCheckpointError, match="do not form a chain") as refusal:
            load(tensors, "relu")
        assert len(str(refusal.value)) < 3000


class TestBeside:
    """Tensors that are not weights."""

    def test_arrays_around_the_state_dict_are_noted(self) -> None:
        content = {
            "model": self.NET,
            "mean": np.zeros(2, np.float32),
            "rng": np.zeros(9, np.uint8),
            "best": np.array(0.5),
        }
        deviations = {"a": {"b": self.NET, "pre": {"running_variance": np.ones(2)}}}
        for given, name in ((content, "mean"), (deviations, "a.pre.running_variance")):
            (note,) = [note for note in load(given, "relu").notes if "beside the weights" in note]
            assert note.startswith(f"arrays beside the weights, left out: {name}; if they normalise the inputs")
        optimizer = {"state": {0: {"m": np.ones((2, 2))}}, "param_groups": []}
        assert len(load({"model": self.NET, "optimizer": optimizer}, "relu").notes) == 1
        for beside, name in (
            ({"list": [np.ones((2, 2))] * 200}, "list (a list of 200)"),
            ({"deep": {"a": {"b": {"c": {"d": {"e": {"f": {"w": np.ones((2, 2))}}}}}}}}, "deep.a.b.c.d.e.f.w"),
            ({"shadow": [np.ones((2, 2)), np.ones(2)]}, "shadow.0, shadow.1"),
        ):
            assert f"arrays beside the weights, left out: {name}" in load({"model": self.NET, **beside}, "relu").notes

    NET = layers(fc1=(3, 2), fc2=(1, 3))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_averaged", np.array(7)),
            ("step", np.array(7)),
            ("some.counter", np.array(7)),
            ("flag", np.array(True)),
            ("log_std", np.zeros(2, np.float32)),
            ("log_std_parameter", np.zeros(2, np.float32)),
            ("decay", np.array(0.99)),
            ("num_batches_tracked", np.array(1)),
        ],
    )
    def test_tensors_without_effect_are_left_out_with_a_note(self, name: str, value: Any) -> None:
        net = load({**self.NET, name: value}, "relu")
        assert net == pairs(self.NET, "fc1", "fc2")
        assert f"not part of the function, and left out: {name}" in net.notes

    @pytest.mark.parametrize(
        ("name", "value"), [("temperature", np.array(2.0)), ("obs_mean", np.zeros(2)), ("fc1.scale", np.array(1))]
    )
    def test_tensors_that_may_change_the_values_are_refused(self, name: str, value: Any) -> None:
        with pytest.raises(UnsupportedLayerError, match=name):
            load({**self.NET, name: value}, "relu")

    def test_the_counter_of_a_norm_stays_with_it(self) -> None:
        tensors = state_dict({"0": dense(4, 3), "1": norm(4), "3": dense(2, 4)})
        assert not any("left out" in note for note in load(tensors, "relu").notes)

    def test_arrays_other_than_numbered_pairs_are_noted(self) -> None:
        net = load({"W0": np.ones((1, 2)), "domain": np.zeros(3), "W1": np.ones((1, 1)), "b9x": np.zeros(1)}, "relu")
        assert "arrays beside the weights, left out: domain, b9x" in net.notes
        assert not any("chain" in note for note in net.notes)  # these names determine the order


def test_names_full_of_numbers_are_refused_before_they_take_space() -> None:
    """Stored as lists of parts, all beginnings of such names once took gigabytes."""
    tensors = {f"{'a1' * 200}{i}.weight": np.ones((1, 1)) for i in range(1000)}
    code = (
        "import resource; import numpy as np; from regions.read import load\n"
        "tensors = {'a1' * 200 + f'{i}.weight': np.ones((1, 1)) for i in range(1000)}\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load(tensors, 'relu')\n"
        "except ValueError as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    assert len(tensors) == 1000
    folder = Path(regions.__file__).parent.parent  # for the tested copy: `-c` imports from the current folder
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    message, kibibytes = done.stdout.splitlines()
    assert "too many parts or numbers" in message and int(kibibytes) < 100_000


def test_the_order_of_several_parts_is_noted_once() -> None:
    tensors = layers(out=(2, 8), h1__0=(8, 4), h1__2=(8, 8), h2=(8, 8))
    notes = load(tensors, "relu", prefix=["h1", "h2", "out"]).notes
    assert [note for note in notes if "chain" in note] == [
        "read as a chain in this order: h1.0, h1.2, h2, out. State dicts hide skip connections; "
        "regions.load(module, input_shape=4) finds them"
    ]


@pytest.mark.parametrize(
    "names",
    [
        {"1.weight": (8,), "1.bias": (8,)},  # a layer norm
        {"0.weight_g": (8, 1), "0.weight_v": (8, 4)},
        {"0.parametrizations.weight.original0": (8, 1), "0.parametrizations.weight.original1": (8, 4)},
        {"0.lora_A": (2, 4), "0.lora_B": (8, 2)},
        {"0.lora_A.default.weight": (2, 4), "0.lora_B.default.weight": (8, 2)},
        {"conv.weight": (8, 1, 3, 3)},
    ],
    ids=lambda names: next(iter(names)),
)
def test_parts_are_named_where_they_help(names: dict[str, tuple[int, ...]]) -> None:
    """Single layers around an unsupported one are not a network; a part without it is."""
    wrong = {name: np.ones(shape) for name, shape in names.items()}
    chain = layers(**{"0": (8, 4), "3": (8, 8), "4": (2, 8)})
    if "0.weight_g" in wrong or "original" in next(iter(wrong)):
        del chain["0.weight"]
    with pytest.raises((UnsupportedLayerError, AmbiguousCheckpointError)) as caught:
        load({**chain, **wrong}, "relu")
    assert "prefix" not in str(caught.value)
    both = {f"critic.{name}": value for name, value in {**chain, **wrong}.items()}
    with pytest.raises((UnsupportedLayerError, AmbiguousCheckpointError)) as caught:
        load({**both, **layers(actor__0=(8, 4), actor__2=(2, 8))}, "relu")
    assert str(caught.value).endswith("there are actor (4-8-2)")


def test_prefix_and_notes_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = runner(capsys)
    np.savez("m.npz", **layers(actor__0=(8, 4), actor__2=(2, 8), critic__0=(8, 4), critic__2=(1, 8)))
    model = ("m.npz", "--activation", "relu")
    code, _, err = run("info", *model)
    assert code == 1 and "calls; there are actor (4-8-2), critic (4-8-1)" in err
    note = "read as a chain in this order: actor.0, actor.2. State dicts hide skip connections; "
    note += "regions.load(module, input_shape=4) finds them"
    model = (*model, "--prefix", "actor")
    line = ("--segment", "0,0,0,0", "1,1,1,1")
    for words in (
        ["info"],
        ["count", *line],
        ["enumerate", *line, "-o", "o.npz"],
        ["certify", "o.npz"],
        ["check", *line],
    ):
        code, out, err = run(*words, *model)
        assert code == 0 and out.startswith("Network(4-8-2,") and (out + err).count(f"note: {note}") == 1, words
        facts = json.loads(run(*words, *model, "--json")[1])
        network = facts.get("network")
        assert note in (network if isinstance(network, dict) else facts)["notes"], words
    code, _, err = run("info", *model, "--prefix", "actor")
    assert code == 2 and "none twice" in err
