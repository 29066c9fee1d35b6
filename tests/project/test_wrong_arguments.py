# SPDX-License-Identifier: MIT
"""What happens when a public function gets a wrong argument?

Every public callable is called with one good list of arguments, and then with each argument replaced in turn by wrong
values. Either the result is right (`TAKEN` says which values count as right, by kind of parameter), or the error is a
`TypeError`, a `ValueError` or one of the package's, raised by a ``raise`` in the package, with a message on one line
that names the parameter or what it means.
Values alternate: each parameter gets every fifth value, and each value is tried on a fifth of the parameters, because
most checks are shared.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import regions
from kinds_of_parameters import FILES, MEANINGS, OWN_FUNCTIONS, TAKEN
from one_call import Call
from public_callables import CALLS
from public_names import MODULES, public
from regions.errors import RegionsError
from wrong_values import WRONG

PACKAGE = os.path.dirname(regions.__file__) + os.sep
DOCS = Path(__file__).parent.parent.parent / "docs"
# Seconds of processor time after which a call counts as hanging; the slowest takes some hundredths.
HANGS = 20
# Of the wrong values each parameter is given every fifth, or all of them: REGIONS_WRONG_VALUES=1.
EVERY = int(os.environ.get("REGIONS_WRONG_VALUES", "5"))


def test_every_public_callable_is_registered() -> None:
    registered = {call.name for call in CALLS}
    missing = {name for name, *_ in public() if not any(f".{one}".endswith(f".{name}") for one in registered)}
    assert not missing


def test_every_parameter_is_registered() -> None:
    for call in CALLS:
        parameters = {name for name, each in call.signature.parameters.items() if each.kind != each.VAR_KEYWORD}
        assert parameters == set(call.arguments), call.name
        assert {call.kind(name) for name in parameters} <= set(TAKEN), call.name


def test_every_module_of_the_docs_is_looked_at() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (*DOCS.glob("*.md"), DOCS.parent / "README.md")]
    named = {name for text in texts for name in re.findall(r"(?:from|`)\s*regions\.([a-z_]+)\b", text)}
    modules = {name for name in named if (Path(PACKAGE) / name).is_dir() or (Path(PACKAGE) / f"{name}.py").is_file()}
    functions = {"read", "plot", "results"}  # `plot` is a function; a function of `read` is registered
    elsewhere = {"torch"}  # tests/studies/test_torch_regularization.py, where torch is installed
    assert modules - functions - elsewhere <= {*MODULES, "checking", "certification"}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_good_arguments(call: Call) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call.run({})


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_wrong_arguments(call: Call, in_empty_folder: None) -> None:
    faults = []
    for parameter in call.arguments:
        # Each parameter has its own share of the values, whatever else is registered.
        first = crc32(f"{call.name} {parameter}".encode()) % EVERY
        for label in list(WRONG)[first::EVERY]:
            if call.kind(parameter) != "untried":
                faults += [f"{call.name}({parameter}={label}): {fault}" for fault in _faults(call, parameter, label)]
    assert not faults, "\n".join(faults)


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)

    def hang(*_: object) -> None:
        raise TimeoutError(f"more than {HANGS} seconds")

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    before = signal.signal(signal.SIGPROF, hang)
    signal.setitimer(signal.ITIMER_PROF, HANGS)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def _faults(call: Call, parameter: str, label: str) -> Iterator[str]:
    """Yield the faults in the handling of one wrong value."""
    kind = call.kind(parameter)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = call.run({parameter: WRONG[label]()})
    except Exception as error:
        yield from _faults_of_error(error, kind, parameter, label)
    else:
        if label not in TAKEN[kind]:
            yield "taken as if it were right"
        if _has_nan(result):
            yield f"nan in {result!r}"


def _faults_of_error(error: Exception, kind: str, parameter: str, label: str) -> Iterator[str]:
    if label in OWN_FUNCTIONS.get(kind, ()):
        return
    shown = f"{type(error).__name__}: {str(error)[:200]}"
    if isinstance(error, OSError) and not isinstance(error, RegionsError):
        if kind not in FILES:
            yield shown
        return
    expected = (TypeError, ValueError, RegionsError)
    if kind in ("key", "indices"):  # as of any sequence
        expected = (*expected, IndexError)
    if not isinstance(error, expected):
        yield shown
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not last.filename.startswith(PACKAGE) or not (last.line or "raise").startswith("raise"):
        yield f"raised in {last.filename}, line {last.lineno}, by {last.line!r}: {shown}"
    if not str(error).isprintable() or len(str(error)) > (6000 if kind in FILES else 500):
        yield f"not fit to print: {shown!r}"
    if not any(word in str(error) for word in (parameter, *MEANINGS.get(kind, ()))):
        yield f"does not say which argument: {shown}"


def _has_nan(value: Any, depth: int = 0) -> bool:
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, (list, tuple)) and depth < 3 and any(_has_nan(each, depth + 1) for each in value)


def test_a_path_is_never_the_number_of_an_open_file(tmp_path: Path) -> None:
    """`open` takes file descriptors and closes them: `record.to_csv(1)` once closed standard output."""
    record = regions.TrainingRecord(regions.Segment([0.0], [1.0]))
    partition = regions.enumerate(regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])]), regions.Segment([-1.0], [1.0]))
    with (tmp_path / "open").open("w") as file:
        for call in (record.to_csv, partition.save, regions.load_partition, regions.load_points):
            with pytest.raises(TypeError, match="path must be a str or a path"):
                call(file.fileno())
        file.write("still open")


def test_messages_do_not_depend_on_what_objects_say_about_themselves() -> None:
    from regions.ground.arithmetic.arguments import shown

    endless: list[Any] = []
    endless.append(endless)
    nested: list[Any] = []
    for _ in range(2 * sys.getrecursionlimit()):
        nested = [nested]
    for value in (endless, nested, 10**5000, "\x1b[2J\n" * 1000, np.zeros((100, 100)), WRONG["hostile object"]()):
        assert len(shown(value)) <= 120 and shown(value).isprintable()


def test_words_are_words() -> None:
    """Arrays are compared entry by entry, so an array in the place of a word once raised an unrelated error."""
    network = regions.Network([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    for word in (np.array(["activation", "open"]), np.array([]), ["activation"]):
        with pytest.raises(ValueError, match="definition must be one of"):
            regions.count(network, regions.Segment([-1.0], [1.0]), word)  # type: ignore[call-overload]
