# SPDX-License-Identifier: MIT
"""Do errors have the messages that docs/troubleshooting.md and docs/loading-errors.md quote?

Each block of text on these pages is the beginning of a message. This file provokes each of them. A block that is not
provoked fails, and so does one that no message begins with. If provoking it is expensive (a missing compiler), the
words are looked up in the file that prints them.
"""

from __future__ import annotations

import pickle
import re
import runpy
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import regions
from hostile_files import saved_as_safetensors
from regions import _core, core, installation
from regions.counting import run
from regions.errors import PrecisionWarning
from regions.ground.arithmetic import thread_settings

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("troubleshooting.md", "loading-errors.md")]
MESSAGES = re.findall(r"^```text\n(.*?)\n```$", "\n".join(PAGES), re.MULTILINE | re.DOTALL)
DIGITS = str(ROOT / "examples" / "digits.pt")

STATE = {"0.weight": np.ones((3, 2)), "2.weight": np.ones((1, 3))}

Provoke = Callable[[pytest.MonkeyPatch], Any]
PROVOKE: dict[str, Provoke] = {}


def says(beginning: str) -> Callable[[Provoke], Provoke]:
    """Return the call that provokes the message with this beginning."""

    def keep(function: Provoke) -> Provoke:
        PROVOKE[beginning] = function
        return function

    return keep


def network() -> regions.Network:
    return regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])


def square() -> regions.Polygon:
    return regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def digits() -> regions.Network:
    return regions.load(DIGITS, activation="relu")


def layer(name: str, *shape: int) -> dict[str, Any]:
    return {f"{name}.weight": np.ones(shape), f"{name}.bias": np.ones(shape[0])}


@says("the compiled core of relu-regions is missing in")
def source_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "__file__", "/home/you/relu-regions/regions/installation.py")
    raise installation.explain_missing_core(ImportError("cannot import name '_core'"))


@says("importing relu-regions failed: the core was compiled")
def another_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "kernel", lambda: "")
    with pytest.raises(ImportError) as refused:
        runpy.run_path(core.__file__)
    raise installation.explain_missing_core(refused.value)


@says("relu-regions and regions are both imported")
def two_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "other_owners", lambda: ["regions"])
    raise installation.explain_missing_core(ImportError("any"))


@says("1 of the installed files")
def files_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "lost_files", lambda: ["regions/__init__.py"])
    raise installation.explain_missing_core(ImportError("any"))


@says("AttributeError: module 'regions'")
def another_module(monkeypatch: pytest.MonkeyPatch) -> None:
    ModuleType("regions").enumerate  # noqa: B018


@says("matplotlib")
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    regions.plot(regions.enumerate(network(), square()))


@says("UnsupportedLayerError: node 'bmm' (aten.bmm.default) multiplies inputs by inputs")
def attention(_: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")

    class Products(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return torch.bmm(x, x)

    regions.load(Products(), input_shape=(1,) * 2)


@says("UnsupportedLayerError: node 'where' (aten.where.self) jumps")
def jump(_: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")

    class Steep(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return torch.where(x > 1, x, 2 * x)

    regions.load(Steep(), input_shape=3)


@says("onnx")
def no_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    regions.load(ROOT / "examples" / "digits.onnx")


@says("networkx")
def no_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    regions.enumerate(network(), square()).to_networkx()


@says("cddlib")
def no_cddlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cdd", None)
    report = regions.certify(regions.enumerate(network(), square()), network())
    raise AssertionError(next(item.finding for item in report.proved if item.name == "inequalities"))


@says("AmbiguousCheckpointError: name the activation")
def no_activation(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.load(DIGITS)


@says("UnsupportedLayerError: activation 'tanh'")
def smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.load(DIGITS, activation="tanh")


@says("UnsupportedLayerError: module 1 is of type Tanh")
def smooth_module(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    regions.load(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)))


@says("AmbiguousCheckpointError: the layers do not form a chain")
def two_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [layer("actor.0", 8, 4), layer("actor.2", 2, 8), layer("critic.0", 8, 4), layer("critic.2", 1, 8)]
    regions.load({name: tensor for part in parts for name, tensor in part.items()}, activation="relu")


@says("UnsupportedLayerError: conv1.weight")
def convolution(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.load({**layer("conv1", 4, 1, 3, 3), **layer("fc", 2, 16)}, activation="relu")


@says("AmbiguousCheckpointError: the module (Net)")
def own_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return torch.relu(x)

    regions.load(Net())


@says("UnsupportedLayerError: this Sequential")
def another_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    regions.load(torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3)), input_shape=(3, 8, 8))


@says("UnsupportedLayerError: norm.weight")
def norm(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.load({**layer("a", 8, 4), **layer("norm", 8), **layer("b", 2, 8)}, activation="relu")


@says("AmbiguousCheckpointError: the module does not compute")
def skip(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch_parts import Residual, torch  # skips without torch

    torch.manual_seed(0)
    regions.load(Residual(), activation="relu")


@says("UnsafePickleError: whole.pt")
def whole_module(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    torch.save(torch.nn.Linear(2, 1), "whole.pt")
    regions.load("whole.pt", activation="relu")


@says("UnsafePickleError: model.pkl")
def bare_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.pkl").write_bytes(pickle.dumps(type))
    regions.load("model.pkl", activation="relu")


@says("NotACheckpointError: script.pt")
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile("script.pt", "w") as archive:
        for name in ("data.pkl", "code/__torch__.py", "constants.pkl", "version"):
            archive.writestr(f"script/{name}", pickle.dumps({}))
    regions.load("script.pt", activation="relu")


@says("TruncatedFileError: cut.pt")
def truncated(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cut.pt").write_bytes(Path(DIGITS).read_bytes()[:10000])
    regions.load("cut.pt", activation="relu")


@says("NotACheckpointError: model.pt")
def something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.pt").write_text("<!DOCTYPE html>\n")
    regions.load("model.pt", activation="relu")


@says("NotACheckpointError: model.tflite")
def another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(100))
    regions.load("model.tflite")


@says("UnsupportedLayerError: activation='relu' was named")
def stated_and_smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.load({"state_dict": STATE, "hyper_parameters": {"activation": "tanh"}}, activation="relu")


@says("AmbiguousCheckpointError: activation='relu' was named")
def stated(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.load({"state_dict": STATE, "hyper_parameters": {"activation": "leaky_relu"}}, activation="relu")


@says("AmbiguousCheckpointError: model-00001-of-00002.safetensors")
def one_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model-00001-of-00002.safetensors").write_bytes(saved_as_safetensors({}))
    regions.load("model-00001-of-00002.safetensors", activation="relu")


@says("NotACheckpointError: pointer.pt")
def pointer(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pointer.pt").write_text("version https://git-lfs.github.com/spec/v1\n")
    regions.load("pointer.pt", activation="relu")


@says("NotACheckpointError: part.npz")
def result_as_model(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.enumerate(network(), square()).save("part.npz")
    regions.load("part.npz")


@says("NonFiniteError")
def not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.Network([([[np.nan]], [0.0]), ([[1.0]], [0.0])])


@says("ShapeMismatchError: the domain")
def another_space(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.count(digits(), square())


@says("ShapeMismatchError: points")
def images_as_points(monkeypatch: pytest.MonkeyPatch) -> None:
    digits()(np.zeros((3, 8, 8)))


@says("ShapeMismatchError: Segment")
def images_as_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.Segment(np.zeros((8, 8)), np.ones((8, 8)))


@says("DomainError: points.csv, line 2")
def labels(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("points.csv").write_text("width,height,label\n0.5,0.25,iris\n")
    regions.load_points("points.csv")


@says("DomainError: points.csv, line 1")
def pandas_header(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("points.csv").write_text("0,1\n0.5,0.25\n")
    regions.load_points("points.csv")


@says("NotConvexError")
def dent(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.Polygon([[0, 0], [1, 1], [0, 2], [2, 1]])


@says("DegenerateDomainError")
def points_on_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.circumsquare([0, 0], [1, 1], [2, 2])


@says("NotCoplanarError")
def four_points_in_space(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.Polygon([[0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]])


@says("DomainError: the point is")
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    line = regions.Segment([0, 0], [1, 0])
    regions.enumerate(network(), line).locate([0, 2.58])


@says("LimitReached")
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    points = regions.load_points(ROOT / "examples" / "points.csv")
    regions.count(digits(), regions.circumsquare(*points), limit=100)


@says("PrecisionWarning")
def too_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, sizes = np.random.default_rng(0), [4, *[16] * 150, 1]
    drawn = [
        (rng.normal(0, np.sqrt(2 / n_in), (n_out, n_in)), rng.normal(0, 0.1, n_out))
        for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True)
    ]
    middle, way = np.random.default_rng(1).normal(size=(2, 4))
    monkeypatch.setattr(run, "CHECKED_AFTER", 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrecisionWarning)
        regions.count(regions.Network(drawn), regions.Segment(middle - way / 2, middle + way / 2))


@says("InexactArithmeticError")
def lost_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_settings, "_HALF", 0.0)
    regions.count(network(), square())


@says("CountNotDecided")
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    three = [([[1, 0], [0, 1], [0, -1]], [0, 0, 0]), ([[1, -1, 1], [1, 0, 0]], [0, 0]), ([[1, -1]], [0])]
    large = regions.Polygon([[-8, -8], [8, -8], [8, 8], [-8, 8]])
    regions.count(regions.Network(three), large, "convex")


@says("DomainError: shapely geometries")
def plane_in_shapely(monkeypatch: pytest.MonkeyPatch) -> None:
    regions.enumerate(network(), regions.Plane([0, 0], [1, 0], [0, 1])).to_shapely()


def test_a_missing_compiler() -> None:
    first = [message for message in MESSAGES if "C++17 compiler" in message]
    assert len(first) == 1
    assert f'"""\n{first[0]}\n' in (ROOT / "setup.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("message", [message for message in MESSAGES if "C++17 compiler" not in message])
def test_the_message_begins_like_that(message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    provoke = [function for beginning, function in PROVOKE.items() if message.startswith(beginning)]
    assert len(provoke) == 1, "no function here provokes it, or several do"
    with pytest.raises(Exception) as caught:
        provoke[0](monkeypatch)
    said = f"{type(caught.value).__name__}: {caught.value}"
    assert said.startswith(message) or str(caught.value).startswith(message), said


def test_each_of_them_stands_on_the_page() -> None:
    assert not [beginning for beginning in PROVOKE if not any(text.startswith(beginning) for text in MESSAGES)]
