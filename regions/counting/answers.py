# SPDX-License-Identifier: MIT
"""Can this be the result of a task?

A result comes from a file or from an executor, and neither is trusted. Both have a checksum (`digest_of`), which finds
damage: a file has it in its head, and a worker puts its result into a `Sealed` before the executor sends it. A checksum
can be forged. Therefore both also go through `accepted`, before anything uses their content. An answer is accepted if
it belongs to the task and each part has the form that the rest of the package relies on: no index is out of range, no
number is negative. Whether the numbers are right is not judged here; `regions.certify` does that.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from regions.counting.blocks import Block, problem_of
from regions.counting.stream_summary import StreamSummary
from regions.counting.tasks import Result, Task, identity, result_of
from regions.domains import Curve
from regions.errors import LimitReached
from regions.results.cells.sections import section_of
from regions.results.partition.certificate import LONGER, STAGES, Certificate, make_certificate
from regions.version import __version__

__all__ = [
    "Sealed",
    "accepted",
    "are_counters",
    "digest_of",
    "enumerated_result",
    "is_certificate",
    "is_count",
    "run_sealed",
    "unsealed",
]

COUNTERS = {"cells", *STAGES, *LONGER}
WORDS = {"network", "domain", "domain_fingerprint", "version", "kernel"}
LONGEST_WORD = 200
FIELDS = [field.name for field in fields(Certificate)]


@dataclass(frozen=True)
class Sealed:
    """The answer of a worker.

    Attributes
    ----------
    content : bytes
        The pickled result.
    digest : str
        SHA-256 of the content and the place in the job, as `digest_of` returns it.
    """

    content: bytes
    digest: str


def run_sealed(work: Callable[[Task], Result], task: Task) -> Sealed:
    """Do a task in a worker, and add a checksum to its result."""
    content = pickle.dumps(work(task), pickle.HIGHEST_PROTOCOL)
    return Sealed(content, digest_of(task.job, task.index, [content]))


def unsealed(answer: Any, task: Task) -> Result | None:
    """Return the result of a task if a worker sealed it and nothing has changed since, else None.

    The content is unpickled only if it has the checksum. A forged checksum is possible for those who run the workers,
    and they can also send the executor a pickle of their own.
    """
    if type(answer) is not Sealed:
        return None
    try:
        if digest_of(task.job, task.index, [answer.content]) != answer.digest:
            return None
        return accepted(pickle.loads(answer.content), task)
    except Exception:  # attributes are missing or of another type; or a forged content does not unpickle
        return None


def digest_of(job: str, index: int, content: Iterable[Any]) -> str:
    """Return the SHA-256 of a result with its place in the job, so that it cannot be taken for another result.

    Parameters
    ----------
    job, index
        As in a `Task`.
    content : iterable of bytes-like
        The result, in parts.
    """
    digest = hashlib.sha256(f"{job} {index}\n".encode())
    for each in content:
        digest.update(each)
    return digest.hexdigest()


def accepted(answer: Any, task: Task) -> Result | None:
    """Return the result of a task if the answer is one, else None.

    Parameters
    ----------
    answer : object
        A `Result` of this task, or anything else.
    task : Task

    Returns
    -------
    Result or None
        It has the numbers and regions of the answer; everything that the task determines is taken from the task.
    """
    if not isinstance(answer, Result):
        return None
    try:
        return _accepted(answer, task)
    except (AttributeError, TypeError, ValueError):  # attributes are missing, or cannot be compared
        return None


def _accepted(answer: Result, task: Task) -> Result | None:
    if identity(answer) != identity(task):
        return None
    if not _is_error(answer.error, task):
        return None
    if task.function == "enumerate":
        return _accepted_enumeration(answer, task)
    numbers, certificates, summary = answer.numbers, answer.certificates, answer.summary
    if not isinstance(numbers, list) or not isinstance(certificates, list) or answer.block is not None:
        return None
    if (summary is not None) is not (task.function == "summarize" and answer.error is None):
        return None
    # An item that fails is the last one.
    complete = answer.error is None
    if len(numbers) != len(certificates) or not (
        len(numbers) == len(task.items) if complete else len(numbers) < len(task.items)
    ):
        return None
    for place, (number, certificate) in enumerate(zip(numbers, certificates, strict=True)):
        if not _is_of_item(number, certificate, task, place):
            return None
    if summary is not None and not _is_summary(summary, numbers, task):
        return None
    return result_of(task, numbers, certificates, answer.error, summary=summary)


def _is_summary(state: Any, numbers: list[int], task: Task) -> bool:
    """Whether this is the state of a summary of the regions of a task, or of its first block."""
    ((network, domain),) = task.items
    assert not isinstance(domain, Curve)
    summary = StreamSummary(network, domain, state)
    return [summary.regions] == numbers and _is_of_task(summary.section, task)


def _accepted_enumeration(answer: Result, task: Task) -> Result | None:
    part, error = answer.block, answer.error
    ((network, domain),) = task.items
    assert not isinstance(domain, Curve)
    if part is None:
        return None if error is None else result_of(task, [], [], error)
    if not isinstance(part, Block) or not _is_of_task(part.section, task) or part.kernel != task.kernel:
        return None
    if part.complete is not (error is None) or not are_counters(part.stats) or not isinstance(part.arrays, Mapping):
        return None
    if problem_of(part, network, domain) is not None:
        return None
    return enumerated_result(task, part, error)


def _is_of_task(section: Any, task: Task) -> bool:
    """Whether this is the section of a task or, if only its first block is wanted, begins it."""
    begin, end = section_of(section) or (None, None)
    last = end is not None and (task.end is None or end < task.end)
    return begin == task.begin and (end == task.end or (task.most is not None and last))


def enumerated_result(task: Task, part: Block, error: Exception | None = None) -> Result:
    """Return the result of an enumeration's task that found this part."""
    if error is not None:
        return result_of(task, [], [], error, part)
    ((network, domain),) = task.items
    certificate = make_certificate(network, domain, len(part), task.whole, part.stats, __version__, part.kernel)
    return result_of(task, [len(part)], [certificate], None, part)


def _is_error(error: Any, task: Task) -> bool:
    """Whether a task can end with this error, or without one (None); a partial number of regions must be above the
    limit.
    """
    if isinstance(error, LimitReached):
        return task.limit is not None and is_count(error.partial) and error.partial > task.limit
    return error is None or isinstance(error, Exception)


def _is_of_item(number: Any, certificate: Any, task: Task, place: int) -> bool:
    """Whether this can be the number of regions of one item of a task, with its certificate."""
    if not is_count(number) or not isinstance(certificate, Certificate) or not is_certificate(certificate):
        return False
    if certificate.complete is not task.whole or certificate.version != __version__:
        return False
    if number < task.whole or (task.limit is not None and number > task.limit):
        return False
    if task.definition == "activation" and number != certificate.regions:
        return False
    network, domain = task.items[place]
    return (certificate.network, certificate.domain_fingerprint) == (network.fingerprint, domain.fingerprint)


def is_certificate(certificate: Certificate) -> bool:
    """Whether all parts of a certificate have the types and ranges that they must have."""
    for name in FIELDS:
        value = getattr(certificate, name)
        if name in WORDS:
            right = isinstance(value, str) and len(value) <= LONGEST_WORD and value.isprintable()
        else:
            right = isinstance(value, bool) if name == "complete" else is_count(value)
        if not right:
            return False
    return True


def are_counters(stats: Any) -> bool:
    """Whether these are the counters of the core."""
    return isinstance(stats, Mapping) and stats.keys() == COUNTERS and all(map(is_count, stats.values()))


def is_count(value: Any) -> bool:
    """Whether this is an int that the core can return as a count."""
    return type(value) is int and 0 <= value < 2**63
