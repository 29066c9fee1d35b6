# SPDX-License-Identifier: MIT
"""Does the command line call the package correctly, and print the results?

Counts are compared with counts on domains made in Python, so a point that is read wrongly is noticed.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import regions
from cli_cases import SQUARE, A, B, C, Run, model, weights
from regions.cli.commands import regions_group
from regions.domains import Domain, Line, Polygon, Ray, Rectangle, Segment, circumsquare
from regions.results.partition import ARRAYS

pytestmark = pytest.mark.usefixtures("in_folder_with_models")

DOMAINS: list[tuple[list[str], Callable[[], Domain]]] = [
    (["--segment", "0.25,-0.5", "-1.5,0.75"], lambda: Segment(A, B)),
    (["--segment", "-1.5,.75", "+1,125e-2"], lambda: Segment(B, C)),
    (["--segment", "points.csv:0", "points.npy:2"], lambda: Segment(A, C)),
    (["--segment", "points.csv:2", "-1.5,0.75"], lambda: Segment(C, B)),
    (["--segment", "ends.npy"], lambda: Segment(A, B)),
    (["--segment=ends.npy"], lambda: Segment(A, B)),
    (["--line", "points.csv:1", "0,-1"], lambda: Line(B, [0, -1])),
    (["--ray", "points.csv:1", "-1,0.5"], lambda: Ray(B, [-1, 0.5])),
    (["--square", "points.csv"], lambda: circumsquare(A, B, C)),
    (["--square", "points.npy:2", "ends.npy"], lambda: circumsquare(C, A, B)),
    (["--square=0.25,-0.5", "-1.5,0.75", "1,1.25"], lambda: circumsquare(A, B, C)),
    (["--rectangle", "-1,-1", "2,0.5", "0,1"], lambda: Rectangle([-1, -1], [2, 0.5], [0, 1])),
    (["--polygon", "points.csv"], lambda: Polygon([A, B, C])),
    (
        ["--polygon", "-1,-1", "1,-1", "1,1", "0,2", "-1,1"],
        lambda: Polygon([[-1, -1], [1, -1], [1, 1], [0, 2], [-1, 1]]),
    ),
]


@pytest.mark.parametrize(
    ("words", "domain"), DOMAINS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_domains_and_points(run: Run, words: list[str], domain: Callable[[], Domain]) -> None:
    code, out, err = run("count", "model.npz", "--activation", "relu", *words, "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert facts["domain"]["fingerprint"] == domain().fingerprint
    assert facts["regions"] == regions.count(model(), domain()) > 1


def test_count_in_a_box(run: Run) -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.standard_normal((7, 4)), rng.standard_normal(7)), (np.ones((1, 7)), np.zeros(1))]
    names = ("0.weight", "0.bias", "1.weight", "1.bias")
    arrays = dict(zip(names, (array for layer in layers for array in layer), strict=True))
    np.savez("four.npz", **arrays)
    words = ["four.npz", "--activation", "relu", "--box", "-1,-1,0.5,-1", "1,1,0.5,2"]
    code, out, err = run("count", *words, "--json")
    box = regions.Box([-1, -1, 0.5, -1], [1, 1, 0.5, 2])
    facts = json.loads(out)
    assert (code, err) == (0, "") and facts["domain"]["fingerprint"] == box.fingerprint
    assert facts["domain"]["volume"] == 12 and facts["domain"]["kind"] == "box"
    assert facts["regions"] == regions.count(regions.Network(layers), box) > 7
    code, out, _ = run("count", *words)
    assert code == 0 and f"Box(in R^4, 8 corners)\n\nregions   {facts['regions']}" in out
    code, out, err = run("plot", *words, "-o", "box.png")
    assert code == 2 and "--box: 3 coordinates differ, and plot takes one or two" in err


def test_enumerate_in_a_box(run: Run) -> None:
    layers = [(np.array([[1.0, 0, 0], [0, 1, 1]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    names = ("0.weight", "0.bias", "1.weight", "1.bias")
    np.savez("three.npz", **dict(zip(names, (array for layer in layers for array in layer), strict=True)))
    words = ["enumerate", "three.npz", "--activation", "relu", "--box", "-1,-1,-1", "1,1,1"]
    part = regions.enumerate(regions.Network(layers), regions.Box([-1] * 3, [1] * 3))
    code, out, _ = run(*words, "-o", "box.npz")
    assert code == 0 and regions.load_partition("box.npz") == part and len(part) == 4
    assert re.search(r"\nvolume +8\n", out) and re.search(r"largest region +2\n", out)
    facts = json.loads(run(*words, "--checkpoint", "folder", "--json", "-o", "box.npz")[1])
    assert facts["regions"] == 4 and regions.load_partition("box.npz") == part
    assert run(*words, "-o", "box.vtu")[0] == 0 and Path("box.vtu").read_bytes().startswith(b"<?xml")
    assert len(list(csv.DictReader(io.StringIO(run(*words, "-o", "-")[1])))) == 4
    code, _, _ = run(*words, "--limit", "2", "-o", "some.npz")
    assert code == 3 and not regions.load_partition("some.npz").complete
    for suffix, what in (
        (".geojson", "files of .geojson exist in 1 or 2"),
        (".parquet", "files of .parquet and .arrow"),
    ):
        code, _, err = run(*words, "-o", f"no{suffix}")
        assert code == 1 and what in err and "or write .npz or .csv" in err and not Path(f"no{suffix}").exists()
    plane = run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "no.vtu")
    assert (
        plane[0] == 1
        and "files of .vtu exist in 3 dimensions; this domain has 2" in plane[2]
        and not Path("no.vtu").exists()
    )
    code, _, err = run("enumerate", "three.npz", "--activation", "relu", "--box", "0,0,0", "0,0,0", "-o", "out.npz")
    assert code == 1 and "both corners are one point" in err
    for corner in ("1,0,0", "1,2,0"):  # a segment, a rectangle
        assert run("enumerate", "three.npz", "--activation", "relu", "--box", "0,0,0", corner, "-o", "flat.npz")[0] == 0


def test_the_model_may_follow_the_points(run: Run) -> None:
    code, out, _ = run(
        "count", "--segment", "points.csv:0", "points.csv:1", "model.npz", "--activation", "relu", "--json"
    )
    assert code == 0
    assert json.loads(out)["domain"]["fingerprint"] == Segment(A, B).fingerprint


def test_one_input(run: Run) -> None:
    """A point with one coordinate looks like any number, and a negative one like an option."""
    code, out, _ = run("count", "line.npz", "--activation", "relu", "--segment", "-3", "3", "--json")
    network = regions.load("line.npz", activation="relu")
    assert (code, json.loads(out)["regions"]) == (0, regions.count(network, Segment([-3], [3])))


def test_activations(run: Run) -> None:
    for words, meant in (
        (["--activation", "hard_tanh(-2, 2)"], "hard_tanh(-2, 2)"),
        (["--activation", "abs", "--activation", "leaky_relu(0.25)"], ["abs", "leaky_relu(0.25)"]),
    ):
        code, out, _ = run("info", "model.npz", *words, "--json")
        assert (code, json.loads(out)["fingerprint"]) == (0, model(meant).fingerprint)


def test_another_activation_than_that_of_the_file(run: Run) -> None:
    source = Path(__file__).parent.parent / "data" / "sisl_plain.nnet"
    Path("model.nnet").write_bytes(source.read_bytes())
    own = "was named, but the format itself has relu"
    code, _, err = run("info", "model.nnet", "--activation", "abs")
    assert code == 1 and f"Error: --activation abs {own}; leave out --activation" in err
    code, _, err = run("info", "model.npz", "model.nnet", "--activation", "abs")
    assert code == 1 and f"model.nnet: --activation abs {own}; give it a command of its own without" in err


def test_info(run: Run) -> None:
    code, out, _ = run("info", "model.npz", "--activation", "relu")
    assert code == 0
    assert out.startswith("Network(2-12-10-3, relu, 22 hidden neurons)\n")
    rows = [line.split() for line in out.splitlines()[-3:]]
    assert rows == [["1", "2", "12", "relu", "12"], ["2", "12", "10", "relu", "10"], ["output", "10", "3"]]


def test_info_tells_what_was_folded(run: Run) -> None:
    arrays = {"0.weight": np.eye(2), "0.bias": np.zeros(2)}
    arrays |= {f"1.{name}": np.full(2, 0.5) for name in ("weight", "bias", "running_mean", "running_var")}
    arrays |= {"3.weight": np.ones((1, 2)), "3.bias": np.zeros(1)}
    np.savez("norm.npz", **arrays)
    code, out, _ = run("info", "norm.npz", "--activation", "relu")
    assert code == 0
    assert re.search("^note: .*batch norm.*$", out, re.MULTILINE)


def test_count_prints_what_was_understood_and_found(run: Run) -> None:
    code, out, err = run("count", "model.npz", "--activation", "relu", *SQUARE)
    found = regions.count(model(), Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    assert (code, err) == (0, "")
    assert out.startswith("Network(2-12-10-3, relu, 22 hidden neurons)\nPolygon(in R^2, 4 corners, area 4)\n")
    assert re.search(rf"^regions +{found}, proved$", out, re.MULTILINE)
    assert "signs" not in out
    assert re.search(r"^time +[\d.e-]+ m?s, [\d,]+ regions/s$", out, re.MULTILINE)


def test_verbose_says_how_signs_were_proved(run: Run) -> None:
    _, out, _ = run("count", "model.npz", "--activation", "relu", *SQUARE, "--verbose")
    assert re.search(r"^signs proved +[\d,]+ by error bound, [\d,]+ exactly; [\d,]+ are zero$", out, re.MULTILINE)
    assert run("decisions", "model.npz", "--activation", "relu", *SQUARE, "--verbose")[0] == 2  # it prints no signs


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Set the standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input_is_a_model(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    named = run("count", "model.npz", "--activation", "relu", *SQUARE, "--json")
    piped(monkeypatch, Path("model.npz").read_bytes())
    facts = [json.loads(out) for _, out, _ in (named, run("count", "-", "--activation", "relu", *SQUARE, "--json"))]
    assert facts[0]["regions"] == facts[1]["regions"] and facts[0]["network"] == facts[1]["network"]
    piped(monkeypatch, b"<html>")
    assert run("info", "-")[2].startswith("Error: standard input: not a model file")


def test_standard_input_is_points(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("count", "model.npz", "model.npz", "--activation", "relu", "--json", "--segment")
    _, named, _ = run(*words, "points.csv:0:2")
    piped(monkeypatch, b"0,0\n" + Path("points.csv").read_bytes())
    code, out, _ = run(*words, "-:1:3")
    assert code == 0
    assert [json.loads(line)["domain"] for line in out.splitlines()] == [
        json.loads(named.splitlines()[0])["domain"]
    ] * 2


def test_standard_input_is_one_thing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, Path("model.npz").read_bytes())
    code, _, err = run("count", "-", "--activation", "relu", "--segment", "-")
    assert code == 2 and "- stands for a MODEL and points; standard input can be read once" in err


def test_standard_output_is_a_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o")
    assert run(*words, "out.csv")[0] == 0
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    code, _, err = run(*words, "-")
    assert code == 0 and "regions" in err and "wrote" not in err
    assert written.getvalue() == Path("out.csv").read_bytes()


def test_several_models(run: Run) -> None:
    weights = dict(np.load("model.npz"))
    np.savez("other.npz", **{**weights, "b0": weights["b0"] + 1})
    alone = [run("count", name, "--activation", "relu", *SQUARE, "--json")[1] for name in ("model.npz", "other.npz")]
    code, out, _ = run("count", "model.npz", "other.npz", "--activation", "relu", *SQUARE, "--json")
    numbers = [json.loads(line)["regions"] for line in out.splitlines()]
    assert code == 0 and numbers == [json.loads(line)["regions"] for line in alone] and numbers[0] != numbers[1]
    assert [json.loads(line)["file"] for line in out.splitlines()] == ["model.npz", "other.npz"]
    assert "file" not in json.loads(alone[0])
    np.savez("odd.npz", w0=np.ones((2, 3)), b0=np.ones(2), w1=np.ones((1, 2)), b1=np.ones(1))
    code, out, err = run("count", "model.npz", "other.npz", "odd.npz", "model.npz", "--activation", "relu", *SQUARE)
    rows = [line.split() for line in out.splitlines() if line.startswith((" model.npz", " other.npz"))]
    assert code == 1 and err.startswith("Error: odd.npz: ") and [row[0] for row in rows] == ["model.npz", "other.npz"]
    assert [int(row[3].replace(",", "")) for row in rows] == numbers and out.count("Polygon(") == 1
    assert run("info", "model.npz", "other.npz", "--activation", "relu")[1].count("note: read from ") == 2
    for command in ("count", "watch"):  # missing files are refused before the work
        code, out, err = run(command, "model.npz", "none.npz", "--activation", "relu", *SQUARE)
        assert (code, out, err) == (1, "", "Error: none.npz: No such file or directory\n")


def test_watch(run: Run) -> None:
    weights = dict(np.load("model.npz"))
    np.savez("other.npz", **{**weights, "b0": weights["b0"] + 1})
    words = ["watch", "model.npz", "other.npz", "--activation", "relu", *SQUARE]
    code, out, _ = run(*words, "-o", "out.csv")
    assert code == 0 and out.endswith("wrote out.csv\n") and "\ntime " in out
    rows = list(csv.DictReader(Path("out.csv").read_text().splitlines()))
    domain = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    assert float(rows[0]["regions"]) == regions.count(model(), domain) and len(rows) == 2
    assert float(rows[0]["dead"]) + float(rows[0]["on"]) + float(rows[0]["switching"]) == model().hidden
    facts = json.loads(run(*words, "--json")[1])
    assert facts["rows"]["file"] == ["model.npz", "other.npz"] and facts["rows"]["step"] == [0, 1]
    as_box = ["watch", "model.npz", "--activation", "relu", "--box", "-1,-1", "1,1"]
    facts = json.loads(run(*as_box, "--twins", "3", "--json")[1])["rows"]
    twins = regions.sign_twins(model(), domain, 3)
    assert facts["regions"] == [regions.count(model(), domain)] and facts["twin_regions"] == [twins.mean]
    code, out, _ = run(*as_box, "--twins", "3")
    assert code == 0 and f"{twins.mean:.3g} +- {twins.spread:.2g}" in out
    np.savez("odd.npz", w0=np.ones((2, 3)), b0=np.ones(2), w1=np.ones((1, 2)), b1=np.ones(1))
    code, out, err = run("watch", "model.npz", "odd.npz", "--activation", "relu", *SQUARE)
    assert code == 1 and err.startswith("Error: odd.npz: ") and " model.npz" in out


def test_names_of_files_are_whole_in_narrow_tables(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of checkpoints often differ at their ends only."""
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"{'a' * 50}_{number}.npz" for number in range(2)]
    for name in names:
        Path(name).write_bytes(Path("model.npz").read_bytes())
    for command in ("count", "watch"):
        _, out, _ = run(command, *names, "--activation", "relu", *SQUARE)
        joined = "".join(line.split()[0] for line in out.splitlines() if line.startswith(" "))
        assert all(name in joined for name in names) and "…" not in out
    monkeypatch.delenv("COLUMNS", raising=False)
    for command in ("count", "watch"):  # no terminal
        _, out, _ = run(command, *names, "--activation", "relu", *SQUARE)
        assert all(any(line.split()[:1] == [name] for line in out.splitlines()) for name in names)


def test_enumerate_npz(run: Run) -> None:
    code, out, _ = run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.npz")
    loaded = regions.load_partition("out.npz")
    expected = regions.enumerate(model(), Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    assert (code, out.splitlines()[-1]) == (0, "wrote out.npz")
    assert (loaded.network, loaded.domain) == (expected.network, expected.domain)
    for name in ARRAYS:
        assert np.array_equal(getattr(loaded, name), getattr(expected, name))


def test_enumerate_table_and_json_say_the_same(run: Run) -> None:
    words = ["enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.npz"]
    _, table, _ = run(*words)
    code, out, _ = run(*words, "--json")
    facts, partition = json.loads(out), regions.load_partition("out.npz")
    assert code == 0
    assert facts["end"] == "complete"
    assert facts["regions"] == len(partition)
    assert facts["output"] == "out.npz"
    assert facts["area"]["total"] == pytest.approx(4, abs=1e-12)
    assert facts["area"]["smallest"] == partition.volumes.min()
    assert facts["area"]["largest"] == partition.volumes.max()
    assert facts["certificate"] == partition.certificate.as_dict()
    lengths = np.linalg.norm(np.diff(partition.vertices[partition.facet_vertices], axis=1)[:, 0], axis=1)
    printed = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
    assert printed["regions"] == [f"{len(partition)},", "proved"]
    assert printed["area"] == ["4"]
    for layer, kinks in ((1, range(12)), (2, range(12, 22))):
        made = np.isin(partition.facet_kinks, kinks)
        row = facts["facets_by_layer"][layer - 1]
        assert (row["layer"], row["neurons"], row["facets"]) == (layer, len(kinks), made.sum())
        assert row["length"] == pytest.approx(lengths[made].sum())
        assert printed[str(layer)] == [str(len(kinks)), str(made.sum()), f"{row['length']:.6g}"]


def test_enumerate_on_a_line(run: Run) -> None:
    words = ["enumerate", "model.npz", "--activation", "relu", "--line", "0,0", "1,-1", "-o", "out.csv"]
    code, table, _ = run(*words)
    _, out, _ = run(*words, "--json")
    facts = json.loads(out)
    partition = regions.enumerate(model(), Line([0, 0], [1, -1]))
    with open("out.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert code == 0
    assert [float(row["volume"]) for row in rows] == partition.volumes.tolist()
    assert facts["length"]["total"] is None
    assert facts["length"]["largest"] is None
    assert "unbounded" in facts["note"]
    assert facts["length"]["smallest"] == partition.volumes.min()
    assert sum(row["facets"] for row in facts["facets_by_layer"]) == len(partition) - 1
    assert re.search("^largest region +unbounded$", table, re.MULTILINE)
    assert re.search("^ layer +neurons +breakpoints$", table, re.MULTILINE)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("words", "beyond", "note"),
    [
        (["--rectangle", "0,0", "2e200,1", "1,1e150"], "beyond the largest double", "beyond the largest double"),
        (["--rectangle", "0,0", "1.7e308,1.7e308", "-1,1"], "beyond the largest double", "beyond the largest double"),
        (["--plane", "0,0", "1,0", "0,1"], "unbounded", "unbounded, or beyond"),
    ],
    ids=lambda value: value[0] + value[2] if isinstance(value, list) else "",
)
def test_sizes_that_no_double_holds(run: Run, words: list[str], beyond: str, note: str) -> None:
    words = ["enumerate", "model.npz", "--activation", "relu", *words, "-o", "out.npz"]
    code, out, _ = run(*words, "--json")
    # Strict JSON, which has no infinity.
    facts = json.loads(out, parse_constant=pytest.fail)
    assert code == 0
    assert facts["area"]["total"] is None and facts["domain"]["area"] is None
    assert f"area that is {note}" in facts["note"]
    code, table, err = run(*words)
    assert (code, err) == (0, "")
    assert re.search(f"^area +{beyond}$", table, re.MULTILINE)


def test_a_smallest_region_whose_digits_are_not_all_known(run: Run) -> None:
    strip = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.7, 0.7 + 2.0**-50])
    np.savez("strip.npz", W0=strip[0], b0=strip[1], W1=np.ones((1, 2)), b1=np.zeros(1))
    table = run("enumerate", "strip.npz", "--activation", "relu", *SQUARE, "-o", "out.npz")[1]
    partition = regions.load_partition("out.npz")
    bound = f"{partition.volume_errors[partition.volumes.argmin()]:.2g}"
    assert re.search(rf"^smallest region +\S+ \(to within {re.escape(bound)}\)$", table, re.MULTILINE)
    assert "within" not in run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.npz")[1]


def test_a_note_stands_only_beside_null(run: Run) -> None:
    words = ["model.npz", "--activation", "relu", *SQUARE, "--json"]
    assert "note" not in json.loads(run("count", *words)[1])
    assert "note" not in json.loads(run("enumerate", *words, "-o", "out.npz")[1])


def test_enumerate_geojson(run: Run) -> None:
    code, out, _ = run("enumerate", "model.npz", "--activation", "relu", *SQUARE, "-o", "out.GeoJSON", "--json")
    shapes = json.loads(Path("out.GeoJSON").read_text())
    assert (code, len(shapes["features"])) == (0, json.loads(out)["regions"])


@pytest.mark.slow
@pytest.mark.parametrize("color_by", ["layer", "value", "pattern"])
@pytest.mark.parametrize("domain", [SQUARE, ["--line", "0,0", "1,-1"]], ids=["plane", "line"])
def test_plot(run: Run, domain: list[str], color_by: str) -> None:
    words = [
        "plot",
        "model.npz",
        "--activation",
        "relu",
        *domain,
        "--color-by",
        color_by,
        "--output-index",
        "2",
    ]
    code, out, _ = run(*words, "-o", "out.png")
    assert (code, out.splitlines()[-1]) == (0, "wrote out.png")
    assert Path("out.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = run(*words, "-o", "out.svg", "--json")
    assert (code, json.loads(out)["output"]) == (0, "out.svg")
    assert "</svg>" in Path("out.svg").read_text()


def test_plot_draws_the_output_that_was_asked_for(run: Run) -> None:
    labels = []
    for index in "0", "2":
        words = ["--segment", "ends.npy", "--output-index", index, "-o", "out.svg"]
        assert run("plot", "model.npz", "--activation", "relu", *words)[0] == 0
        labels.append(re.findall("<!-- (output [0-9]) -->", Path("out.svg").read_text()))
    assert labels == [["output 0"], ["output 2"]]


@pytest.mark.parametrize("command", ["", *sorted(regions_group.commands)])
def test_help_fits_a_terminal(run: Run, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run(*command.split(), "--help")
    assert max(map(len, out.splitlines())) <= 80 and "...\n" not in out.partition("Commands:")[2]


@pytest.mark.slow
@pytest.mark.parametrize("command", [[], ["info"], ["count"], ["enumerate"], ["plot"]], ids=str)
def test_help_has_examples_that_run(run: Run, command: list[str]) -> None:
    """The examples are run, with files made by the test."""
    code, out, _ = run(*command, "--help")
    lines = out.replace(" \\\n ", "").splitlines()
    examples = [line.split() for line in lines if line.startswith("  regions ")]
    assert code == 0
    assert examples
    for _, *words in examples:
        words = " ".join(words).replace("model.pt", "model.npz").replace("model.safetensors", "model.npz")
        words = words.replace("weights.npz", "model.npz").replace("'leaky_relu(0.2)'", "leaky_relu(0.2)")
        words = words.replace("--output-index 3", "--output-index 2")
        words = words.replace("epoch1.pt", "model.npz").replace("epoch2.pt", "model.npz")
        if "--box" in words:
            np.savez("solid.npz", **weights([3, 4, 1], seed=0))
            words = words.replace("model.npz", "solid.npz")
        assert run(*words.split())[0] == 0


@pytest.mark.slow
def test_python_m() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regions", "count", "model.npz", "--activation", "relu", *SQUARE, "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(regions.__file__).parent.parent)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["regions"] == regions.count(model(), Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
