# SPDX-License-Identifier: MIT
"""Are calls refused in threads that do not compute with doubles as IEEE 754 says?

Each test changes the settings of a thread of its own.
"""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from regions.errors import InexactArithmeticError
from regions.ground.arithmetic.thread_settings import require_exact_arithmetic

UPWARD, DOWNWARD = (0x800, 0x400) if platform.machine() in ("x86_64", "AMD64") else (0x400000, 0x800000)
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
# Two lines that are the smallest double apart: three regions, and two if that double is taken for 0.
STRIP = regions.Network([([[1, 0], [1, 0]], [0, -5e-324]), ([[1, 1]], [0])])
PARTITION = regions.enumerate(STRIP, SQUARE)

CALLS: dict[str, Callable[[], Any]] = {
    "count": lambda: regions.count(STRIP, SQUARE),
    "reference": lambda: regions.reference.count(STRIP, SQUARE),
    "compare": lambda: regions.compare(STRIP, STRIP, SQUARE),
    "certify": lambda: regions.certify(PARTITION, STRIP),
    "exact vertices": PARTITION.exact_vertices,
    "network": lambda: regions.Network([(np.float32([[1e-40]]), None)]),
    "domain": lambda: regions.Segment([0.0], [1.0]),
    "points": lambda: STRIP(np.zeros(2)),
}


def in_thread(set_up: Callable[[], Any], call: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(set_up).result()
        return threads.submit(call).result()


@pytest.mark.parametrize("name", CALLS)
def test_threads_that_lose_subnormal_numbers(name: str) -> None:
    torch = pytest.importorskip("torch")
    set_flush = torch.set_flush_denormal
    message = r"replaces numbers below 2.2e-308 by 0.*set_flush_denormal\(False"
    with pytest.raises(InexactArithmeticError, match=message):
        in_thread(lambda: set_flush(True), CALLS[name])
    in_thread(lambda: (set_flush(True), set_flush(False)), CALLS[name])


FIRST_SESSION = """
import onnxruntime, regions, sys
net, square = regions.Network([([[1, 0]], [0])]), regions.Polygon([[-1, -1], [1, -1], [1, 1]])
options = onnxruntime.SessionOptions()
options.add_session_config_entry("session.set_denormal_as_zero", sys.argv[2])
onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
try:
    regions.count(net, square)
except regions.errors.InexactArithmeticError as error:
    print(error)
else:
    print("counted")
"""


@pytest.mark.parametrize("lost", [True, False])
def test_a_session_of_onnxruntime_that_loses_subnormal_numbers(tmp_path: Path, lost: bool) -> None:
    """In a process of its own, because the first session of a process decides for the thread."""
    pytest.importorskip("onnxruntime")
    onnx_parts = pytest.importorskip("onnx_parts")
    model = onnx_parts.model([onnx_parts.node("Relu", ["x"], "y")], shape=(1, 2))
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    command = [sys.executable, "-c", FIRST_SESSION, str(tmp_path / "m.onnx"), str(int(lost))]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert ("replaces numbers below 2.2e-308 by 0" in said) is lost and ("counted" in said) is not lost


@pytest.mark.parametrize("direction", [UPWARD, DOWNWARD])
def test_threads_that_round_to_another_direction(direction: int) -> None:
    set_direction = ctypes.CDLL(None).fesetround

    def call() -> None:
        set_direction(direction)
        try:
            require_exact_arithmetic()
        finally:
            set_direction(0)

    with pytest.raises(InexactArithmeticError, match="does not round to the nearest double.*FE_TONEAREST"):
        in_thread(lambda: None, call)
    require_exact_arithmetic()
