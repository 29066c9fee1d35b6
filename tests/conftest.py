# SPDX-License-Identifier: MIT
"""Which copy of the package is being tested?

`python -m pytest` puts the root of the checkout first on the path, so `import regions` finds the source
folder there. That is right after an editable install, which leaves the compiled core in that folder, and
wrong after a plain one, where the folder holds no core and the copy to test is the installed one. So: step
aside when the folder is not compiled, and print at the top of every run which copy was taken.
"""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMPILED = any((ROOT / "regions" / f"_core{suffix}").exists() for suffix in EXTENSION_SUFFIXES)

if not COMPILED:
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != ROOT]


def pytest_report_header(config: pytest.Config) -> str:
    import regions
    from regions import _core

    return f"testing regions in {Path(regions.__file__).parent}, core {Path(_core.__file__).name}"
