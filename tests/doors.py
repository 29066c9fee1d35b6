# SPDX-License-Identifier: MIT
"""Do networks as people write them load through each door, with torch's values or a true refusal?

The modules of `helpers/doors_of_*.py` are loaded as modules and from ``.pt2`` files, in double precision, and from the
files of both ONNX exporters, in single precision. ``python tests/doors.py`` prints a table with a row for each module
and a column for each door; ``python tests/doors.py Td3Actor UNet`` only these modules; ``--verbose`` whole messages.
A wrong value is beyond rounding. A refusal is right if the module is not piecewise linear and the message names
the cause. Everything else is a finding. If torch cannot export a module, the door is closed, which is no finding.
Cost: one second a module.
"""

from __future__ import annotations

import argparse
import io
import logging
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

from formulas import applied  # noqa: E402
from regions.errors import InternalError, RegionsError  # noqa: E402
from regions.ground.text.printable import printable  # noqa: E402
from regions.networks.network import Network  # noqa: E402
from regions.read import load  # noqa: E402

POINTS = 5
CLOSED = "not exported"


def all_cases() -> dict[str, Any]:
    """Return the cases by name."""
    import doors_of_control
    import doors_of_images
    import doors_of_layers
    import doors_of_theory
    from doors_parts import CASES

    assert all(bool(part.__doc__) for part in (doors_of_control, doors_of_images, doors_of_layers, doors_of_theory))
    return CASES


def _by_module(case: Any) -> Network:
    import torch

    return load(case.module(torch.float64), input_shape=case.shape)


def _by_archive(case: Any) -> Network:
    import torch

    module = case.module(torch.float64)
    example = torch.randn(1, *case.shape, dtype=torch.float64)

    def write(file: io.BytesIO) -> None:
        torch.export.save(torch.export.export(module, (example,)), file)

    return load(_written(write))


def _by_onnx(case: Any) -> Network:
    import torch

    def write(file: io.BytesIO) -> None:
        program = torch.onnx.export(case.module(torch.float32), (torch.randn(1, *case.shape),), dynamo=True)
        file.write(program.model_proto.SerializeToString())

    return load(_written(write))


def _by_old_onnx(case: Any) -> Network:
    import torch

    def write(file: io.BytesIO) -> None:
        torch.onnx.export(case.module(torch.float32), (torch.randn(1, *case.shape),), file, dynamo=False)

    return load(_written(write))


# Doors, the precision of the module, and the rounding that is allowed, both sides' included.
DOORS: dict[str, tuple[Callable[[Any], Network], str, float]] = {
    "module": (_by_module, "float64", 1e-12),
    ".pt2": (_by_archive, "float64", 1e-12),
    "dynamo": (_by_onnx, "float32", 1e-5),
    "old ONNX": (_by_old_onnx, "float32", 1e-5),
}


class _NotExportedError(Exception):
    """torch does not write this module in this format."""


def _written(write: Callable[[io.BytesIO], None]) -> io.BytesIO:
    """Return what torch writes, without its messages."""
    import torch

    file, said = io.BytesIO(), io.StringIO()
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(said), torch.no_grad():
            warnings.simplefilter("ignore")
            write(file)
    except Exception as error:  # any error of torch
        raise _NotExportedError(printable(str(error).strip().partition("\n")[0], 200)) from error
    finally:
        logging.disable(before)
    file.seek(0)
    return file


def tried(case: Any, door: str) -> tuple[bool, str]:
    """Return whether a door does what is promised, and what it does in words."""
    read, precision, rounding = DOORS[door]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = read(case)
    except _NotExportedError as error:
        return True, f"{CLOSED}: {error}"
    except RegionsError as error:
        message = f"{type(error).__name__}: {error}"
        if isinstance(error, InternalError) or "no check foresaw" in message:
            return False, f"BROKEN: {message}"
        if case.refused is None:
            return False, f"REFUSED: {message}"
        if not re.search(case.refused, str(error)):
            return False, f"FALSE REASON: {message}"
        return True, f"refused: {message}"
    except Exception as error:  # findings of any kind
        return False, f"RAISED: {type(error).__name__}: {error}"
    if case.refused is not None:
        return False, "LOADED, and is not piecewise linear"
    wrong = difference(case, network, precision)
    return (True, "ok") if wrong <= rounding else (False, f"WRONG by {wrong:.1e}")


def difference(case: Any, network: Network, precision: str) -> float:
    """Return the largest difference from the module, over the largest of its values."""
    import torch

    kind = getattr(torch, precision)
    module = case.module(kind)
    points = torch.randn(POINTS, *case.shape, dtype=kind, generator=torch.Generator().manual_seed(1)) * 2
    with torch.no_grad():
        wanted = np.stack([np.asarray(module(point[None])).ravel() for point in points])
    values = network(points.reshape(POINTS, -1).double().numpy())
    left_out = [note for note in network.notes if note.startswith("left out at the end")]
    if left_out and "the model returns" in left_out[0]:
        values = applied(left_out[0], values)
    elif left_out and wanted.dtype.kind == "i":
        values = values.argmax(axis=1)[:, None]
    elif left_out:
        values = torch.softmax(torch.from_numpy(values), dim=-1).numpy()
    if values.shape != wanted.shape:
        return np.inf
    return float(np.abs(values - wanted).max() / max(1e-300, float(np.abs(wanted).max())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="these modules only")
    parser.add_argument("--door", choices=list(DOORS), help="this door only")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    cases = all_cases()
    width, findings = 600 if given.verbose else 90, 0
    for name in given.names or cases:
        doors = [given.door] if given.door else list(DOORS)
        results = [tried(cases[name], door) for door in doors]
        findings += not all(good for good, _ in results)
        if len({words for _, words in results}) == 1:
            print(f"{name:32} all: {results[0][1][:width]}", flush=True)
            continue
        print(
            f"{name:32}", " | ".join(f"{d}: {w[:width]}" for d, (_, w) in zip(doors, results, strict=True)), flush=True
        )
    print(f"{len(given.names or cases)} modules, {findings} with findings")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
