# SPDX-License-Identifier: MIT
"""Where are the results of a job kept, so that it can go on when it was killed?

In a folder of the user's, one small file for each task that was finished: a line with the SHA-256 of all that follows,
and JSON. A file is written aside and renamed, so it is there whole or not at all. It is named by the job's digest and
the task's number: jobs may share a folder, and a changed network, domain, option or version is another job.
Files are not believed: what has another checksum, or is not in every part what this task's result must be, counts as
not there, and the task is done again. Nothing in a file is executed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

from regions.arithmetic.arguments import path_of
from regions.certificate import Certificate
from regions.enumeration.tasks import Result, Task, result_of
from regions.files.replacing import replacing

__all__ = ["Folder"]

FORMAT = "relu-regions task 1"
# An item takes some 700 bytes.
LARGEST = 1 << 30
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

    def keep(self, result: Result) -> None:
        """Write the result of a task."""
        found = [[number, asdict(each)] for number, each in zip(result.numbers, result.certificates, strict=True)]
        facts = {"format": FORMAT, "job": result.job, "index": result.index, "total": result.total, "found": found}
        text = json.dumps(facts).encode()
        with replacing(self._file(result)) as path:
            path.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)

    def kept(self, task: Task) -> Result | None:
        """The result of a task, if it is there."""
        path = self._file(task)
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        digest, _, text = path.read_bytes().partition(b"\n")
        if digest != hashlib.sha256(text).hexdigest().encode():
            return None
        try:
            facts = json.loads(text)
        except (ValueError, RecursionError):
            return None
        found = _found(facts, task)
        if found is None:
            return None
        numbers, certificates = [number for number, _ in found], [certificate for _, certificate in found]
        return result_of(task, numbers, certificates)

    def _file(self, what: Task | Result) -> Path:
        return self.path / f"{what.job[:32]}-{what.index}.json"


def _found(facts: Any, task: Task) -> list[tuple[int, Certificate]] | None:
    """What a file says about each item, if it is about this task and of the right form in every part."""
    head = {"format": FORMAT, "job": task.job, "index": task.index, "total": task.total}
    if not isinstance(facts, dict) or facts.keys() != head.keys() | {"found"}:
        return None
    if any(facts[name] != value for name, value in head.items()):
        return None
    found = facts["found"]
    if not isinstance(found, list) or len(found) != len(task.items):
        return None
    results = []
    for entry, (network, domain) in zip(found, task.items, strict=True):
        if not isinstance(entry, list) or len(entry) != 2 or not _is_number(entry[0]):
            return None
        certificate = _certificate(entry[1])
        if certificate is None or certificate.complete != task.whole:
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
        if name in WORDS and not (isinstance(value, str) and len(value) <= LONGEST_WORD and value.isprintable()):
            return None
    return Certificate(**facts)


def _is_number(value: Any) -> bool:
    """A number of things; more do not come out of any core."""
    return type(value) is int and 0 <= value < 2**63
