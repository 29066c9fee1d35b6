# SPDX-License-Identifier: MIT
"""Where are the results of a job saved, so that it can go on after it was killed?

They are saved in a folder that the user names, in files of one or more results each. A file begins with a line of JSON:
the job's digest, and the task's number, the length and a SHA-256 for each result. The results follow. Each is a line of
JSON; in an enumeration, little-endian arrays (`blocks.py`) or a second line, with the summary of regions, follow it.
The division of a domain is saved in the same way, as the only result of a job of its own (`division.py`).
A file is written under a temporary name and renamed, so it exists completely or not at all. Its name begins with the
job's digest and ends at random: jobs may share a folder, two processes may do one job, and no other user can guess a
name. A changed network, domain, option or version makes another job.
The folder is read once, when the job begins. Files are not trusted: a result with a wrong checksum, or one that its
task cannot find (`answers.py`), counts as missing, and the task is run again. Links, pipes and files with holes are
skipped. Nothing in a file is executed.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import prod
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from regions.core import Section
from regions.counting.answers import FIELDS, accepted, are_counters, digest_of, enumerated_result, is_count
from regions.counting.blocks import Block, shapes, sizes_named, sizes_of
from regions.counting.tasks import Result, Task, result_of
from regions.domains import Curve
from regions.errors import NotACheckpointError
from regions.files.replacing import remove_abandoned, written_aside
from regions.ground.arithmetic.arguments import path_of
from regions.ground.text.printable import printable
from regions.results.cells.sections import ALL, Place, first_node_of, place_of, section_of
from regions.results.partition.certificate import Certificate

__all__ = ["Folder"]

FORMAT = "relu-regions results 3"
# In this format enumerations of planes had other arrays.
OLD_FORMAT = "relu-regions results 2"
SUFFIX = ".results"
OLD_SUFFIXES = (".json", ".regions")
# The most bytes of a saved result; a task with a larger result is run again.
LARGEST = 1 << 32
# In bytes. A head has about 90 bytes for each of its results; a job has about 300 tasks.
LARGEST_HEAD = 1 << 20
# An item takes about 700 bytes.
LARGEST_ITEM = 1 << 13
# A node takes about 40 bytes.
LARGEST_DIVISION = 1 << 24
# Arrays begin at a multiple of this number of bytes.
ALIGNED = 8
FOUND = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class _Position:
    """The position of a result, according to its file."""

    path: Path
    job: str
    index: int
    begin: int
    length: int
    digest: str


class Folder:
    """Results on the disk.

    Parameters
    ----------
    path : path
        Is made if it does not exist.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_of(path, "checkpoint")
        try:
            self.path.mkdir(exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise FileExistsError(
                f"checkpoint: {self.path} cannot be a folder, because a file has its name, or that of a folder above; "
                "give a folder, or a new name"
            ) from None
        except FileNotFoundError:
            above = self.path.parent
            raise FileNotFoundError(f"checkpoint: the folder {above} does not exist; make it first") from None
        self._positions: dict[tuple[str, int], list[_Position]] = defaultdict(list)

    def look_for(self, job: str, total: int) -> None:
        """Find the results of a job in the folder; its tasks have numbers below ``total``.

        Raises
        ------
        NotACheckpointError
            The folder has such results in the layout of an earlier version.
        """
        start = f"{job[:32]}-"
        with os.scandir(self.path) as entries:
            names = sorted(each.name for each in entries if each.name.startswith(start))
        for path in (self.path / name for name in names):
            if path.suffix == SUFFIX:
                self._note(path, job, total)
            elif path.suffix in OLD_SUFFIXES:
                _refuse_old(path)

    def _note(self, path: Path, job: str, total: int) -> None:
        """Note the positions of the results in a file of this job; ignore other files."""
        with _opened(path) as file:
            head = b"" if file is None else file.readline(LARGEST_HEAD)
        if head.startswith(json.dumps({"format": OLD_FORMAT})[:-1].encode()):
            _refuse_old(path)
        for index, position in _positions(head, path, job, total):
            self._positions[job, index].append(position)

    def require_writable(self) -> None:
        """Refuse a folder that cannot be written to. This writes a file, because permissions alone can mislead."""
        try:
            with tempfile.TemporaryFile(dir=self.path):
                pass
            remove_abandoned(self.path)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self.path)) from None

    def save(self, results: Sequence[Result]) -> None:
        """Write results of one job to a new file."""
        self._write(results[0].job, results[0].total, {result.index: _content(result) for result in results})

    def _write(self, job: str, total: int, contents: dict[int, list[Any]]) -> None:
        entries: list[tuple[int, int, str]] = [
            (index, sum(map(len, content)), digest_of(job, index, content)) for index, content in contents.items()
        ]
        facts = {"format": FORMAT, "job": job, "total": total, "results": entries}
        head = json.dumps(facts).encode() + b"\n"
        path = self.path / f"{job[:32]}-{secrets.token_hex(8)}{SUFFIX}"
        with written_aside(path) as temporary, temporary.open("wb") as file:
            file.write(head)
            for content in contents.values():
                file.writelines(content)
        begin = len(head)
        for index, length, digest in entries:
            self._positions[job, index].append(_Position(path, job, index, begin, length, digest))
            begin += length

    def has(self, task: Task) -> bool:
        """Return whether a file claims to have the result of this task."""
        return bool(self._positions[task.job, task.index])

    def saved(self, task: Task) -> Result | None:
        """Return the saved result of a task, or None."""
        for content in self._contents(task.job, task.index):
            if (found := _found(content, task)) is not None:
                return found
        return None

    def saved_nodes(self, job: str, items: int) -> list[list[Place]] | None:
        """Return the nodes that divide each item, as `save_nodes` saved them, or None."""
        self.look_for(job, 1)
        for content in self._contents(job, 0):
            if len(content) <= LARGEST_DIVISION and (found := _nodes(_parsed(content), items)) is not None:
                return found
        return None

    def save_nodes(self, job: str, nodes: list[list[Place]]) -> None:
        """Write the nodes that divide each item to a new file."""
        self._write(job, 1, {0: [json.dumps(nodes).encode() + b"\n"]})

    def _contents(self, job: str, index: int) -> Iterator[bytes]:
        """Yield the contents with this position in a job that have the right checksum."""
        for position in self._positions[job, index]:
            content = _read(position)
            if content is not None:
                yield content


def _refuse_old(path: Path) -> None:
    """Refuse a file of this job that an earlier version wrote. Another user's file is skipped, as it may be a trap."""
    if path.lstat().st_uid == os.geteuid():
        raise NotACheckpointError(
            f"checkpoint: {printable(path, 4096)!r} was written by an earlier version, in a layout that is no "
            "longer read; choose another folder"
        )


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | None]:
    """Open an ordinary file without holes, which could turn four kilobytes into gigabytes of zeros; else yield None."""
    try:
        handle = os.open(path, FOUND)
    except OSError:
        yield None
        return
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and not _has_holes(handle, status.st_size):
            with open(handle, "rb", closefd=False) as file:
                yield file
        else:
            yield None
    finally:
        os.close(handle)


def _has_holes(handle: int, size: int) -> bool:
    if not size or not hasattr(os, "SEEK_HOLE"):
        return False
    try:
        return os.lseek(handle, 0, os.SEEK_HOLE) < size
    except OSError:  # some file systems do not support this
        return False
    finally:
        os.lseek(handle, 0, os.SEEK_SET)


def _positions(head: bytes, path: Path, job: str, total: int) -> list[tuple[int, _Position]]:
    """Return the positions of results that the first line of a file states; none if it belongs to another job."""
    facts = _parsed(head)
    expected = {"format": FORMAT, "job": job, "total": total}
    if not isinstance(facts, dict) or facts.keys() != expected.keys() | {"results"}:
        return []
    if any(type(facts[name]) is not type(value) or facts[name] != value for name, value in expected.items()):
        return []
    entries, found, begin = facts["results"], [], len(head)
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, list) or [type(each) for each in entry] != [int, int, str]:
            return []
        index, length, digest = entry
        if not 0 <= index < total or not 0 <= length <= LARGEST:
            return []
        found.append((index, _Position(path, job, index, begin, length, digest)))
        begin += length
    return found


def _read(position: _Position) -> bytes | None:
    """Return the bytes at a position if their checksum is right, else None."""
    with _opened(position.path) as file:
        if file is None or os.fstat(file.fileno()).st_size < position.begin + position.length:
            return None
        file.seek(position.begin)
        content = file.read(position.length)
    return content if digest_of(position.job, position.index, [content]) == position.digest else None


def _content(result: Result) -> list[Any]:
    """Return a result in the form of the file, in parts."""
    part = result.block
    if part is None:
        found = [[number, asdict(each)] for number, each in zip(result.numbers, result.certificates, strict=True)]
        summary = b"" if result.summary is None else json.dumps(result.summary).encode() + b"\n"
        return [json.dumps(found).encode() + b"\n", summary]
    facts = {"kernel": part.kernel, "section": part.section, "stats": dict(part.stats), "sizes": sizes_of(part.arrays)}
    text = json.dumps(facts).encode()
    return [text + b" " * (-(len(text) + 1) % ALIGNED) + b"\n", *map(_little, part.arrays.values())]


def _little(array: np.ndarray[Any, Any]) -> memoryview:
    """Return the little-endian bytes of an array, without a copy where possible."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8).data


def _parsed(text: bytes) -> Any:
    """Return the parsed JSON, or None if it is not valid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _nodes(given: Any, items: int) -> list[list[Place]] | None:
    """Return the nodes that divide each item if their sections can have all regions, else None."""
    try:
        nodes = [[place_of(node, "node") for node in each] for each in given]
    except (TypeError, ValueError):
        return None
    firsts = [[first_node_of(node) for node in each] for each in nodes]
    ascending = all(one < other for each in firsts for one, other in pairwise(each))
    return nodes if len(nodes) == items and all(each[:1] == [()] for each in firsts) and ascending else None


def _found(content: bytes, task: Task) -> Result | None:
    """Return the result of a task that this content holds, or None if the task cannot find it."""
    size = content.find(b"\n", 0, LARGEST_ITEM * (1 + len(task.items))) + 1
    facts = _parsed(content[:size])
    found = (_enumerated if task.function == "enumerate" else _counted)(facts, content, size, task)
    return accepted(found, task)


def _counted(facts: Any, content: bytes, size: int, task: Task) -> Result | None:
    summary = _parsed(content[size:]) if task.function == "summarize" else None
    if not isinstance(facts, list) or (summary is None and size != len(content)):
        return None
    if not all(isinstance(entry, list) and len(entry) == 2 for entry in facts):
        return None
    if not all(isinstance(each, dict) and each.keys() == set(FIELDS) for _, each in facts):
        return None
    numbers, certificates = [number for number, _ in facts], [Certificate(**each) for _, each in facts]
    return result_of(task, numbers, certificates, summary=summary)


def _enumerated(facts: Any, content: bytes, size: int, task: Task) -> Result | None:
    if not isinstance(facts, dict) or facts.keys() != {"kernel", "section", "stats", "sizes"}:
        return None
    stats, sizes = facts["stats"], facts["sizes"]
    if not are_counters(stats) or not isinstance(sizes, dict) or not all(map(is_count, sizes.values())):
        return None
    ((network, domain),) = task.items
    assert not isinstance(domain, Curve)
    if sizes.keys() != sizes_named(domain) or facts["kernel"] != task.kernel:
        return None
    arrays: dict[str, Any] = {}
    for name, (kind, shape) in shapes(network, domain, sizes).items():
        dtype = np.dtype(kind).newbyteorder("<")
        length = prod(shape) * dtype.itemsize
        if length > len(content) - size:
            return None
        arrays[name] = np.ndarray(shape, dtype, content, size).astype(kind, copy=False)
        size += length
    if size != len(content):
        return None
    try:
        begin, end = section_of(facts["section"]) or ALL
    except (TypeError, ValueError):
        return None
    return enumerated_result(task, Block(Section(begin, end), arrays, stats, facts["kernel"]))
