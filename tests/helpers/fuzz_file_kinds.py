# SPDX-License-Identifier: MIT
"""Which sound files does `fuzz_files.py` attack, and what may a damaged one become?

There is one small file of each readable kind. A network counts as silently changed in these cases:

- zip archives (``.npz``, ``.pt2``, torch since 1.6, partitions) have checksums, and store everything else twice: any
change;
- the others (``.safetensors``, torch before 1.6, ``.nnet``, ``.onnx``) do not protect their numbers: another shape,
  number of layers, activation or note, or more numbers changed than bytes were (not asked where numbers are folded
  into others, or written into notes);
- the index of a model in shards is read beside sound shards, with which it must agree;
- points are numbers and no more, and numbers in an ONNX graph may define its connections: no change counts.

This is tested after changes of bits, runs of bytes and lengths in the raw file. After changes that know the format, and
repair checksums, any valid network is accepted.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import regions
from hostile_files import (
    address_torch_file,
    dict_of,
    integer,
    name,
    program,
    safetensors_file,
    saved_as_safetensors,
    saved_before_1_6,
    saved_by_torch,
    storage,
    tensor,
    text,
    torch_file,
    tuple_of,
    zip_file,
)
from regions.errors import NotACheckpointError
from regions.networks.maxima import Maxima

WEIGHTS = {
    "0.weight": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]], dtype="<f4"),
    "0.bias": np.array([0.5, -0.5, 0.25], dtype="<f4"),
    "2.weight": np.array([[1.0, -1.0, 2.0]], dtype="<f4"),
    "2.bias": np.array([0.75], dtype="<f4"),
}
FILES = Path(__file__).parent.parent / "data"
BARE_NNET = b"2\n2, 3, 1\n0\n0\n0\n0\n0\n1 2\n3 -4\n5 6\n1\n-1\n0\n1, 1, 1\n0.5\n"
NNET = (FILES / "sisl_acas.nnet").read_bytes()


class Kind(NamedTuple):
    """A kind of file.

    ``read`` returns a summary: the part that must never change (in an unprotected file), and an array of its numbers.
    """

    content: bytes
    read: Callable[[bytes], tuple[Any, np.ndarray]]
    protected: bool = False  # protected by checksums: nothing may change
    judged: bool = True  # a change of structure is a finding
    counted: bool = True  # no more numbers may change than bytes


def _network(content: bytes) -> tuple[Any, np.ndarray]:
    return _summary(regions.load(io.BytesIO(content), "relu"))


def _network_that_says_all(content: bytes) -> tuple[Any, np.ndarray]:
    return _summary(regions.load(io.BytesIO(content)))


def _network_without_notes(content: bytes) -> tuple[Any, np.ndarray]:
    """Read a file whose notes show numbers and names that damage may change."""
    (shapes, _), numbers = _network(content)
    return shapes, numbers


def _onnx(content: bytes) -> tuple[Any, np.ndarray]:
    network = regions.load(io.BytesIO(content))
    for note in network.notes:
        if note.startswith("no output depends on"):  # a changed name, which notes show
            raise NotACheckpointError(note)
    return _summary(network)


def _summary(network: regions.Network) -> tuple[Any, np.ndarray]:
    arrays = network.graph.stored_arrays()
    every = [node.units for node in network.graph.nodes]
    names = [units.name if isinstance(units, Maxima) else units.activation.name for units in every]
    numbers = {name: array for name, array in arrays.items() if array.dtype == np.float64}
    lists = {name: array.tolist() for name, array in arrays.items() if name not in numbers}
    shapes = [(name, array.shape) for name, array in arrays.items()]
    return ((names, shapes, lists), network.notes), np.concatenate([array.ravel() for array in numbers.values()])


def _partition(content: bytes) -> tuple[Any, np.ndarray]:
    partition = regions.load_partition(io.BytesIO(content))  # type: ignore[arg-type]
    partition.exact_vertices()
    part = (partition.network.fingerprint, partition.domain.fingerprint, partition.stats, partition.complete)
    arrays = (partition.vertices, partition.cell_vertices, partition.packed_patterns, partition.facet_kinks)
    return part, np.concatenate([np.ravel(array).astype(float) for array in arrays])


def _in_folder(name: str, others: dict[str, bytes]) -> Callable[[bytes], tuple[Any, np.ndarray]]:
    """Return a function that reads a file with this name beside other files."""
    folder = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    for other, content in others.items():
        Path(folder.name, other).write_bytes(content)

    def read(content: bytes) -> tuple[Any, np.ndarray]:
        path = Path(folder.name, f"{os.getpid()}-{name}")  # several workers write files
        path.write_bytes(content)
        return _summary(regions.load(path, "relu"))

    return read


def _shared() -> bytes:
    """Return a safetensors file whose third layer is the second one."""
    layer = np.array([[1.0, -1.0, 0.5], [2.0, 0.0, 1.0], [0.0, 3.0, 1.0]], dtype="<f4")
    stored = {"0.weight": WEIGHTS["0.weight"], "2.weight": layer, "6.weight": WEIGHTS["2.weight"]}
    plain = saved_as_safetensors(stored)
    length = int.from_bytes(plain[:8], "little")
    header = json.loads(plain[8 : 8 + length]) | {"__metadata__": {"4.weight": "2.weight"}}
    return safetensors_file(header, plain[8 + length :])


def _index() -> tuple[bytes, dict[str, bytes]]:
    """Return the index of a model in two shards, and the shards."""
    names = list(WEIGHTS)
    shards = {
        "a.safetensors": saved_as_safetensors({name: WEIGHTS[name] for name in names[:2]}),
        "b.bin": saved_by_torch({name: WEIGHTS[name] for name in names[2:]}),
    }
    places = {name: "a.safetensors" if i < 2 else "b.bin" for i, name in enumerate(names)}
    return json.dumps({"metadata": {"total_size": 52}, "weight_map": places}, indent=2).encode(), shards


def _policy() -> bytes:
    """Return the archive that Stable-Baselines3 writes for a policy with ReLU."""
    settings = {
        "policy_class": {"__module__": "stable_baselines3.common.policies", ":serialized:": "gAWV"},
        "policy_kwargs": {"activation_fn": "<class 'torch.nn.modules.activation.ReLU'>", "net_arch": "[3]"},
    }
    return zip_file({"data": json.dumps(settings).encode(), "policy.pth": saved_by_torch(WEIGHTS)})


def _with_settings() -> bytes:
    """Return a torch file with hyper-parameters, lists, tuples and an unknown object around the state dict."""
    weights = dict_of(
        {"0.weight": tensor([3, 2], [2, 1], storage(6)), "2.weight": tensor([1, 3], [3, 1], storage(6), 0)}
    )
    hyper = dict_of({"activation": name("torch.nn.modules.activation", "ReLU"), "hidden": integer(3)})
    space = name("argparse", "Namespace") + b")\x81" + dict_of({"act_fn": text("relu")}) + b"b"
    content = dict_of({"models": tuple_of(weights), "hyper_parameters": hyper, "args": space})
    return torch_file(program(content), {"0": WEIGHTS["0.weight"].tobytes()})


def _points(suffix: str) -> Callable[[bytes], tuple[Any, np.ndarray]]:
    folder = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)

    def read(content: bytes) -> tuple[Any, np.ndarray]:
        path = Path(folder.name, f"{os.getpid()}{suffix}")
        path.write_bytes(content)
        return None, regions.load_points(path)

    return read


def _saved(save: Callable[..., None], *arguments: Any, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *arguments, **arrays)
    return buffer.getvalue()


def _saved_partition() -> bytes:
    network = regions.Network([([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]], [0.5, -0.5, 0.0]), ([[1.0, -1.0, 1.0]], [0.0])])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "part.npz")
        regions.enumerate(network, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])).save(path)
        return path.read_bytes()


@cache
def kinds() -> dict[str, Kind]:
    """Return one sound file of each kind, by name."""
    numbered = dict(zip(("W0", "b0", "W1", "b1"), WEIGHTS.values(), strict=True))
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    return {
        "npz": Kind(_saved(np.savez, **numbered), _network, protected=True),
        "npz deflated": Kind(_saved(np.savez_compressed, **WEIGHTS), _network, protected=True),
        "npz without names": Kind(_saved(np.savez, *WEIGHTS.values()), _network, protected=True),
        "policy": Kind(_policy(), _network, protected=True),
        "torch with settings": Kind(_with_settings(), _network, protected=True),
        "safetensors with shared tensors": Kind(_shared(), _network_without_notes, counted=False),
        "index of shards": Kind(_index()[0], _in_folder("i.json", _index()[1])),
        "nnet with a bare header": Kind(BARE_NNET, _network_without_notes, counted=False),
        "torch": Kind(saved_by_torch(WEIGHTS), _network, protected=True),
        "torch big-endian": Kind(saved_by_torch(WEIGHTS, byte_order="big"), _network, protected=True),
        "torch 1.6": Kind(address_torch_file(WEIGHTS), _network, protected=True),
        "torch before 1.6": Kind(saved_before_1_6(WEIGHTS), _network),
        "safetensors": Kind(saved_as_safetensors(WEIGHTS), _network),
        "nnet": Kind(NNET, _network_without_notes, counted=False),
        "onnx of torch": Kind((FILES / "torch_legacy_plain.onnx").read_bytes(), _onnx, counted=False),
        "onnx of a graph": Kind((FILES / "torch_legacy_graph.onnx").read_bytes(), _onnx, judged=False),
        "onnx of pools": Kind((FILES / "torch_legacy_pools.onnx").read_bytes(), _onnx, judged=False),
        "pt2": Kind((FILES / "torch_exported.pt2").read_bytes(), _network_that_says_all, protected=True),
        "pt2 of pools": Kind((FILES / "torch_exported_pools.pt2").read_bytes(), _network_that_says_all, protected=True),
        "onnx of sklearn": Kind((FILES / "sklearn_regressor.onnx").read_bytes(), _onnx, counted=False),
        "onnx of moves": Kind((FILES / "torch_legacy_moves.onnx").read_bytes(), _onnx, judged=False),
        "pt2 of moves": Kind((FILES / "torch_exported_moves.pt2").read_bytes(), _network_that_says_all, protected=True),
        "partition": Kind(_saved_partition(), _partition, protected=True),
        "points npy": Kind(_saved(np.save, points), _points(".npy"), judged=False),
        "points csv": Kind(b"# x,y\n0,0\n1.5,0\n1e-3,-2.25\n", _points(".csv"), judged=False),
    }
