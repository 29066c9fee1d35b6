# SPDX-License-Identifier: MIT
"""How far is the work? A bar in the terminal or notebook, on standard error, gone when the work is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

__all__ = ["bar"]


@contextmanager
def bar() -> Iterator[Callable[[float, int], None]]:
    """Show a bar; gives the function to call with the share that is done and the number of regions."""
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[found]:,} regions"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0, found=0)

        def report(share: float, found: int) -> None:
            progress.update(task, completed=share, found=found)

        yield report
