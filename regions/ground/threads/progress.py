# SPDX-License-Identifier: MIT
"""How is progress reported?

Not at all, to the caller's function, or as a bar on standard error, in the terminal or the notebook. Each report has
the progress fraction and the number of regions found. Work in several parts gives each part its fraction of the whole.
Some work first divides the domain, which has a fraction of its own: a bar says so and shows it. For other reports the
fraction stays 0 meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from regions.ground.threads.deadline import check_time, present_end

__all__ = [
    "PATIENCE",
    "Progress",
    "Report",
    "bar",
    "changed",
    "checking",
    "of_division",
    "reporting",
    "require_progress",
    "share_of",
    "watching_time",
]

PATIENCE = 0.05  # seconds between two reports, as in the core
DIVISION = "dividing the domain"

Report = Callable[[float, int], object]
Progress = bool | Report | None


@dataclass(frozen=True)
class _Shown:
    """The report of a bar, which also shows how far the division of the domain is.

    Attributes
    ----------
    work, division : callable
        Reports of the two.
    """

    work: Report
    division: Report

    def __call__(self, share: float, found: int) -> None:
        self.work(share, found)


def of_division(report: Report | None) -> Report | None:
    """Return the report for the division of the domain, before the work itself."""
    if report is None or isinstance(report, _Shown):
        return report and report.division
    return lambda share, found: report(0.0, found)


def share_of(report: Report | None, done: int, total: int) -> Report | None:
    """Return the report function of one part of the work, after ``done`` of ``total`` parts."""
    if report is None:
        return None
    return lambda share, found: report((done + share) / total, found)


def require_progress(progress: object) -> None:
    """Refuse a ``progress`` that is not True, None or a callable."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress must be True, None or a callable, got {type(progress).__name__}; True shows a bar")


@contextmanager
def reporting(progress: Progress) -> Iterator[Report | None]:
    """Yield the function that the core calls: None, the caller's callable, or a bar that is removed at the end.

    If there is a time limit, the function also checks it.
    """
    require_progress(progress)
    try:
        if progress is None or progress is False:
            yield watching_time(None)
        elif progress is not True:
            yield watching_time(progress)
        else:
            with bar() as report:
                yield watching_time(report)
    except KeyboardInterrupt as stopped:
        # If Ctrl-C came just before the core began or after it ended, handlers still look for this attribute.
        if not hasattr(stopped, "partial"):
            stopped.partial = None  # type: ignore[attr-defined]
        raise


def watching_time(report: Report | None) -> Report | None:
    """Return a report that also checks the time, if it is limited."""
    return report if present_end() is None else checking(check_time, report)


def checking(check: Callable[[], object], report: Report | None) -> Report:
    """Return a report that calls a function first, which may raise an exception."""

    def with_check(one: Report) -> Report:
        def checked(share: float, found: int) -> None:
            check()
            one(share, found)

        return checked

    return changed(report or (lambda share, found: None), with_check)


def changed(report: Report, change: Callable[[Report], Report]) -> Report:
    """Return what a function makes of a report; of the report of a bar it changes both parts."""
    return _Shown(change(report.work), change(report.division)) if isinstance(report, _Shown) else change(report)


@contextmanager
def bar() -> Iterator[Report]:
    """Show a bar during the work; yield the function that updates it."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        with _line_in_notebook() as report:
            yield report
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    what, left = TextColumn("{task.description}"), TextColumn("elapsed, left")
    columns = (BarColumn(), TaskProgressColumn(), what, TimeElapsedColumn(), left, TimeRemainingColumn())
    # Progress fractions grow in steps as uneven as the parts: the time left is estimated from the last ten minutes.
    with Progress(*columns, console=console, transient=True, speed_estimate_period=600) as progress:
        division = progress.add_task(DIVISION, total=1.0, visible=False)
        work = progress.add_task("0 regions", total=1.0)

        def show_division(share: float, found: int) -> None:
            progress.update(work, visible=False)
            progress.update(division, visible=True, completed=share)

        def show_work(share: float, found: int) -> None:
            progress.update(division, visible=False)
            progress.update(work, visible=True, completed=share, description=f"{found:,} regions")

        yield _Shown(show_work, show_division)


@contextmanager
def _line_in_notebook() -> Iterator[Report]:
    """Show a line of text below the notebook cell; it needs no widgets."""
    from IPython.display import display

    def text(line: str) -> dict[str, str]:
        return {"text/plain": line}

    shown = display(text(""), raw=True, display_id=True)
    try:
        yield _Shown(
            lambda share, found: shown.update(text(f"{share:.0%}, {found:,} regions"), raw=True),
            lambda share, found: shown.update(text(f"{share:.0%}, {DIVISION}"), raw=True),
        )
    finally:
        shown.update(text(""), raw=True)
