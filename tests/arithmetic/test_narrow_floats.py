# SPDX-License-Identifier: MIT
"""Are real numbers of 16 bits and fewer those of other programs, and is the nearest one found?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from regions.ground.arithmetic.narrow_floats import NARROW, nearest_of, numbers_of

SMALL = [name for name, kind in NARROW.items() if kind.bits <= 8]


@pytest.mark.parametrize("name", SMALL)
def test_all_numbers(name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = {"float8e4m3fn": "float8_e4m3fn", "float4e2m1": "float4_e2m1fn"}.get(name, name.replace("8e", "8_e"))
    bits = np.arange(2 ** NARROW[name].bits, dtype=np.uint8)
    assert np.array_equal(numbers_of(bits, name), bits.view(getattr(ml_dtypes, kind)).astype("f4"), equal_nan=True)


@pytest.mark.parametrize("name", SMALL)
def test_the_nearest_number_in_fractions(name: str) -> None:
    """Between two neighbours: the nearest one, and in the middle the one with an even last bit."""
    half = numbers_of(np.arange(2 ** (NARROW[name].bits - 1), dtype=np.uint8), name).astype(float)
    numbers = half[np.isfinite(half)]
    for index, (low, high) in enumerate(zip(numbers, numbers[1:], strict=False)):
        middle = float((Fraction(low) + Fraction(high)) / 2)
        even = low if index % 2 == 0 else high
        beside = [np.nextafter(middle, 0), middle, np.nextafter(middle, np.inf)]
        assert nearest_of(beside, name).tolist() == [low, even, high]
        assert nearest_of(np.negative(beside), name).tolist() == [-low, -even, -high]


def test_numbers_of_16_bits() -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).standard_normal(5000) * np.repeat(10.0 ** np.arange(-10, 6.25, 0.65), 200)
    values = values.astype(np.float32).astype(float)
    with np.errstate(over="ignore"):
        assert (nearest_of(values, "float16") == values.astype(np.float16)).all()
    assert (nearest_of(values, "bfloat16") == torch.tensor(values).to(torch.bfloat16).double().numpy()).all()


def test_beyond_the_largest_number() -> None:
    """Formats without infinities have no number there; 464 is in the middle of 448 and 480."""
    assert np.array_equal(nearest_of([464, 465, -np.inf], "float8e4m3fn"), [448, np.nan, np.nan], equal_nan=True)
    assert nearest_of([61439, 61440, -np.inf], "float8e5m2").tolist() == [57344, np.inf, -np.inf]
    assert nearest_of([7, -np.inf], "float4e2m1").tolist() == [6, -6]
    assert np.isnan(nearest_of(np.nan, "float16"))
