# SPDX-License-Identifier: MIT
"""Does a user who makes a mistake succeed by following the message?

`tests/data/messages.txt` has a block for each case: what was wrong, the complete message, and the call or command that
follows its advice and succeeds. ``<activations>`` stands for the names of all activations. Lines that begin with
``>>>`` are Python, lines that begin with ``$`` are commands. The file is also the list to read when messages are
reviewed.
"""

from __future__ import annotations

import json
import pickle
import shlex
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from cli_cases import runner
from hostile_files import saved_as_safetensors
from regions.networks.named_activations import NAMES_TO_SHOW
from torch_parts import Residual, torch

pytest.importorskip("onnx")
joblib = pytest.importorskip("joblib")
MLPRegressor = pytest.importorskip("sklearn.neural_network").MLPRegressor
pytest.importorskip("matplotlib")
from onnx_parts import model, node  # noqa: E402

BLOCKS = (Path(__file__).parent.parent / "data" / "messages.txt").read_text(encoding="utf-8").strip().split("\n\n")
EXAMPLES = Path(__file__).parent.parent.parent / "examples"


class Branching(torch.nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Make the files in one folder, and return the names that the calls use."""
    nn, folder = torch.nn, tmp_path_factory.mktemp("messages")
    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3))
    cnn = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3)).eval()
    net, square = regions.load(mlp), regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    torch.save(mlp.state_dict(), folder / "mlp.pt")
    torch.save(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1)).state_dict(), folder / "wide.pt")
    (folder / "folder").mkdir()
    torch.save(mlp.state_dict(), folder / "folder" / "mlp.pt")
    torch.save(cnn.state_dict(), folder / "cnn.pt")
    torch.export.save(torch.export.export(cnn, (torch.zeros(1, 1, 8, 8),)), folder / "cnn.pt2")
    torch.save(nn.ModuleDict({"actor": mlp, "critic": nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1))})
               .state_dict(), folder / "agent.pt")  # fmt: skip
    torch.save(mlp, folder / "whole.pt")
    settings = {"state_dict": mlp.state_dict(), "hyper_parameters": {"activation": "relu"}}
    torch.save(settings, folder / "settings.pt")
    _write_shards(folder, mlp)
    torch.save(torch.optim.Adam(mlp.parameters()).state_dict(), folder / "optimizer.pt")
    torch.save(
        {"0._packed_params.dtype": torch.qint8, "0._packed_params._packed_params": (torch.ones(8, 2), torch.ones(8))},
        folder / "int8.pt",
    )
    estimator = MLPRegressor(hidden_layer_sizes=[4], solver="lbfgs", max_iter=50).fit(np.eye(3), np.ones(3))
    joblib.dump(estimator, folder / "estimator.joblib")
    joblib.dump(estimator, folder / "packed.joblib", compress=3)
    sigmoid = model([node("Sigmoid", ["x"], "h"), node("Relu", ["h"], "y")])
    (folder / "sigmoid.onnx").write_bytes(sigmoid.SerializeToString())
    torch.save(mlp.state_dict() | {"0.weight": mlp[0].weight.detach().to_sparse_bsr((2, 2))}, folder / "sparse.pt")
    (folder / "cut.pt").write_bytes((folder / "mlp.pt").read_bytes()[:900])
    (folder / "mlp.onnx").write_bytes((EXAMPLES / "digits.onnx").read_bytes())
    (folder / "page.pt").write_text("<!DOCTYPE html>\n")
    (folder / "pointer.pt").write_text("version https://git-lfs.github.com/spec/v1\n")
    (folder / "empty.pt").touch()
    (folder / "model.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    _write_zip(folder / "model.keras", "metadata.json", "config.json", "model.weights.h5")
    _write_zip(folder / "script.pt", "script/data.pkl", "script/code/__torch__.py", "script/constants.pkl")
    np.save(folder / "images.npy", np.random.default_rng(0).random((3, 1, 8, 8)))
    regions.enumerate(net, square).save(folder / "result.npz")
    np.savez(folder / "nan.npz", **{"0.weight": [[1.0, np.nan]], "1.weight": [[1.0]]})
    three, cube = regions.Network([(np.eye(3), np.zeros(3)), ([[1, 1, 1]], [0])]), regions.Box([-1] * 3, [1] * 3)
    return {
        **{"np": np, "regions": regions, "torch": torch, "folder": folder, "mlp": mlp, "cnn": cnn, "net": net},
        "square": square,
        "twenty": regions.Network([(np.eye(20), None), (np.ones((1, 20)), None)]),
        "seven": regions.Network([(np.ones((2, 7)), [0.0, 0.5]), ([[1.0, 1.0]], [0.0])]),
        "boxed": regions.enumerate(three, cube),
        "surface": regions.level_set(three, cube, 0.5),
        "transposed": {name: tensor.numpy().T for name, tensor in mlp.state_dict().items()},
        "elu": nn.Sequential(nn.Linear(2, 3), nn.ELU(), nn.Linear(3, 1)),
        "joblib": joblib,
        "residual": Residual(),
        "branching": Branching(),
        "classifier": nn.Sequential(*mlp, nn.Tanh()),
        "keras": {"dense/kernel:0": np.ones((2, 8)), "dense/bias:0": np.ones(8), "out/kernel:0": np.ones((8, 1))},
        "single": regions.load(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))),
        "tanh": nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)),
        "convolution": nn.Sequential(nn.Unflatten(1, (1, 2)), nn.Conv1d(1, 3, 2), nn.ReLU(), nn.Flatten()),
        "normed": nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Linear(3, 1)),
        "embedding": nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 1)),
        "weight_norm": nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)),
        "plain": lambda module: nn.utils.parametrize.remove_parametrizations(module, "weight"),
    }


def _write_shards(folder: Path, mlp: Any) -> None:
    """Write the state dict of a module in two files with an index, and as a distributed checkpoint."""
    from torch.distributed import checkpoint

    state, places = mlp.state_dict(), {}
    for number, name in enumerate(("0", "2"), start=1):
        part = {key: value.numpy() for key, value in state.items() if key.startswith(name)}
        file = f"model-{number:05}-of-00002.safetensors"
        (folder / file).write_bytes(saved_as_safetensors(part))
        places |= dict.fromkeys(part, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is one process only
        checkpoint.save(state, checkpoint_id=folder / "distributed", no_dist=True)


def _write_zip(path: Path, *members: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in members:
            archive.writestr(name, pickle.dumps({}))


def outcome(line: str, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str | None:
    """Run a line of a block; return its message, or None if it succeeded."""
    if line.startswith("$ regions "):
        code, out, err = runner(capsys)(*shlex.split(line)[2:])
        return None if code == 0 else (err or out).strip()
    try:
        eval(line.removeprefix(">>> "), dict(names))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[0][2:] for block in BLOCKS])
def test_the_advice_alone_leads_to_success(
    block: str, names: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(names["folder"])
    monkeypatch.setenv("COLUMNS", "80")
    _, wrong, *message, right = block.splitlines()
    assert outcome(wrong, names, capsys) == "\n".join(message).replace("<activations>", NAMES_TO_SHOW)
    assert outcome(right, names, capsys) is None
