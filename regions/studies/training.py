# SPDX-License-Identifier: MIT
"""How do the regions of a network change during training?

`watch` measures checkpoints one after the other, as they come, so that a generator can train in between and only one of
them is in memory. A `TrainingRecord` is filled by hand in a training loop. Either gives the data of Figs. 5 to 8 of
Hanin and Rolnick (2019).
Invariant: a row describes a checkpoint at the time of its measurement, and any exception carries the finished rows.
Cost: the cost of each row (`training_record.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from numpy.typing import ArrayLike

from regions.domains import Domain
from regions.ground.arithmetic.arguments import shown, tuple_of
from regions.ground.threads.progress import Progress, reporting, share_of
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice
from regions.studies.training_record import TrainingRecord, TrainingRow, step_of

__all__ = ["TrainingRecord", "TrainingRow", "watch"]


def watch(
    checkpoints: Iterable[Any],
    domain: Domain | Iterable[Domain],
    *,
    points: ArrayLike | None = None,
    activation: ActivationChoice = None,
    keep: bool = False,
    steps: Sequence[float] | None = None,
    radius: float | None = None,
    twins: int | None = None,
    progress: Progress = None,
) -> TrainingRecord:
    """Measure a sequence of checkpoints: their regions in a domain, the boundary there, and distances to it.

    Each checkpoint is measured before the next one is requested. So a generator may train one module in place and
    yield it again and again. A list cannot: a module that is in it several times, or its state dicts without a copy
    of the tensors, are several names for the same weights, the final ones. Save files, copy (``copy.deepcopy``),
    write a generator, or fill a `TrainingRecord` in the training loop.

    Parameters
    ----------
    checkpoints : iterable
        Networks, torch modules, state dicts or paths, as `regions.load` takes them.
    domain, points, activation, keep, radius, twins
        As for `TrainingRecord`.
    steps : sequence of numbers, optional
        Names of the checkpoints; by default they are numbered from 0.
    progress : bool or callable, optional
        As for `regions.count`, with the number of regions in the current domain; called after each checkpoint as well.
        The progress fraction is about all checkpoints, or, for a generator without ``steps``, about the current one.

    Returns
    -------
    TrainingRecord

    Raises
    ------
    TypeError, ValueError
        A single checkpoint instead of a sequence; steps that are not finite real numbers, or not as many as
        checkpoints.
    KeyboardInterrupt, Exception
        On Ctrl-C, and for errors of a checkpoint, the generator or ``progress``: ``partial`` is the `TrainingRecord`
        with the finished rows, or None on Ctrl-C before the first checkpoint. The message begins with the number and
        the step of the checkpoint that was being measured.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, Figs. 5 to 8.

    Examples
    --------
    >>> import regions
    >>> nets = [regions.Network([([[1.0], [1.0]], [0.0, b]), ([[1.0, 1.0]], [0.0])]) for b in (0.0, 0.5)]
    >>> table = watch(nets, regions.Segment([-1.0], [1.0]), points=[[-0.25], [0.75]], steps=[10, 20], radius=0.5)
    >>> columns = table.columns()
    >>> columns["regions"], columns["median_size"], columns["distance"], columns["local_complexity"]
    (array([2., 3.]), array([1. , 0.5]), array([0.5, 0.5]), array([1., 1.]))
    >>> print(table.to_csv().splitlines()[1])
    10,2.0,1.0,1.0,0.5,0.25,0.5,0.25,1.0,1.0,1.0,0.0,0.0,2.0
    """
    try:
        single = isinstance(checkpoints, (Network, str, bytes, Mapping)) or hasattr(checkpoints, "state_dict")
        given = None if single else iter(checkpoints)
    except Exception:  # not iterable, or an object that fails when it is asked
        given = None
    if given is None:
        raise TypeError(f"checkpoints must be a sequence of networks, state dicts or paths, got {shown(checkpoints)}")
    names = None if steps is None else [step_of(x, f"steps[{i}]") for i, x in enumerate(tuple_of(steps, "steps"))]
    known = len(checkpoints) if isinstance(checkpoints, Sized) else None
    if names is not None and known is not None and len(names) != known:
        raise ValueError(f"there are {known} checkpoints and {len(names)} steps")
    total = known if names is None else len(names)
    with reporting(progress) as report:
        record = TrainingRecord(domain, points=points, activation=activation, keep=keep, radius=radius, twins=twins)
        try:
            for number, checkpoint in enumerate(given):
                if number == total and names is not None:
                    raise ValueError(f"there are more checkpoints than the {total} steps")
                step = number if names is None else names[number]
                share = report if total is None else share_of(report, number, total)
                try:
                    record.record(step, checkpoint, progress=share)
                except Exception as error:
                    _name_checkpoint(error, f"checkpoint {number} (step {step})")
                    raise
            if names is not None and len(record.rows) < len(names):
                raise ValueError(f"there are {len(record.rows)} checkpoints and {len(names)} steps")
        except BaseException as stopped:
            stopped.partial = record  # type: ignore[attr-defined]
            raise
    return record


def _name_checkpoint(error: Exception, which: str) -> None:
    """Prefix the message of an error with the checkpoint that it is about.

    The error stays the same object, because constructors of error classes differ in their arguments. A message that is
    not plain text is left as it is.
    """
    if isinstance(error, OSError) and error.strerror:
        error.strerror = f"{which}: {error.strerror}"
    elif error.args == (message := str(error),):
        error.args = (f"{which}: {message}",)
