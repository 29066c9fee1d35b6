# SPDX-License-Identifier: MIT
"""Do ``.nnet`` files become the networks of their evaluators, and are bad ones refused?

`tests/data/` has files that the format's own tools wrote, with outputs that their evaluator gives; see its README.
"""

from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    EmptyLayerError,
    FileTooLargeError,
    NonFiniteError,
    NotACheckpointError,
    RegionsError,
    TruncatedFileError,
)
from regions.read import load, read_tensors

FILES = Path(__file__).parent.parent / "data"
PLAIN = """// a comment
// another one, with an umlaut: \u00fc
2,2,1,3,
2,3,1,
0,
-1.0,-2.0,
1.0,2.0,
0.0,0.0,0.0,
1.0,1.0,1.0,
1.5,-2.25,
0.1,1e-3,
-7,.5,
0.25,
-1.,
0,
1.0,2.0,-3.0,
+4e+0,
"""


def content(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())


def replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.mark.parametrize("name", ["sisl_plain.nnet", "sisl_acas.nnet"])
def test_files_of_the_tool(name: str) -> None:
    net = load(FILES / name)
    expected = json.loads((FILES / "expected.json").read_text())[name]
    outputs = np.array(expected["outputs"])
    np.testing.assert_allclose(net(expected["points"]), outputs, rtol=0, atol=1e-12 * np.abs(outputs).max())


def test_numbers_are_the_nearest_doubles_and_nothing_is_folded_without_need() -> None:
    net = load(content(PLAIN))
    assert repr(net) == "Network(2-3-1, relu, 3 hidden neurons)"
    assert net.layers[0].weights.tolist() == [[1.5, -2.25], [0.1, 1e-3], [-7.0, 0.5]]
    assert net.layers[0].biases.tolist() == [0.25, -1.0, 0.0]
    assert net.layers[1].weights.tolist() == [[1.0, 2.0, -3.0]]
    assert net.layers[1].biases.tolist() == [4.0]
    assert net.notes == (
        "the file says that inputs are in [-1, 1] x [-2, 2]; its evaluators clip them to that box, this network does "
        "not: inside it they are the same",
    )


def test_inputs_outside_the_box_are_not_clipped() -> None:
    """One evaluator of Marabou clips them, and the other one does not."""
    net = load(content(PLAIN))
    assert net([3.0, -5.0]).tolist() == pytest.approx([1 * 16.0 + 0 - 0 + 4])
    assert any("clip them to that box" in note for note in net.notes)


def test_normalisation_is_folded_into_the_first_and_the_last_layer() -> None:
    text = PLAIN.replace("0.0,0.0,0.0,", "0.5,1.0,10.0,").replace("1.0,1.0,1.0,", "2.0,4.0,8.0,")
    net = load(content(text))
    assert net.layers[0].weights.tolist() == [[0.75, -0.5625], [0.05, 0.00025], [-3.5, 0.125]]
    assert net.layers[1].weights.tolist() == [[8.0, 16.0, -24.0]]
    assert net.layers[1].biases.tolist() == [42.0]
    assert [note.split(",")[0] for note in net.notes[1:]] == ["normalisation of the inputs folded into W0"]
    exact = Fraction(0.25) - Fraction(1.5) * Fraction(0.5) / 2 + Fraction(2.25) * 1 / 4
    assert net.layers[0].biases[0] == float(exact)
    arrays = read_tensors(content(text))
    assert arrays["means"].tolist() == [0.5, 1.0, 10.0]
    assert load(arrays, "relu") == load(content(PLAIN))  # this leaves out the normalisation


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(",\n", "\n"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN[: PLAIN.index("2,2,1")] * 100 + PLAIN[PLAIN.index("2,2,1") :],
        PLAIN[PLAIN.index("2,2,1") :] + "\n\n",
        PLAIN[:-1],
        PLAIN.replace("2,2,1,3,", "2,2,1,2,"),  # writers do not agree on what the largest width is
        PLAIN.replace(",", ", "),
        PLAIN.replace(",", "\t,"),
        "\ufeff" + PLAIN,  # a byte order mark
    ],
)
def test_spellings(text: str) -> None:
    assert load(content(text)) == load(content(PLAIN))


def test_the_first_acas_networks() -> None:
    """The first files have numbers for two inputs that were removed."""
    text = PLAIN
    for old, new in (
        ("-1.0,-2.0,\n", "-1.0,-2.0,0.0,-3.0,\n"),
        ("\n1.0,2.0,\n", "\n1.0,2.0,100.0,3.0,\n"),
        ("0.0,0.0,0.0,\n", "0.0,0.0,35.0,0.0,7.5,\n"),
        ("1.0,1.0,1.0,\n", "1.0,1.0,100.0,6.0,373.0,\n"),
    ):
        text = replaced(text, old, new)
    with pytest.raises(AmbiguousCheckpointError, match="5 means and 5 ranges for a network of 2 inputs.*read_tensors"):
        load(content(text))
    assert load(read_tensors(content(text)), "relu") == load(content(PLAIN))


HEADERS = {
    "only the number of layers": [("// a comment\n// another one, with an umlaut: \u00fc\n2,2,1,3,", "2")],
    "zeros": [
        ("-1.0,-2.0,\n1.0,2.0,", "0\n0"),
        ("0.0,0.0,0.0,\n1.0,1.0,1.0,", "0\n0"),
    ],
    "inputs only": [("0.0,0.0,0.0,\n1.0,1.0,1.0,", "0,0,\n1,1,")],
    "ranges of 0": [("1.0,1.0,1.0,", "0,0,0,")],
    "ranges of -1": [("1.0,1.0,1.0,", "-1,-1,-1")],
    "one mean and one range": [("0.0,0.0,0.0,\n1.0,1.0,1.0,", "0\n1")],
    "one limit": [("-1.0,-2.0,\n1.0,2.0,", "-1e5\n1e5")],
    "the width of the outputs twice": [("2,3,1,", "2,3,1,1,")],
    "a word as the flag": [("\n0,\n-1.0", "\nThis line extraneous\n-1.0")],
    "a flag": [("\n0,\n-1.0", "\n1,\n-1.0")],
    "blanks": [("2,2,1,3,\n2,3,1,", "2 2 1 3\n2 3  1"), ("1.5,-2.25,", "1.5 -2.25")],
}
NOTES = {
    "zeros": "all means are 0 and all ranges 0: taken as no normalisation",
    "inputs only": "means and ranges are for inputs only: outputs were taken not to be normalised",
    "ranges of 0": "all means are 0 and all ranges 0: taken as no normalisation",
    "ranges of -1": "all means are 0 and all ranges -1: taken as no normalisation",
    "one mean and one range": "one mean, 0, and one range, 1, for all inputs: taken as no normalisation",
    "one limit": "inputs are in [-100000, 100000] x [-100000, 100000]",
    "the width of the outputs twice": "the width of the outputs is written twice, and was taken once",
    "a flag": "the flag in the file is 1: some evaluators mirror inputs",
}


@pytest.mark.parametrize("case", list(HEADERS))
def test_headers_that_are_not_filled_in(case: str) -> None:
    text = PLAIN
    for old, new in HEADERS[case]:
        text = replaced(text, old, new)
    network = load(content(text))
    assert network == load(content(PLAIN))
    assert NOTES.get(case, "") in " ".join(network.notes)
    arrays = read_tensors(content(text))
    assert load(arrays, "relu") == load(content(PLAIN))


def test_means_and_ranges_of_inputs_only_are_folded() -> None:
    short = replaced(PLAIN, "0.0,0.0,0.0,\n1.0,1.0,1.0,", "1,-2,\n2,4,")
    long = replaced(PLAIN, "0.0,0.0,0.0,\n1.0,1.0,1.0,", "1,-2,0\n2,4,1")
    assert load(content(short)) == load(content(long)) != load(content(PLAIN))


def test_other_texts_of_numbers_are_not_such_files() -> None:
    for text in ("1 2 3 4\n5 6 7\n", "1\n2\n", "1\n2, 3, 4\n", "3\n1, 2\n", "2 3\n4 5\n", "0.5\n1\n"):
        with pytest.raises(NotACheckpointError, match="not a model file"):
            load(content(text))


def test_the_activation_is_known() -> None:
    assert load(content(PLAIN), "relu") == load(content(PLAIN))
    with pytest.raises(AmbiguousCheckpointError, match="'abs' was named, but the format itself has relu"):
        load(content(PLAIN), "abs")


BAD: list[tuple[str, str, type[RegionsError], str]] = [
    ("2,3,1,", "2,3,3,1,", NotACheckpointError, "has 4 widths for 2 layers, which are 3"),
    ("2,3,1,", "2,3,2,", NotACheckpointError, "announces 2 inputs and 1 outputs, but the widths are 2, 3, 2"),
    ("2,3,1,", "3,3,1,", NotACheckpointError, "announces 2 inputs"),
    ("2,3,1,", "2,0,1,", NotACheckpointError, "widths must be between 1 and"),
    ("2,3,1,", "2,999999999,1,", NotACheckpointError, "widths must be between 1 and"),
    ("2,3,1,", "2,900000,1,", TruncatedFileError, "do not fit into"),
    ("2,2,1,3,", "0,2,1,3,", NotACheckpointError, "0 layers"),
    ("2,2,1,3,", "999999999,2,1,3,", NotACheckpointError, "999999999 layers"),
    ("2,2,1,3,", "3,2,1,3,", NotACheckpointError, "has 3 numbers instead of 4"),
    ("0.1,1e-3,", "0.1,", NotACheckpointError, r"line 11 \(row 1 of W0\) has 1 numbers instead of 2"),
    ("0.1,1e-3,", "0.1,nan,", NonFiniteError, "row 1 of W0.* has 'nan'; all numbers must be finite"),
    ("0.1,1e-3,", "0.1,-Infinity,", NonFiniteError, "'-Infinity'"),
    ("0.1,1e-3,", "0.1,1e999,", NonFiniteError, "beyond the largest double"),
    ("0.1,1e-3,", "0.1,1_0,", NotACheckpointError, "'1_0' where a number belongs"),
    ("0.1,1e-3,", "0.1,0x1p3,", NotACheckpointError, "where a number belongs"),
    ("0.1,1e-3,", "0.1,1-2,", NotACheckpointError, "where a number belongs"),
    ("0.1,1e-3,", "0.1,,", NotACheckpointError, "'' where a number belongs"),
    ("0.1,1e-3,", ",0.1", NotACheckpointError, "'' where a number belongs"),
    ("0.1,1e-3,", "0.1,\u0661,", NotACheckpointError, "where a number belongs"),
    ("0.1,1e-3,", "0.1," + "1" * 2000 + ",", NotACheckpointError, "where a number belongs"),
    ("0.1,1e-3,", "0.1,\x1b[2J,", NotACheckpointError, "x1b"),
    ("0.1,1e-3,", "// not here\n0.1,1e-3,", NotACheckpointError, "row 1 of W0.* has 3 numbers instead of 2"),
    ("0.1,1e-3,", "0.1,1e-3 2,", NotACheckpointError, "'1e-3 2' where a number belongs"),
    ("1.0,1.0,1.0,", "0,0,1,", CheckpointError, r"ranges\[0\] is 0, .*leave the normalisation out"),
    ("0.0,0.0,0.0,", "1.0,0.0,", AmbiguousCheckpointError, "2 means and 3 ranges for a network of 2 inputs"),
    ("0.0,0.0,0.0,", "0.0,", AmbiguousCheckpointError, "1 means and 3 ranges for a network of 2 inputs"),
    ("-1.0,-2.0,", "-1.0,", AmbiguousCheckpointError, "1 smallest inputs, 2 largest"),
    ("+4e+0,\n", "", TruncatedFileError, "ends before line 17, the bias 0 of b1"),
    ("+4e+0,\n", "+4e+0,\n5,\n", NotACheckpointError, "goes on after line 17"),
    ("1.0,1.0,1.0,", "1.0,0.0,1.0,", CheckpointError, r"ranges\[1\] is 0"),
    ("1.0,1.0,1.0,", "1.0,-2.0,1.0,", CheckpointError, r"ranges\[1\] is -2, .*are positive"),
    ("1.0,1.0,1.0,", "1.0,1.0,-1.0,", CheckpointError, r"ranges\[2\] is -1, .*are positive"),
    ("// a comment\n", "//\n" * 400_000, FileTooLargeError, "begins with more than 1048576 bytes of comments"),
    ("-1.0,-2.0,", "3.0,-2.0,", CheckpointError, "input 0 goes from 3.0 to 1.0"),
    ("1.0,1.0,1.0,", "1e-310,1.0,1.0,", NonFiniteError, "normalisation 'of the inputs'"),
]


@pytest.mark.parametrize(("old", "new", "error", "words"), BAD)
def test_refused(old: str, new: str, error: type[RegionsError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        load(io.BytesIO(replaced(PLAIN, old, new).encode()))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_every_beginning_is_refused() -> None:
    whole = PLAIN.encode()
    for length in range(len(whole) - 1):  # a comma at the end separates the last number from the next line
        with pytest.raises((CheckpointError, EmptyLayerError, NonFiniteError)):
            load(io.BytesIO(whole[:length]))


def test_long_lines_and_many_comments_need_little_memory() -> None:
    with pytest.raises(NotACheckpointError, match="numbers instead of 2"):
        load(content(replaced(PLAIN, "0.1,1e-3,", "0," * 3_000_000)))
    assert load(io.BytesIO(b"// " + b"x" * 3000 + b"\n" + PLAIN.encode())) == load(content(PLAIN))
