# SPDX-License-Identifier: MIT
"""Are operators read correctly in a sample of `fuzz_operators.py`?"""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import numpy as np
import pytest

import fuzz_operators
from regions.read import load

SUMS = json.loads((Path(__file__).parent.parent / "data" / "onnx_operators.json").read_text())


@pytest.mark.slow
def test_a_slice_of_torch() -> None:
    pytest.importorskip("torch")
    counts, found = fuzz_operators.torch_cases(range(40), 4)
    assert found == []
    assert counts == {"the same": 40}


@pytest.mark.slow
def test_a_slice_of_constants() -> None:
    pytest.importorskip("torch")
    counts, found = fuzz_operators.torch_constants(range(25), 5)
    assert found == []
    assert counts["module: the same"] == 24  # one is a quotient without its decimals, which rounding may decide
    pytest.importorskip("onnxruntime")
    counts, found = fuzz_operators.onnx_constants(range(200), 5)
    assert found == []
    assert counts["the same"] > 100


def test_stored_results_of_onnxruntime() -> None:
    """The data file has one number for each case: the sum of its outputs, each times its index, counted from 1."""
    pytest.importorskip("onnx")
    import operators_of_onnx

    kinds = list(operators_of_onnx.KINDS)
    for number, expected in SUMS.items():
        chance = random.Random(f"onnx 0 {number}")
        name, content, shape = operators_of_onnx.drawn(kinds[int(number) % len(kinds)], chance)
        values = load(io.BytesIO(content))(fuzz_operators.integer_points(int(np.prod(shape)), int(number)))
        found = values @ np.arange(1.0, values.shape[1] + 1)
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.5, err_msg=name)
