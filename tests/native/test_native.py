# SPDX-License-Identifier: MIT
"""Do the parts of the core pass their own tests?

The tests are the .cpp files here; `native_tests.py` describes their requirements.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from native_tests import compile_and_run, has_framework

# Without doctest these tests are skipped; `.ci/run` installs it.
if has_framework():

    @pytest.mark.slow
    def test_the_parts_of_the_core(tmp_path: Path) -> None:
        assert compile_and_run(tmp_path) == 0
