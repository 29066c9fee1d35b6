# SPDX-License-Identifier: MIT
"""Which steps do commands have in common?

Reading the model, saying what was understood, naming the file that could not be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from regions import Network, load
from regions.cli.facts import say
from regions.cli.options import loading_options
from regions.errors import AmbiguousCheckpointError, RegionsError

__all__ = ["announce", "load_model", "writing"]


@contextmanager
def writing(output: Path) -> Iterator[None]:
    """Name the file where the system does not, as when a disk is full."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(output)) from error


def load_model() -> Network:
    """Read the model that the command line names, as it says."""
    options = loading_options()
    try:
        return load(**options)
    except AmbiguousCheckpointError as error:
        if "activation" in options or "activation=" not in str(error):
            raise
        raise click.ClickException(f"{error}; on the command line: --activation relu") from error
    except RegionsError:
        raise
    except ValueError as error:  # options that say nothing of use, such as one prefix twice
        raise click.UsageError(str(error)) from error


def announce(network: Network, *domains: object, quiet: bool = False) -> None:
    """Say what was understood, before the work begins.

    If that is impossible, results that go to a file are made all the same: what could not be said stays in the buffer
    of standard output, so that the lines at the end fail too, or bring it along.
    """
    if quiet:
        return
    try:
        for line in (repr(network), *(f"note: {note}" for note in network.notes), *map(repr, domains)):
            say(line)
    except OSError as error:
        if isinstance(error, BrokenPipeError) or not click.get_current_context().params.get("output"):
            raise
