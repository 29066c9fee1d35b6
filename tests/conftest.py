# SPDX-License-Identifier: MIT
"""Which copy of the package is being tested, and where do the tests of the command line run?

`python -m pytest` puts the root of the checkout first on the path, so `import regions` finds the source
folder there. That is right after an editable install, which leaves the compiled core in that folder, and
wrong after a plain one, where the folder holds no core and the copy to test is the installed one. Therefore the source
folder is removed from the path if it is not compiled, and every run prints which copy is tested. Fixtures import the
package only when they are used, after this has been decided.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli_cases import Run

ROOT = Path(__file__).resolve().parent.parent
COMPILED = any((ROOT / "regions" / f"_core{suffix}").exists() for suffix in EXTENSION_SUFFIXES)

if not COMPILED:
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != ROOT]

# In the background of a shell script Ctrl-C is ignored, in this process and its children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ends", action="store_true", help="run only the first case of each test and the last one")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Without paths, ``-n`` and ``--pdb``, run tests on all cores if pytest-xdist is there.

    There is one process more than cores, because some tests wait for others.
    """
    everything = config.args_source == config.ArgsSource.TESTPATHS and not hasattr(config, "workerinput")
    if everything and config.pluginmanager.hasplugin("xdist"):
        options = config.option
        if options.numprocesses is None and options.dist == "no" and not (options.usepdb or options.collectonly):
            options.numprocesses, options.dist = (os.cpu_count() or 1) + 1, "worksteal"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--ends``, of each test keep the first and the last of the cases that other options leave."""
    if config.getoption("--ends"):
        first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
        last = {item.nodeid.partition("[")[0]: item for item in items}
        kept = {*first.values(), *last.values()}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def pytest_report_header(config: pytest.Config) -> str:
    import regions
    from regions import _core

    return f"testing regions in {Path(regions.__file__).parent}, core {Path(_core.__file__).name}"


@pytest.fixture(autouse=True)
def _without_saved_divisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no folder has a file of a long division; `test_division.py` asks for them."""
    from regions.counting import division

    monkeypatch.setattr(division, "SHORT", float("inf"))


@pytest.fixture
def in_folder_with_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, with the files that `cli_cases.write_files` writes."""
    from cli_cases import write_files

    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process: exit code, standard output, standard error."""
    from cli_cases import runner

    return runner(capsys)
