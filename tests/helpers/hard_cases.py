# SPDX-License-Identifier: MIT
"""How is a hard case for the core stored?

As a JSON file in tests/hard/, with a sentence on why and every number in hexadecimal, so that it is replayed to the
last bit. `fuzz.py` writes one for each failure; `test_hard.py` replays them all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.domains import Domain
from regions.networks.named_activations import Activation
from regions.networks.network import Network

FOLDER = Path(__file__).resolve().parent.parent / "hard"


def write(path: Path, why: str, network: Network, domain: Domain) -> None:
    """Store a network, a domain and a sentence on why they are hard."""
    layers = []
    for layer in network.layers:
        entry: dict[str, Any] = {"weights": _hexadecimal(layer.weights), "biases": _hexadecimal(layer.biases)}
        if layer is not network.layers[-1]:
            tables = ("breakpoints", "slopes", "intercepts")
            entry["activation"] = {name: _hexadecimal(getattr(layer.activation, name)) for name in tables}
            entry["activation"]["name"] = layer.activation.name
        layers.append(entry)
    chart = {name: _hexadecimal(getattr(domain, name)) for name in ("origin", "directions", "generators")}
    path.write_text(json.dumps({"why": why, "layers": layers, "domain": chart}, indent=1) + "\n")


def read(path: Path) -> tuple[Network, Domain]:
    """Return the network and domain of a file."""
    content = json.loads(path.read_text())
    layers = [(_numbers(entry["weights"]), _numbers(entry["biases"])) for entry in content["layers"]]
    activations = []
    for entry in content["layers"][:-1]:
        tables = {name: _numbers(values) for name, values in entry["activation"].items() if name != "name"}
        activations.append(Activation(name=entry["activation"]["name"], **tables))
    domain = {name: _numbers(values) for name, values in content["domain"].items()}
    return Network(layers, activations), Domain(**domain)


def _hexadecimal(array: Any) -> Any:
    """Return one line of text for each row."""
    if array.ndim == 2:
        return [_hexadecimal(row) for row in array]
    return " ".join(number.hex() for number in array.tolist())


def _numbers(text: Any) -> NDArray[np.float64]:
    if isinstance(text, list):
        return np.array([_numbers(row) for row in text])
    return np.array([float.fromhex(number) for number in text.split()], dtype=np.float64)
