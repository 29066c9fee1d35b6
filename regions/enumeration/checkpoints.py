# SPDX-License-Identifier: MIT
"""Where are the results of a job kept, so that it can go on when it was killed?

In a folder of the user's, one file for each task that was finished: a line with the SHA-256 of all that follows, and
JSON; of an enumeration's the JSON is a line, and its arrays follow, little-endian (`subtrees.py`). A file is written
aside and renamed, so it is there whole or not at all. It is named by the job's digest and the task's number:
jobs may share a folder, and a changed network, domain, option or version is another job.
Files are not believed: what has another checksum, or is not in every part what this task's result must be, counts as
not there, and the task is done again. Nothing in a file is executed.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import asdict, fields
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from regions.arithmetic.arguments import path_of
from regions.certificate import LONGER, STAGES, Certificate, make_certificate
from regions.domains import Domain
from regions.enumeration.subtrees import Subtree, problem_of, shapes, sizes_of
from regions.enumeration.tasks import Result, Task, result_of
from regions.errors import NotACheckpointError
from regions.files.replacing import replacing
from regions.printable import printable
from regions.version import __version__

__all__ = ["Folder"]

FORMAT = "relu-regions task 1"
# An item takes some 700 bytes; a part with so many regions that it is larger is done again.
LARGEST = 1 << 32
COUNTERS = {"cells", *STAGES, *LONGER}
LONGEST_WORD = 200
WORDS = {"network", "domain", "domain_fingerprint", "version", "kernel"}


class Folder:
    """Results on the disk.

    Parameters
    ----------
    path : path
        Is made if there is nothing yet.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_of(path, "checkpoint")
        self.path.mkdir(exist_ok=True)

    def require_writable(self) -> None:
        """Refuse a folder that nothing can be written to, by writing: permissions alone do not tell."""
        try:
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self.path)) from None

    def keep(self, result: Result) -> None:
        """Write the result of a task."""
        facts = {"format": FORMAT, "job": result.job, "index": result.index, "total": result.total}
        arrays: list[bytes] = []
        if result.subtree is None:
            facts["found"] = [[n, asdict(each)] for n, each in zip(result.numbers, result.certificates, strict=True)]
        else:
            part = result.subtree
            facts |= {"kernel": part.kernel, "stats": dict(part.stats), "sizes": sizes_of(part.arrays)}
            arrays = [_little(array).tobytes() for array in part.arrays.values()]
        text = json.dumps(facts).encode()
        content = b"".join([text, *([b"\n"] if arrays else []), *arrays])
        with replacing(self._file(result)) as path:
            path.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)

    def has(self, task: Task) -> bool:
        """Whether there is a file of this task, whatever it holds."""
        return self._file(task).is_file()

    def kept(self, task: Task) -> Result | None:
        """The result of a task, if it is there."""
        path = self._file(task)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise NotACheckpointError(
                f"checkpoint: {printable(path, 4096)!r} is a link, or no file, and would be written to; take it away, "
                "or choose another folder"
            )
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        digest, _, content = path.read_bytes().partition(b"\n")
        if digest != hashlib.sha256(content).hexdigest().encode():
            return None
        text, _, rest = content.partition(b"\n")
        try:
            facts = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if task.function == "enumerate":
            return _enumerated(facts, rest, task)
        found = None if rest else _found(facts, task)
        if found is None:
            return None
        numbers, certificates = [number for number, _ in found], [certificate for _, certificate in found]
        return result_of(task, numbers, certificates)

    def _file(self, what: Task | Result) -> Path:
        enumerates = what.function == "enumerate" if isinstance(what, Task) else what.subtree is not None
        return self.path / f"{what.job[:32]}-{what.index}.{'regions' if enumerates else 'json'}"


def _little(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _is_of(facts: Any, task: Task, more: set[str]) -> bool:
    """Whether a file is about this task, and says what else it should say."""
    head = {"format": FORMAT, "job": task.job, "index": task.index, "total": task.total}
    if not isinstance(facts, dict) or facts.keys() != head.keys() | more:
        return False
    return all(type(facts[name]) is type(value) and facts[name] == value for name, value in head.items())


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_WORD and value.isprintable()


def _enumerated(facts: Any, rest: bytes, task: Task) -> Result | None:
    """The result of an enumeration's task, if all that the file says can be right."""
    if not _is_of(facts, task, {"kernel", "stats", "sizes"}) or facts["kernel"] != task.kernel:
        return None
    stats, sizes, names = facts["stats"], facts["sizes"], {"regions", "vertices", "corners", "border", "edges"}
    for numbers, expected in ((stats, COUNTERS), (sizes, names)):
        if not isinstance(numbers, dict) or numbers.keys() != expected or not all(map(_is_number, numbers.values())):
            return None
    ((network, domain),) = task.items
    assert isinstance(domain, Domain)
    arrays: dict[str, Any] = {}
    place = 0
    for name, (kind, shape) in shapes(network, domain, sizes).items():
        dtype = np.dtype(kind).newbyteorder("<")
        size = prod(shape) * dtype.itemsize
        if size > len(rest) - place:
            return None
        arrays[name] = np.ndarray(shape, dtype, rest, place).astype(kind, copy=False)
        place += size
    part = Subtree(task.begin, arrays, stats, facts["kernel"])
    if place != len(rest) or problem_of(part, network, domain) is not None:
        return None
    certificate = make_certificate(network, domain, len(part), task.whole, stats, __version__, part.kernel)
    return result_of(task, [len(part)], [certificate], None, part)


def _found(facts: Any, task: Task) -> list[tuple[int, Certificate]] | None:
    """What a file says about each item, if it is about this task and of the right form in every part."""
    if not _is_of(facts, task, {"found"}):
        return None
    found = facts["found"]
    if not isinstance(found, list) or len(found) != len(task.items):
        return None
    results = []
    for entry, (network, domain) in zip(found, task.items, strict=True):
        if not isinstance(entry, list) or len(entry) != 2 or not _is_number(entry[0]):
            return None
        certificate = _certificate(entry[1])
        if certificate is None or certificate.complete != task.whole or certificate.version != __version__:
            return None
        if task.definition == "activation" and entry[0] != certificate.regions:
            return None
        if entry[0] < task.whole or (task.limit is not None and entry[0] > task.limit):
            return None
        if (certificate.network, certificate.domain_fingerprint) != (network.fingerprint, domain.fingerprint):
            return None
        results.append((entry[0], certificate))
    return results


def _certificate(facts: Any) -> Certificate | None:
    names = {field.name for field in fields(Certificate)}
    if not isinstance(facts, dict) or facts.keys() != names or type(facts["complete"]) is not bool:
        return None
    for name in names - {"complete"}:
        value = facts[name]
        if name not in WORDS and not _is_number(value):
            return None
        if name in WORDS and not _is_word(value):
            return None
    return Certificate(**facts)


def _is_number(value: Any) -> bool:
    """A number of things; more do not come out of any core."""
    return type(value) is int and 0 <= value < 2**63
