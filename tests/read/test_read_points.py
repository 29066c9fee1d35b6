# SPDX-License-Identifier: MIT
"""Are the points in a file read, and is everything else refused that could be mistaken for a point?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_cases import runner
from regions import Segment, circumsquare, count, load, load_points
from regions.errors import DomainError, NonFiniteError, ShapeMismatchError
from regions.files import limits

IMAGES = np.random.default_rng(0).random((5, 3, 2, 4))


def write(folder: Path, text: str, name: str = "p.csv") -> Path:
    file = folder / name
    file.write_text(text)
    return file


class TestArrays:
    @pytest.mark.parametrize(
        ("array", "inputs", "expected"),
        [
            (IMAGES[0], None, IMAGES[0].reshape(1, 24)),  # [C, H, W]: one image
            (IMAGES, None, IMAGES.reshape(5, 24)),
            (IMAGES, 24, IMAGES.reshape(5, 24)),
            (IMAGES[:, 0], 8, IMAGES[:, 0].reshape(5, 8)),  # [N, H, W]: gray images
            (IMAGES[:, 0], None, IMAGES[:, 0].reshape(1, 40)),
            (IMAGES[0, 0], 8, IMAGES[0, 0].reshape(1, 8)),  # [H, W]: one
            (IMAGES[0, 0], None, IMAGES[0, 0]),
            (IMAGES, (3, 2, 4), IMAGES.reshape(5, 24)),
            (IMAGES[:, 0, :, :, np.newaxis], [1, 2, 4], IMAGES[:, 0].reshape(5, 8)),  # axes of one entry do not matter
            (IMAGES.reshape(5, 24), (3, 2, 4), IMAGES.reshape(5, 24)),
            (IMAGES, (24,), IMAGES.reshape(5, 24)),  # for which the network has no shape
            (IMAGES[0, 0, 0], 4, IMAGES[0, 0, 0].reshape(1, 4)),
            (IMAGES[:1, :1], 8, IMAGES[0, :1].reshape(1, 8)),
            ((IMAGES * 255).astype(np.uint8), 24, (IMAGES * 255).astype(np.uint8).reshape(5, 24)),
        ],
    )
    def test_images_are_flattened_row_by_row(self, tmp_path: Path, array: Any, inputs: Any, expected: Any) -> None:
        np.save(tmp_path / "p.npy", array)
        found = load_points(tmp_path / "p.npy", inputs=inputs)
        assert found.dtype == np.float64 and found.tolist() == expected.tolist()

    def test_the_order_matches_torch(self, tmp_path: Path) -> None:
        torch = pytest.importorskip("torch")
        np.save(tmp_path / "p.npy", np.asfortranarray(IMAGES))
        flat = torch.nn.Flatten()(torch.from_numpy(IMAGES)).numpy()
        assert load_points(tmp_path / "p.npy").tolist() == flat.tolist()

    @pytest.mark.parametrize(
        ("shape", "inputs", "words"),
        [
            ((5, 785), 784, r"shape \[5, 785\].*784 coordinates.*labels, leave it out: skip_columns=0 or -1"),
            ((5, 3, 2, 4), 23, r"shape \[5, 3, 2, 4\], from which no points with 23 coordinates, one for each input"),
            ((1, 1, 1, 1, 1), None, "expected points of shape"),
            ((0, 3), 3, "holds no points"),
            ((5, 2, 4, 3), (3, 2, 4), r"p.npy: holds images \[2, 4, 3\], the network takes \[3, 2, 4\]: put "),
            ((5, 23), (3, 2, 4), r"shape \[5, 23\], from which no points with 24 coordinates, one for each input"),
        ],
    )
    def test_shapes_that_do_not_fit(self, tmp_path: Path, shape: Any, inputs: Any, words: str) -> None:
        np.save(tmp_path / "p.npy", np.zeros(shape))
        with pytest.raises(ShapeMismatchError, match=words):
            load_points(tmp_path / "p.npy", inputs=inputs)

    def test_columns_of_arrays(self, tmp_path: Path) -> None:
        array = np.arange(12.0).reshape(3, 4)
        np.save(tmp_path / "p.npy", array)
        assert load_points(tmp_path / "p.npy", skip_columns=-1, inputs=3).tolist() == array[:, :3].tolist()
        assert load_points(tmp_path / "p.npy", skip_columns=[0, "2"]).tolist() == array[:, [1, 3]].tolist()
        for skipped in (4, "label"):
            with pytest.raises(DomainError, match="column"):
                load_points(tmp_path / "p.npy", skip_columns=skipped)

    def test_npz(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "one.npz", IMAGES)
        np.savez_compressed(tmp_path / "two.npz", x=IMAGES, y=np.arange(5))
        assert load_points(tmp_path / "one.npz").tolist() == IMAGES.reshape(5, 24).tolist()
        assert load_points(tmp_path / "two.npz", array="x").tolist() == IMAGES.reshape(5, 24).tolist()
        for array, words in [(None, r"array=\.\.: x \[5, 3, 2, 4\], y \[5\]"), ("z", r"no array 'z'; there are x \[5")]:
            with pytest.raises(DomainError, match=words):
                load_points(tmp_path / "two.npz", array=array)
        (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 no zip")
        (tmp_path / "other.npz").write_bytes(b"1,2")
        for name in ("bad.npz", "other.npz"):
            with pytest.raises(DomainError, match=name):
                load_points(tmp_path / name)
        with pytest.raises(DomainError, match="only .npz files have arrays with names"):
            load_points(write(tmp_path, "1,2"), array="x")


class TestText:
    @pytest.mark.parametrize(
        ("text", "skipped"),
        [
            ("0.5,-1\n2,3\n", ()),
            ("x,y\n0.5,-1\n2,3\n", ()),
            ('"x","y"\n"0.5",-1\n2,3\n', ()),
            ("# data\nx;y\n0.5;-1\n2;3\n", ()),
            ("x\ty\n0.5\t-1\n2\t3\n", ()),
            ("0.5 -1\n2    3\n", ()),
            (" x  y\n 0.5 -1 # a\n\n 2 3\n", ()),
            ("x, y, label\n0.5, -1, cat\n2, 3, dog\n", "label"),
            ("label,0,1\n7,0.5,-1\n3,2,3\n", "label"),
            ("x,label,y\n0.5,7,-1\n2,7,3\n", 1),
            ("cat,0.5,-1\ndog,2,3\n", 0),
            ("0.5,-1,cat\n2,3,dog\n", "-1"),
            ("0.5;-1;1,5\n2;3;x\n", [2]),
            (",x,y\n0,0.5,-1\n1,2,3\n", 0),
            ("id,x,label,y\n1,0.5,a,-1\n2,2,b,3\n", ["id", "label"]),
            ("\ufeffx,y\r\n0.5,-1\r\n2,3", ()),
            ("0.5,-1,\n2,3,\n", ()),
            ("0.5,-1, ,\n2,3,,\n", ()),
            ("0.5;-1\n2;3;\n", ()),
            ("x,y,\n0.5,-1,\n2,3,\n", ()),
            ("x,y\n0.5,-1,\n2,3,\n", ()),
            ("0.5\t-1\tcat\t\n2\t3\tdog\t\n", 2),
            ("0.5,-1,\n2,3,dog\n", -1),
            ("0.5,-1,\n2,3,\n", -1),  # the empty column is the last one, so no number is left out by mistake
            ("label,0,1,\n7,0.5,-1,\n3,2,3,\n", "label"),
            ("0.5,-1\r2,3\r", ()),
        ],
    )
    def test_common_tables_of_points(self, tmp_path: Path, text: str, skipped: Any) -> None:
        assert load_points(write(tmp_path, text), skip_columns=skipped, inputs=2).tolist() == [[0.5, -1], [2, 3]]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("0,1\n1,0\n-3,+4\n", [[0, 1], [1, 0], [-3, 4]]),
            ("0,1,2\n", [[0, 1, 2]]),
            ("0.0,1,2\n.5,.6,.7\n", [[0, 1, 2], [0.5, 0.6, 0.7]]),
            ("# 0,1,2\n.5,.6,.7\n", [[0.5, 0.6, 0.7]]),
            ("1,2\n.5,.6\n", [[1, 2], [0.5, 0.6]]),
            ("0\n.5\n", [[0], [0.5]]),
        ],
    )
    def test_a_first_row_that_counts_over_whole_numbers_is_a_point(
        self, tmp_path: Path, text: str, expected: list[list[float]]
    ) -> None:
        assert load_points(write(tmp_path, text)).tolist() == expected

    def test_tsv(self, tmp_path: Path) -> None:
        assert load_points(write(tmp_path, "x\ty\n1\t2\n", "p.tsv")).tolist() == [[1, 2]]

    @pytest.mark.parametrize(
        ("text", "error", "words"),
        [
            # A typing error in the first row must not make it a header.
            ("O.5,1\n2,3\n", DomainError, r"line 1: .*column 0 is 'O.5'. If it is a label"),
            ("O.5,0,1\n2,3,4\n", DomainError, r"line 1: .*column 0 is 'O.5'. If it is a label"),
            ("x,y\n1,2\n1,two\n", DomainError, r"line 3: .*column 1, called 'y', is 'two'"),
            ("x,y\n1,\n", DomainError, r"line 2: .*column 1, called 'y', is ''; a value is missing"),
            ("1;1,5\n", DomainError, r"separated by semicolons: .*'1,5'; write a point before decimals"),
            ("x,y\n1,2,3\n", ShapeMismatchError, "line 2: 3 coordinates, where the rows before have 2"),
            ("x,y\n1,inf\n", NonFiniteError, "line 2: .*column 1, called 'y', is inf"),
            (",x\n0,1\n1,2\n", DomainError, r"line 1: column 0 has no name.*skip_columns=0 .*--skip-column 0"),
            (
                "0,1,2,3,4,5,6,7\n1,1,1,1,1,1,1,1\n",
                DomainError,
                "line 1: its numbers only count the columns.*write 0.0",
            ),
            ("0,1,2\n.5,.6,.7\n", DomainError, r"line 1: its numbers only count the columns.*put # .*write 0\.0$"),
            ("0 1\n2 3\n4 1e-3\n", DomainError, "line 1: its numbers only count the columns"),
            ('"0","1"\n0.5,1\n', DomainError, "line 1: its numbers only count the columns"),
            ("0,1,2\n0.5,1.5,cat\n", DomainError, "line 1: its numbers only count the columns"),
            ("1,2,3,4,5,6,7,8\n1,1,1,1,1,1,1,1\n", DomainError, r"only count the columns.*write 1\.0$"),
            ('"' + "x" * 200_000 + '",1\n', DomainError, "not a text file of columns: field larger"),
            ("2,1,\n3,4,5\n", DomainError, "line 1: not numbers.*column 2 is ''; a value is missing"),
            ("1,2\n3,4,,5\n", DomainError, "line 2: not numbers.*column 2 is ''; a value is missing"),
            ("x,y,\n1,2,3\n", DomainError, "column 2 has no name"),
        ],
    )
    def test_what_is_refused(self, tmp_path: Path, text: str, error: type[Exception], words: str) -> None:
        file = write(tmp_path, text)
        with pytest.raises(error, match=f"^{file}.*{words}"):
            load_points(file)

    @pytest.mark.parametrize(
        ("text", "skipped", "words"),
        [
            ("x,y\n1,2\n", "z", "no column is called 'z'; they are called x, y"),
            ("1,2\n", "z", "no column is called 'z'; it has no header"),
            ("1,2\n", 2, "no column 2; it has 2, counted from 0"),
            ("x,x\n1,2\n", "x", "2 columns are called 'x'"),
            ("x,y\n1,2\n", ["x", "y"], "no column is left"),
        ],
    )
    def test_columns_that_are_not_there(self, tmp_path: Path, text: str, skipped: Any, words: str) -> None:
        with pytest.raises((DomainError, ShapeMismatchError), match=words):
            load_points(write(tmp_path, text), skip_columns=skipped)

    @pytest.mark.parametrize("text", ["1,2,3,4,5,6\n", "1,2\n3,,,,,4\n", "1 2 3 4 5 6\n"])
    def test_rows_with_more_numbers_than_networks_take(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        monkeypatch.setattr(limits, "MAX_INPUTS", 5)
        with pytest.raises(ShapeMismatchError, match="line [12]: more than 5 columns.*write a row for each point"):
            load_points(write(tmp_path, text))
        assert load_points(write(tmp_path, "1,2,3,4,5\n")).shape == (1, 5)

    def test_rows_stay_points_if_their_total_size_fits(self, tmp_path: Path) -> None:
        with pytest.raises(ShapeMismatchError, match=r"shape \[2, 2\], from which no points with 4 coordinates"):
            load_points(write(tmp_path, "1,2\n3,4\n"), inputs=4)

    def test_reading_a_pipe_does_not_hang(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "p.csv")
        with pytest.raises(DomainError, match="not an ordinary file"):
            load_points(tmp_path / "p.csv")

    def test_escape_sequences_do_not_get_into_messages(self, tmp_path: Path) -> None:
        with pytest.raises(DomainError) as refusal:
            load_points(write(tmp_path, "\x1b[2J,1\n2,3\n"))
        assert "\x1b" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"inputs": 2.0}, TypeError),
        ({"inputs": True}, TypeError),
        ({"inputs": 0}, ValueError),
        ({"skip_columns": 1.5}, TypeError),
        ({"skip_columns": [True]}, TypeError),
        ({"array": 3}, TypeError),
    ],
)
def test_wrong_arguments(tmp_path: Path, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        load_points(write(tmp_path, "1,2\n"), **options)


class TestCommandLine:
    WORDS = ("count", "m.npz", "--activation", "relu", "--json")

    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(1)
        np.savez(tmp_path / "m.npz", W0=rng.standard_normal((9, 8)), W1=rng.standard_normal((1, 9)))
        np.save(tmp_path / "gray.npy", IMAGES[:3, 0])
        np.savez(tmp_path / "data.npz", x=IMAGES[:, 0], y=np.arange(5))
        rows = [",".join(["cat", *map(repr, row)]) for row in IMAGES[:, 0].reshape(5, 8).tolist()]
        write(tmp_path, "\n".join(["label," + ",".join(f"x{i}" for i in range(8)), *rows]), "data.csv")

    def test_points(self, capsys: pytest.CaptureFixture[str]) -> None:
        network = load("m.npz", "relu")
        a, b, c = IMAGES[:3, 0].reshape(3, 8)
        square, segment = count(network, circumsquare(a, b, c)), count(network, Segment(b, c))
        for words, regions in [
            (["--square", "gray.npy"], square),
            (["--square", "data.npz:x:0:3"], square),
            (["--square", "data.csv:0:3", "--skip-column", "label"], square),
            (["--segment", "data.csv:1:3", "--skip-column", "0"], segment),
            (["--segment", "data.npz:x:1", "data.csv:2", "--skip-column", "label"], segment),
        ]:
            code, out, err = runner(capsys)(*self.WORDS, *words)
            assert code == 0 and f'"regions": {regions},' in out, (words, err)

    def test_refusals(self, capsys: pytest.CaptureFixture[str]) -> None:
        for words, code, message in [
            (["--square", "data.csv:0:3"], 1, "column 0, called 'label', is 'cat'. If it is a label"),
            (["--square", "gray.npy:1:4"], 1, "gray.npy has 3 rows, counted from 0"),
            (["--square", "gray.npy:2:2"], 1, "no rows; 0:3 stands for rows 0, 1 and 2"),
            (["--square", "data.npz:0:3"], 1, "name the one with the points"),
            (["--square", "data.csv:0:3", "--skip-column", "z"], 1, "no column is called 'z'"),
            (["--skip-column", "label"], 2, "give one domain"),
        ]:
            found, _, err = runner(capsys)(*self.WORDS, *words)
            assert found == code and message in " ".join(err.split()), (words, err)


@pytest.mark.parametrize("name", ["points.npy", "points.csv"])
def test_files_of_holes(name: str, tmp_path: Path) -> None:
    with open(tmp_path / name, "wb") as file:
        file.truncate(2**31)  # takes no room on the disk
    with pytest.raises(DomainError, match=r"the file, which has holes, would take 2147483648 bytes"):
        load_points(tmp_path / name)


def test_a_first_row_of_decimal_commas_is_not_taken_as_a_header(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("1,5;2,5\n3;4\n")
    with pytest.raises(DomainError, match=r"line 1: '1,5' is not a number; write a point before decimals"):
        load_points(tmp_path / "points.csv")
