# SPDX-License-Identifier: MIT
"""Does a saved partition come back the same, and does an error name every other file?"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from partition_cases import CASES, SQUARE, everywhere, read_with_flipped_bytes, with_header
from random_networks import random_network
from raw_from_reference import partition_from_reference, raw_from_reference
from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Domain, Plane, Segment, circumsquare
from regions.errors import (
    CheckpointError,
    FileTooLargeError,
    NotACheckpointError,
    TruncatedFileError,
    UnsafePickleError,
)
from regions.networks.named_activations import prelu
from regions.networks.network import Network
from regions.results.partition import ARRAYS, Partition, load_partition, raw_arrays, saved

DATA = Path(__file__).resolve().parent.parent / "data"
SAVED = [*ARRAYS, "facet_offsets", "cell_facet_offsets", "header", "domain_origin"]


def assert_same(one: Partition, other: Partition) -> None:
    assert one.network == other.network and one.domain == other.domain
    assert repr(one) == repr(other) and repr(one.network) == repr(other.network)
    assert type(one.domain) is type(other.domain)
    assert one.stats == other.stats and one.complete == other.complete
    for name in ARRAYS:
        mine, theirs = raw_arrays(one)[name], raw_arrays(other)[name]
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes()
        assert not theirs.flags.writeable


@everywhere
def test_what_is_saved_comes_back(network: Network, domain: Domain, tmp_path: Path) -> None:
    partition = partition_from_reference(network, domain)
    partition.save(tmp_path / "partition.npz")
    assert_same(partition, Partition.load(tmp_path / "partition.npz"))
    first = (tmp_path / "partition.npz").read_bytes()
    load_partition(str(tmp_path / "partition.npz")).save(str(tmp_path / "again.npz"))
    assert (tmp_path / "again.npz").read_bytes() == first


def test_slopes_of_single_units_notes_and_partial_results(tmp_path: Path) -> None:
    layers = random_network([2, 3, 1]).layers
    network = Network([(layer.weights, layer.biases) for layer in layers], prelu([0.5, -1.0, 0.25]))
    network = Network.from_layers(network.layers, ["batch norm folded"])
    domain = circumsquare([0, 0], [1, 0], [0, 1])
    partition = Partition(network, domain, {**raw_from_reference(network, domain), "complete": False})
    partition.save(tmp_path / "partition.npz")
    loaded = load_partition(tmp_path / "partition.npz")
    assert_same(partition, loaded)
    assert loaded.network.notes == ("batch norm folded",) and not loaded.complete


def test_numpy_opens_it(tmp_path: Path) -> None:
    partition = partition_from_reference(*CASES["square"])
    partition.save(tmp_path / "partition.npz")
    with np.load(tmp_path / "partition.npz", allow_pickle=False) as arrays:
        assert (arrays["vertices"] == partition.vertices).all()
        header = json.loads(arrays["header"].tobytes())
        assert (arrays["layer_2_weights"] == partition.network.layers[2].weights).all()
    assert header["network"]["fingerprint"] == partition.network.fingerprint
    assert header["domain"]["kind"] == "Polygon"


def test_patterns_that_shrink_like_a_bomb_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = partition_from_reference(*CASES["square"])
    partition.save(tmp_path / "small.npz")
    monkeypatch.setattr(saved.limits, "MAX_EXPANSION", 1)
    partition.save(tmp_path / "large.npz")
    assert (tmp_path / "large.npz").stat().st_size > (tmp_path / "small.npz").stat().st_size
    assert_same(partition, load_partition(tmp_path / "large.npz"))


def test_nothing_to_save(tmp_path: Path) -> None:
    network, domain = CASES["square"]
    raw = raw_from_reference(network, domain)
    empty = {name: raw[name][:0] for name in ARRAYS}
    partition = Partition(
        network, domain, {**empty, "cell_offsets": np.zeros(1, dtype=int), "stats": {}, "complete": False}
    )
    assert len(partition) == 0 and partition.volumes.shape == (0,) and partition.interior_points.shape == (0, 2)
    with pytest.raises(ValueError, match="without a single region"):
        partition.save(tmp_path / "partition.npz")


# Files of older versions.


@pytest.mark.parametrize("commit", ["ed09fa1", "888ddd0"])
@pytest.mark.parametrize("kind", ["plane", "line"])
def test_files_of_version_1_are_read(commit: str, kind: str, tmp_path: Path) -> None:
    path = DATA / f"saved_{commit}_{kind}.npz"
    partition = load_partition(path)
    with np.load(path) as old:
        assert json.loads(old["header"].tobytes())["version"] == 1 and "packed_patterns" not in old
        for name in ARRAYS:
            assert (getattr(partition, name) == old["patterns" if name == "packed_patterns" else name]).all()
    assert len(partition) == regions.count(partition.network, partition.domain) == {"plane": 26, "line": 9}[kind]
    assert partition.certificate.regions == len(partition)
    partition.save(tmp_path / "again.npz")
    assert_same(partition, load_partition(tmp_path / "again.npz"))
    with np.load(tmp_path / "again.npz") as new:
        assert json.loads(new["header"].tobytes())["version"] == 3
        rows = np.split(new["facet_vertices"], new["facet_offsets"][1:-1])
        assert np.array_equal(rows, partition.facet_vertices)


def test_files_of_version_2_are_read(arrays: dict[str, Any], tmp_path: Path) -> None:
    older = with_header(arrays, lambda header: header.update(version=2))
    refused(tmp_path, older, NotACheckpointError, "'cell_facet_offsets'")
    np.savez(tmp_path / "older.npz", **{name: array for name, array in older.items() if name != "cell_facet_offsets"})
    np.savez(tmp_path / "newer.npz", **arrays)
    assert_same(load_partition(tmp_path / "older.npz"), load_partition(tmp_path / "newer.npz"))


def test_names_of_one_version_in_a_file_of_the_other_are_refused(tmp_path: Path) -> None:
    with np.load(DATA / "saved_ed09fa1_plane.npz") as file:
        old = dict(file)
    wrong = {**old, "packed_patterns": old["patterns"]}
    refused(tmp_path, wrong, NotACheckpointError, "'packed_patterns' is missing or unexpected")
    refused(
        tmp_path,
        with_header(old, lambda header: header.update(version=2)),
        NotACheckpointError,
        "'(facet_offsets|packed_patterns)'",
    )


@pytest.mark.parametrize("shape", [(-1, 2), (-1, 1), ()])
def test_vertices_of_facets_that_are_not_one_list(
    shape: tuple[int, ...], arrays: dict[str, Any], tmp_path: Path
) -> None:
    vertices = arrays["facet_vertices"][:1] if shape == () else arrays["facet_vertices"]
    changed = {**arrays, "facet_vertices": vertices.reshape(shape)}
    refused(tmp_path, changed, NotACheckpointError, "facet_vertices has shape .*, not 2 numbers for each facet")
    odd = {**arrays, "facet_vertices": arrays["facet_vertices"][:-1]}
    refused(tmp_path, odd, NotACheckpointError, "facet_vertices has shape .*, not 2 numbers for each facet")


# Other files.


@pytest.fixture
def arrays(tmp_path: Path) -> dict[str, Any]:
    """Return the arrays of a saved partition, which tests modify."""
    partition_from_reference(*CASES["hard_tanh"]).save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as file:
        return dict(file)


def refused(tmp_path: Path, arrays: dict[str, Any], error: type[CheckpointError], message: str) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(error, match=message) as caught:
        load_partition(tmp_path / "bad.npz")
    assert str(caught.value).startswith(f"{tmp_path / 'bad.npz'}: ")


HEADERS: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda header: header.update(format="else"), "not a file that Partition.save wrote"),
    (lambda header: header.update(version=4), "format version 4, this package reads versions 1 to 3"),
    (lambda header: header.update(version="9" * 10**4), "format version 99999"),
    (lambda header: header.pop("complete"), "'complete' is missing"),
    (lambda header: header.update(complete=1), "'complete' is missing or not of type bool"),
    (lambda header: header.update(stats=[]), "'stats'"),
    (lambda header: header.update(stats={"exact": "many"}), "integers of at least 0"),
    (lambda header: header.update(network=None), "'activations'"),
    (lambda header: header["network"].update(activations="relu"), "'activations'"),
    (lambda header: header["network"].update(fingerprint="0" * 64), "network is not the one"),
    (lambda header: header["network"]["activations"].append("relu"), "'layer_3_biases' is missing"),
    (
        lambda header: header["network"]["activations"].pop(),
        "'layer_2_biases' is missing or unexpected",
    ),
    (lambda header: header["domain"].update(fingerprint="0" * 64), "domain is not the one"),
    (lambda header: header["domain"].update(kind=3), "'kind'"),
]


@pytest.mark.parametrize(("change", "message"), HEADERS, ids=[message for _, message in HEADERS])
def test_headers(
    change: Callable[[dict[str, Any]], object], message: str, arrays: dict[str, Any], tmp_path: Path
) -> None:
    refused(tmp_path, with_header(arrays, change), NotACheckpointError, message)


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 10**5, b"\xff\xfe", b"3", b'{"format": 1e999}'])
def test_invalid_headers(text: bytes, arrays: dict[str, Any], tmp_path: Path) -> None:
    broken = {**arrays, "header": np.frombuffer(text, dtype=np.uint8)}
    refused(tmp_path, broken, NotACheckpointError, "not a file that Partition.save wrote")


def test_unknown_kinds_of_domain_become_plain_domains(arrays: dict[str, Any], tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", **with_header(arrays, lambda h: h["domain"].update(kind="__import__")))
    assert type(load_partition(tmp_path / "other.npz").domain) is Domain


@pytest.mark.parametrize(
    "name",
    [*ARRAYS, "facet_offsets", "cell_facet_offsets", "header", "domain_origin", "layer_0_weights", "layer_1_slopes"],
)
def test_arrays_that_are_missing_or_of_another_type(name: str, arrays: dict[str, Any], tmp_path: Path) -> None:
    missing = {key: array for key, array in arrays.items() if key != name}
    refused(tmp_path, missing, NotACheckpointError, "missing")
    refused(tmp_path, {**arrays, name: arrays[name].astype(np.float32)}, NotACheckpointError, "float32")
    refused(tmp_path, {**arrays, name: arrays[name].astype(object)}, UnsafePickleError, "Python objects")
    refused(tmp_path, {**arrays, name: arrays[name][:0]}, CheckpointError, "bad.npz")
    if name != "header":  # read as bytes, in any shape
        refused(tmp_path, {**arrays, name: arrays[name][..., np.newaxis, np.newaxis]}, CheckpointError, "bad.npz")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("cell_vertices", 2**62, "cell_vertices"),
        ("facet_regions", -7, "facet_regions"),
        ("facet_offsets", 1, "facet_offsets must go from 0 to .* in steps of 2"),
        ("cell_offsets", -1, "cell_offsets"),
        ("cell_facet_offsets", 1, "cell_facet_offsets differs from cell_offsets"),
        ("vertices", np.nan, "not a number"),
        ("layer_0_weights", np.inf, "weights"),
        ("layer_0_breakpoints", 7.0, "breakpoints"),
        ("layer_1_slopes", 3.0, "not continuous"),
        ("domain_directions", 0.0, "direction"),
        ("domain_generators", 2.0, "corners"),
    ],
)
def test_values_that_do_not_fit(name: str, value: float, message: str, arrays: dict[str, Any], tmp_path: Path) -> None:
    array = arrays[name].copy()
    array.flat[: 1 if array.ndim == 1 else array.shape[1]] = value
    refused(tmp_path, {**arrays, name: array}, NotACheckpointError, message)


def test_another_network_or_domain(arrays: dict[str, Any], tmp_path: Path) -> None:
    changed = arrays["layer_0_weights"].copy()
    changed[0, 0] = np.nextafter(changed[0, 0], 9)
    refused(tmp_path, {**arrays, "layer_0_weights": changed}, NotACheckpointError, "network is not the one")
    segment = partition_from_reference(random_network([1, 2, 1]), Segment([0], [1]))
    segment.save(tmp_path / "segment.npz")
    with np.load(tmp_path / "segment.npz") as file:
        header = json.loads(file["header"].tobytes())
        other = {name: file[name] for name in file.files if name.startswith("domain_")}
    mixed = with_header({**arrays, **other}, lambda h: h.update(domain=header["domain"]))
    refused(tmp_path, mixed, NotACheckpointError, "another space")


def test_one_array_too_many(arrays: dict[str, Any], tmp_path: Path) -> None:
    refused(tmp_path, {**arrays, "extra": np.zeros(3)}, NotACheckpointError, "'extra'")


def test_files_that_are_cut_off_or_something_else(tmp_path: Path) -> None:
    partition_from_reference(*CASES["square"]).save(tmp_path / "good.npz")
    content = (tmp_path / "good.npz").read_bytes()
    for length in [*range(0, len(content), len(content) // 37), len(content) - 1]:
        (tmp_path / "cut.npz").write_bytes(content[:length])
        with pytest.raises((TruncatedFileError, NotACheckpointError), match="cut.npz"):
            load_partition(tmp_path / "cut.npz")
    for other in (b"not a zip at all", b"\x80\x04K\x01.", b"PK\x05\x06" + bytes(18)):
        (tmp_path / "other.npz").write_bytes(other)
        with pytest.raises(NotACheckpointError):
            load_partition(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        load_partition(tmp_path / "none.npz")


@pytest.mark.slow
def test_flipped_bytes_never_pass_unnoticed(tmp_path: Path) -> None:
    """After any change of a byte, the partition is the same, or there is a named error."""
    partition = partition_from_reference(*CASES["segment"])
    for loaded in read_with_flipped_bytes(partition, tmp_path):
        assert_same(partition, loaded)


@pytest.mark.slow
def test_zip_bombs(arrays: dict[str, Any], tmp_path: Path) -> None:
    bomb = io.BytesIO()
    np.lib.format.write_array(bomb, np.zeros(40 << 20, dtype=np.uint8))
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in arrays:
            archive.writestr(f"{name}.npy", bomb.getvalue() if name in ("packed_patterns", "header") else b"")
    with pytest.raises(FileTooLargeError):
        load_partition(tmp_path / "bomb.npz")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = partition_from_reference(*next(iter(CASES.values())))
    path = tmp_path / "kept.npz"
    partition.save(path)
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left.*kept.npz"):
        partition.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kept.npz"]


@pytest.mark.parametrize(
    ("network", "domain", "kink", "words"),
    [
        (*CASES["square"], 0, "are parallel"),
        (*CASES["segment"], 0, None),
        (CASES["square"][0], Plane([0, 0], [1, 0], [0, 1]), 0, "are parallel|has no interior"),
        (Network([([[1.0, 1.0], [0.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]), SQUARE, 1, "are parallel"),
        (
            Network([([[1.0, 1.0], [0.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]),
            Plane([0, 0], [1, 0], [0, 1]),
            1,
            "lies on no line",
        ),
        (Network([([[1.0], [0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]), Segment([-1], [1]), 1, "are parallel"),
    ],
)
def test_nonsensical_geometry_is_an_error_of_ours(
    tmp_path: Path, network: Network, domain: Domain, kink: int, words: str | None
) -> None:
    """Consistent arrays whose facets lie on other lines: exact vertices used to divide by zero."""
    enumerate_regions(network, domain).save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as file:
        arrays = dict(file)
    arrays["facet_kinks"][arrays["facet_kinks"] >= 0] = kink
    np.savez(tmp_path / "bad.npz", **arrays)
    loaded = load_partition(tmp_path / "bad.npz")
    if words is None:
        assert len(loaded.exact_vertices()) == len(loaded.vertices)
    else:
        with pytest.raises(CheckpointError, match=f"({words}).*not a result of enumerate"):
            loaded.exact_vertices()


@pytest.mark.parametrize("place", ["version", "notes", "activations", "kind", "fingerprint", "kernel"])
def test_escape_sequences_in_the_header_stay_there(arrays: dict[str, Any], tmp_path: Path, place: str) -> None:
    escape = "\x1b[2J\x1b]0;title\x07"
    header = json.loads(arrays["header"].tobytes())
    if place == "version":
        header["version"] = escape
    elif place in ("notes", "activations"):
        header["network"][place] = [escape for _ in header["network"]["activations"]]
    elif place == "kernel":
        header["found_by"][place] = escape
    else:
        header["domain"][place] = escape
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "bad.npz", **arrays)
    try:
        loaded = load_partition(tmp_path / "bad.npz")
    except CheckpointError as error:
        assert str(error).isprintable()
        assert place != "kind"
    else:  # an unknown kind of domain is not an error, and not stored
        assert place == "kind"
        assert escape not in repr(loaded) + repr(loaded.domain) + repr(loaded.network)


@pytest.mark.filterwarnings("error")
def test_arrays_without_entries_have_no_type(tmp_path: Path) -> None:
    partition = regions.enumerate(Network([(np.eye(2), [0.0, 0.0])]), SQUARE)
    partition.save(tmp_path / "part.npz")
    with np.load(tmp_path / "part.npz") as stored:
        arrays = {name: stored[name] if stored[name].size else stored[name].astype(complex) for name in stored}
    assert any(array.dtype == complex for array in arrays.values())
    np.savez(tmp_path / "changed.npz", **arrays)
    assert regions.load_partition(tmp_path / "changed.npz") == partition
