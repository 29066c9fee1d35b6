# SPDX-License-Identifier: MIT
"""Are the inequalities of VNN-LIB files read, and do errors name other files?"""

from __future__ import annotations

import contextlib
import gzip
import os
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from regions.errors import CheckpointError, FileTooLargeError, NotACheckpointError, TruncatedFileError
from regions.files import limits
from regions.files.vnnlib_text import Assertions, Inequality, read_vnnlib

ONE = "(declare-const X_0 Real)\n(declare-const Y_0 Real)\n"
TWO = """(vnnlib-version <2.0>)
(declare-network N (declare-input X real [2, 3]) (declare-output Y real []))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "property.vnnlib"


def asserted(file: Path, text: str) -> Assertions:
    file.write_text(text)
    return read_vnnlib(file)


def test_unions_of_conjunctions_are_multiplied_out(file: Path) -> None:
    text = "(assert (or (<= X_0 1) (and (<= X_0 2) (>= Y_0 3)))) ; a comment (\n(assert (<= Y_0 4))"
    found = asserted(file, ONE + text)
    low, high = Inequality((0,), (1.0,), 1.0), Inequality((0,), (1.0,), 2.0)
    last = Inequality((1,), (1.0,), 4.0)
    assert found == (1, 1, [(last, low), (last, high, Inequality((1,), (-1.0,), -3.0))])


@pytest.mark.parametrize(
    ("formula", "columns", "factors", "bound"),
    [
        # A decimal is a fraction, and an inequality is multiplied until its numbers are doubles.
        ("(<= (+ X_0 (* 2 Y_0) 1) 4.5)", (0, 1), (1.0, 2.0), 3.5),
        ("(>= X_0 Y_0)", (0, 1), (-1.0, 1.0), 0.0),
        ("(<= (- X_0) (- 3 Y_0 Y_0))", (0, 1), (-1.0, 2.0), 3.0),
        ("(<= (* 2 3 Y_0) (- 1e-3))", (1,), (6000.0,), -1.0),
        ("(<= 0.1 Y_0)", (1,), (-10.0,), -1.0),
        ("(<= (+ 0.25 0.2) (- Y_0))", (1,), (20.0,), -9.0),
        ("(>= (* 1e-200 1e-200 Y_0) 0)", (1,), (-1.0,), 0.0),
        ("(<= (* 1e-200 1e-200 Y_0) (* 3 1e-200 1e-200))", (1,), (1.0,), 3.0),
        ("(<= (* 3 0.1 Y_0) (* 6 0.1 X_0))", (1, 0), (1.0, -2.0), 0.0),
    ],
)
def test_linear_sums(file: Path, formula: str, columns: tuple[int, ...], factors: tuple[float], bound: float) -> None:
    ((found,),) = asserted(file, f"{ONE}(assert {formula})").union
    assert found == (columns, factors, bound, False, None)


def test_a_bound_of_many_digits_is_rounded_up_and_kept(file: Path) -> None:
    ((found,),) = asserted(file, f"{ONE}(assert (<= Y_0 0.{'1' * 30}))").union
    exact = Fraction(int("1" * 30), 10**30)
    assert found.exactly == exact < Fraction(found.bound) and np.nextafter(found.bound, 0.0) < exact
    ((found,),) = asserted(file, f"{ONE}(assert (>= Y_0 0.{'1' * 30}))").union
    assert found.exactly == -exact < Fraction(found.bound) and np.nextafter(found.bound, -1.0) < -exact


def test_equalities_are_two_inequalities_and_constants_are_decided(file: Path) -> None:
    assert asserted(file, ONE + "(assert (== Y_0 2))").union == [
        (Inequality((1,), (1.0,), 2.0), Inequality((1,), (-1.0,), -2.0))
    ]
    assert asserted(file, ONE + "(assert (<= Y_0 2)) (assert (<= 1 1))").union == [(Inequality((1,), (1.0,), 2.0),)]
    assert asserted(file, ONE + "(assert (or (<= Y_0 2) (<= 1 0)))").union == [(Inequality((1,), (1.0,), 2.0),)]
    assert asserted(file, ONE + "(assert (<= (- Y_0 Y_0) -1))").union == []


def test_tensors_of_version_2_are_numbered_in_row_major_order(file: Path) -> None:
    found = asserted(file, TWO + "(assert (<= X[1,0] 1)) (assert (>= Y X[0, 2]))")
    assert found == (6, 1, [(Inequality((3,), (1.0,), 1.0), Inequality((6, 2), (-1.0, 1.0), 0.0))])


def test_compressed_files(file: Path) -> None:
    file.write_bytes(gzip.compress((ONE + "(assert (<= Y_0 2))").encode()))
    assert len(read_vnnlib(file).union) == 1
    file.write_bytes(file.read_bytes()[:20] + b"\xff" * 9)
    with pytest.raises(CheckpointError):
        read_vnnlib(file)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", NotACheckpointError, "declares no inputs, as (declare-const X_0 Real) would"),
        ("hello", NotACheckpointError, "line 1: not a VNN-LIB file"),
        ("\n)", NotACheckpointError, "line 2: not a VNN-LIB file"),
        (ONE + "(assert (<= Y_0 1)", CheckpointError, "line 3: a parenthesis is not closed"),
        (
            ONE + "(assert (<= (+ (* 0.3333333333333333333 Y_0) (* 0.3 X_0)) 1))",
            CheckpointError,
            "line 3: the coefficients of an inequality are not all doubles, nor multiples of doubles; write them with",
        ),
        (ONE + "(assert (<= Y_0 " + "9" * 5000 + "))", CheckpointError, "is above all doubles in size"),
        (ONE + f"(assert (<= (* {'1e9 ' * 1000} Y_0) 1))", CheckpointError, "has more than 16384 bits"),
        ("(declare-network N (declare-input X real [" + "9, " * 99 + "9]))", CheckpointError, "has 100 axes; tensors"),
        (ONE + "(assert (not (<= Y_0 1)))", CheckpointError, "'not' is not read"),
        (ONE + "(assert (<= Y_1 1))", CheckpointError, "'Y_1' is neither a number nor a declared variable"),
        (ONE + "(assert (<= Y_0 1e999))", CheckpointError, "'1e999' is above all doubles in size"),
        (ONE + "(assert (<= Y_0 0.2e-400))", CheckpointError, "'0.2e-400' is not 0, and closer to 0 than any double"),
        (ONE + "(assert (<= Y_0 1_0))", CheckpointError, "'1_0' is neither a number nor"),
        (ONE + "(assert (<= (* Y_0 X_0) 1))", CheckpointError, "a product of variables is not linear"),
        (ONE + "(assert (<= Y_0 (+ 1 1e308 1e308)))", CheckpointError, "is above all doubles in size"),
        (ONE + "(assert (<= Y_0 1." + "1" * 5000 + "))", CheckpointError, "has more digits than are read"),
        (ONE + "(assert (<= Y_0))", CheckpointError, "'<=' is not read; read are"),
        (ONE + "(assert)", CheckpointError, "an assertion holds one formula, got 0"),
        (ONE + "(assert ())", CheckpointError, "a list is not read; read are and, or"),
        (ONE + "(check-sat)", CheckpointError, "'check-sat' is not read"),
        (ONE + "(declare-const X_2 Real)", CheckpointError, "X_1 is not declared, but X_2 is"),
        (ONE + "(declare-const Z_0 Real)", CheckpointError, "constants are named X_0"),
        (ONE + "(declare-const X_1 Int)", CheckpointError, "constants are named X_0"),
        (TWO + "(assert (<= X[2,0] 1))", CheckpointError, "outside the declared shape [2, 3]"),
        (TWO + "(assert (<= X[0] 1))", CheckpointError, "outside the declared shape [2, 3]"),
        (TWO + TWO, CheckpointError, "several networks"),
        ("(declare-network N (declare-hidden H real [1]))", CheckpointError, "'declare-hidden' is not read"),
        ("(declare-network N (declare-input X real [a]))", CheckpointError, "needs a type and a list of sizes"),
        (ONE + "(" * 101, CheckpointError, "nested 100 deep at most"),
        ("\x00(", NotACheckpointError, r"'\\x00'"),
    ],
)
def test_unsupported_parts_of_the_language(file: Path, text: str, error: type[CheckpointError], message: str) -> None:
    with pytest.raises(error) as caught:
        asserted(file, text)
    assert message in str(caught.value) and str(file) in str(caught.value)


def test_bytes_that_are_not_text(file: Path) -> None:
    file.write_bytes(b"\xff\xfe(")
    with pytest.raises(NotACheckpointError, match="it is not text"):
        read_vnnlib(file)


def test_strict_inequalities(file: Path) -> None:
    found = asserted(file, ONE + "(assert (and (< X_0 1) (> Y_0 2) (<= Y_0 3)))")
    first, second, third = Inequality((0,), (1.0,), 1.0, True), Inequality((1,), (-1.0,), -2.0, True), (1,)
    assert found.union == [(first, second, Inequality(third, (1.0,), 3.0, False))]
    assert asserted(file, ONE + "(assert (or (<= Y_0 2) (< 1 1)))").union == [(Inequality((1,), (1.0,), 2.0),)]


def test_limits_on_text_and_on_conjunctions(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = "(assert (or " + "(<= Y_0 1) " * 10 + "))"
    with pytest.raises(FileTooLargeError, match="more than 500000 conjunctions, inequalities and terms"):
        asserted(file, ONE + choice * 7)
    with pytest.raises(FileTooLargeError, match="conjunctions"):
        asserted(file, ONE + f"(assert (and {choice.replace('assert ', 'or ') * 7}))")
    monkeypatch.setattr(limits, "MAX_PROPERTY_BYTES", 1000)
    file.write_bytes(gzip.compress(b" " * 1_000_000))
    with pytest.raises(FileTooLargeError, match="1000 bytes of text"):
        read_vnnlib(file)


@pytest.mark.slow
def test_texts_that_once_took_long(file: Path) -> None:
    """Each of these is refused, or read, after work that is linear in the text."""
    some = f"(or {'(<= Y_0 1) ' * 10})"
    texts = [
        f"(assert (or {f'(and {some * 5}) ' * 200}))",  # unions inside of a union
        f"(assert (and {'(or (<= Y_0 1) (<= Y_0 2)) ' * 5000}))",  # a product with thousands of digits
        f"(assert (<= (* {'0.1 ' * 20_000} Y_0) 1))",
        "(assert (<= Y_0 " + "[" * 100_000,
        "(assert (<= Y_0 " + "a[" * 50_000,
        "(assert (<= " + "(- " * 90 + f"(+ {'Y_0 ' * 20_000})" + ")" * 90 + " 1))",
        f"(assert (and {'(<= 1 1) ' * 20_000} {some}))",
    ]
    start = time.process_time()
    for text in texts:
        with contextlib.suppress(CheckpointError):
            asserted(file, ONE + text)
    assert time.process_time() - start < 60


def test_pipes_and_devices_are_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe.vnnlib"
    os.mkfifo(pipe)
    text = (ONE + "(assert (<= Y_0 2))").encode()
    for content in (text, gzip.compress(text)):
        writer = threading.Thread(target=pipe.write_bytes, args=[content])
        writer.start()
        assert len(read_vnnlib(pipe).union) == 1
        writer.join()
    monkeypatch.setattr(limits, "MAX_PROPERTY_BYTES", 1 << 20)
    with pytest.raises(FileTooLargeError, match="1048576 bytes of text"):
        read_vnnlib(Path("/dev/zero"))


def test_all_members_of_gzip_data_are_read_and_none_may_be_cut_off(file: Path) -> None:
    parts = [ONE.encode(), b"(assert (<= Y_0 2))", b"(assert (<= X_0 2))"]
    whole = b"".join(map(gzip.compress, parts))
    file.write_bytes(whole + b"\0" * 9)
    assert len(read_vnnlib(file).union[0]) == 2
    for missing in (1, 8, 9, 30):
        file.write_bytes(whole[:-missing])
        with pytest.raises(TruncatedFileError, match="end too early"):
            read_vnnlib(file)
