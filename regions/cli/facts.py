# SPDX-License-Identifier: MIT
"""What does the command line print?

It prints tables for people, or one JSON object with the same facts for programs. Sizes are in input space. JSON has no
infinity: a size that no double holds is null there, and a ``note`` says why.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from regions import Box, Domain, Network
from regions.cli import stops
from regions.cli.job import Outcome
from regions.cli.options import STANDARD_OUTPUT, VERBOSE
from regions.domains.curves import Curve
from regions.domains.shape import SHAPES
from regions.errors import RegionsError
from regions.ground.text.tables import plain
from regions.measures import ExtremeRegion, StreamSummary
from regions.networks.described import architecture, layer_facts

__all__ = [
    "announce",
    "file_to_write",
    "network_facts",
    "outcome_facts",
    "print_network",
    "print_outcome",
    "print_outcomes",
    "print_rows",
    "say",
    "say_certified",
    "say_stopped",
    "say_time",
    "say_written",
    "seconds_in_words",
    "words_of",
    "writing",
]

BEYOND = "beyond the largest double"
# Columns of text that is not for a terminal.
WIDEST = 10_000
# Largest relative error of a number with six digits.
ROUNDED = 5e-6
FOUND = {
    "complete": ", proved",
    "limit": " found before the limit stopped it",
    "timeout": " found before the timeout stopped it",
    "interrupted": " found until it was stopped",
}


@contextmanager
def writing(output: str) -> Iterator[None]:
    """Add the name of the output to errors of the system that lack it, as when a disk is full."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader is gone
    except OSError as error:
        raise OSError(error.errno, error.strerror, output) from error


@contextmanager
def file_to_write(output: Path, suffix: str) -> Iterator[Path]:
    """Yield the file to write to; for standard output a temporary one, with this suffix, that is copied there.

    A signal does not end the writing, but a second Ctrl-C does.
    """
    name = "standard output" if output == STANDARD_OUTPUT else str(output)

    def say_why_it_goes_on() -> None:
        with suppress(OSError):  # the terminal may be gone
            click.echo(f"Stopping once {name} is written. Press Ctrl-C again to stop without it.", err=True)

    with stops.held(say_why_it_goes_on), writing(name):
        if output != STANDARD_OUTPUT:
            yield output
            return
        with TemporaryDirectory() as folder:
            file = Path(folder, f"output{suffix}")
            yield file
            sys.stdout.buffer.write(file.read_bytes())


def say(text: str = "") -> None:
    """Print a line; if that fails, name standard output in the error, like any other file.

    If a file is written to standard output, the line goes to standard error.
    """
    to_error = _to_error()
    with writing("standard error" if to_error else "standard output"):
        click.echo(text, err=to_error)


def _to_error() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and context.params.get("output") == STANDARD_OUTPUT


def words_of(error: RegionsError | OSError) -> str:
    """Return what a user error says: the first sentence as the first line, all further sentences indented below it."""
    if isinstance(error, OSError):
        return (f"{error.filename}: " if error.filename else "") + str(error.strerror or error)
    return re.sub(r"\. (?=[A-Z])", ".\n  ", " ".join(str(error).split()))


def say_written(output: Path | None, as_json: bool) -> None:
    """Say which file was written, after all tables."""
    if output and output != STANDARD_OUTPUT and not as_json:
        say(f"wrote {output}")


def say_certified(path: Path | None, what: str, checker: str) -> None:
    """Say which certificate was written, and how to check it: with the module ``checker``."""
    if path is not None:
        say(f"wrote {path}: {what}, with the network and the domain; check it: python -m regions.{checker} {path}")


def announce(network: Network, *domains: object, quiet: bool = False) -> None:
    """Print what was understood, before the work begins.

    If printing fails, results that go to a file are still computed. The text stays in the buffer of standard output,
    so that the lines at the end either fail too or print this text as well.
    """
    if quiet:
        return
    try:
        for line in (repr(network), *(f"note: {note}" for note in network.notes), *map(repr, domains)):
            say(line)
    except OSError as error:
        if isinstance(error, BrokenPipeError) or not click.get_current_context().params.get("output"):
            raise


def say_stopped(checkpoint: Path | None, pieces: tuple[int, int] | None = (0, 0)) -> None:
    """Say what is kept after a signal; on standard error, because standard output may be JSON.

    ``pieces`` are the numbers of saved pieces and of all pieces; (0, 0) if the folder has not been read, and None if
    all are saved.
    """
    if checkpoint is None:
        click.echo("Stopped.", err=True)
        return
    saved, total = pieces or (0, 0)
    kept = f"{saved:,} of {total:,} piece{'s' * (total != 1)} of the work" if total else "all pieces of the work"
    kept = "the work that was finished before" if pieces == (0, 0) else kept
    click.echo(f"Stopped. {checkpoint} keeps {kept}: the same command resumes from there.", err=True)


def network_facts(network: Network) -> dict[str, Any]:
    """Return the facts about a network, for JSON."""
    return {
        "inputs": network.n_in,
        "outputs": network.n_out,
        "hidden_neurons": network.hidden,
        "pattern_bits": network.kinks,
        "layers": [
            {"inputs": layer.inputs, "units": layer.units, "activation": layer.activation}
            for layer in layer_facts(network.graph)
        ],
        "notes": list(network.notes),
        "fingerprint": network.fingerprint,
    }


def domain_facts(domain: Domain | Box | Curve) -> dict[str, Any]:
    """Return the facts about a domain or a curve, for JSON."""
    return {
        "kind": type(domain).__name__.lower(),
        "dimension": domain.dimension,
        "inputs": domain.n_in,
        **({} if isinstance(domain, Curve) else {SHAPES[domain.dimension].size: plain(domain.volume)}),
        "fingerprint": domain.fingerprint,
    }


def outcome_facts(outcome: Outcome) -> dict[str, Any]:
    """Return the results, for JSON."""
    facts: dict[str, Any] = {
        "regions": outcome.regions,
        "definition": outcome.definition,
        "end": outcome.end,
        "seconds": outcome.seconds,
        "network": network_facts(outcome.network),
        "domain": domain_facts(outcome.domain),
        "certificate": outcome.certificate.as_dict(),
    }
    shown = [] if isinstance(outcome.domain, Curve) else [outcome.domain.volume]
    if outcome.summary is not None:
        shape = SHAPES[outcome.domain.dimension]
        sizes, layers = _sizes(outcome.summary), list(_layers(outcome.summary))
        facts[shape.size] = {name: plain(value) for name, value in sizes.items()}
        facts["facets_by_layer"] = [
            {"layer": layer, "neurons": neurons, "facets": facets}
            | ({shape.facet_size: plain(length)} if shape.facet_size else {})
            for layer, neurons, facets, length in layers
        ]
        shown += [*sizes.values(), *(length for *_, length in layers)]
    if not all(map(math.isfinite, shown)):
        facts["note"] = _why_null(outcome)
    return facts


def print_network(network: Network) -> None:
    """Print the layers of a network as a table."""
    table = _table("layer", "inputs", "units", "activation", "pattern bits", text=("activation",))
    *hidden, output = layer_facts(network.graph)
    for index, layer in enumerate(hidden, start=1):
        table.add_row(str(index), f"{layer.inputs:,}", f"{layer.units:,}", layer.activation, f"{layer.kinks:,}")
    table.add_row("output", f"{output.inputs:,}", f"{output.units:,}", "", "")
    _print(table)


def print_outcome(outcome: Outcome) -> None:
    """Print the results, as tables."""
    summary = outcome.summary
    sense = "" if outcome.definition == "activation" else f" ({outcome.definition})"
    what = "pieces" if isinstance(outcome.domain, Curve) else "regions"
    rows = [(what, f"{outcome.regions:,}{sense}{FOUND[outcome.end]}")]
    if summary is not None:
        sizes = {name: _size(value, outcome.domain) for name, value in _sizes(summary).items()}
        rows.append((SHAPES[outcome.domain.dimension].size, sizes["total"]))
        if summary.smallest is not None:
            rows.append(("smallest region", sizes["smallest"] + _doubt(summary.smallest)))
            rows.append(("largest region", sizes["largest"]))
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(VERBOSE):
        rows.append(("signs proved", outcome.certificate.signs))
    rows.append(
        ("time", f"{seconds_in_words(outcome.seconds)}, {outcome.regions / max(outcome.seconds, 1e-9):,.0f} {what}/s")
    )
    table = Table.grid(padding=(0, 3))
    for row in rows:
        table.add_row(*row)
    say()
    _print(table)
    if summary is not None:
        _print(_layer_table(summary))


def print_rows(names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column is text, and the others are numbers."""
    table = _table(*names, text=names[:1])
    for row in rows:
        table.add_row(*row)
    _print(table)


def print_outcomes(found: Sequence[tuple[str, Outcome]]) -> None:
    """Print the results for several models as one table."""
    what = "pieces" if isinstance(found[0][1].domain, Curve) else "regions"
    table = _table("file", "network", what, "", "time", text=("file", "network", ""))
    for source, outcome in found:
        count, end = f"{outcome.regions:,}", FOUND[outcome.end].strip(", ")
        table.add_row(source, architecture(outcome.network.graph), count, end, seconds_in_words(outcome.seconds))
    _print(table)


def _layer_table(summary: StreamSummary) -> Table:
    shape = SHAPES[summary.domain.dimension]
    table = _table(
        "layer", "neurons", shape.facets, *([f"{shape.facet_size} of {shape.facets}"] * bool(shape.facet_size))
    )
    for layer, neurons, count, length in _layers(summary):
        row = (str(layer), f"{neurons:,}", f"{count:,}", _size(length, summary.domain))
        table.add_row(*row[: len(table.columns)])
    return table


def _layers(summary: StreamSummary) -> Iterable[tuple[int, int, int, float]]:
    """Yield for each hidden layer its number from 1, its neurons, and the number and length of its facets."""
    widths = summary.network.widths
    # If the work was stopped, only one side of a facet may have been found.
    counts = map(math.ceil, summary.layer_facets.tolist())
    return zip(range(1, len(widths) + 1), widths, counts, summary.layer_lengths.tolist(), strict=True)


def _sizes(summary: StreamSummary) -> dict[str, float]:
    return {
        "total": summary.size,
        "smallest": summary.smallest.size if summary.smallest else math.inf,
        "largest": summary.largest.size if summary.largest else 0.0,
    }


def say_time(seconds: float) -> None:
    """Print the time that the work took, after a report."""
    say(f"\ntime   {seconds_in_words(seconds)}")


def seconds_in_words(seconds: float) -> str:
    """Return a time for a table."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.2f} s"


def _size(value: float, domain: Domain) -> str:
    if math.isfinite(value):
        return f"{value:.6g}"
    return BEYOND if domain.bounded else "unbounded"


def _doubt(smallest: ExtremeRegion) -> str:
    """Return the remark after the smallest size, if not all of its printed digits are proven."""
    size, error = smallest.size, smallest.error
    return f" (to within {error:.2g})" if math.isfinite(size) and error > ROUNDED * size else ""


def _why_null(outcome: Outcome) -> str:
    """Say which sizes are null in JSON, and why."""
    if outcome.summary is not None and not outcome.summary.regions:
        return "null: no region was found, so there is no smallest one"
    what = BEYOND if outcome.domain.bounded else f"unbounded, or {BEYOND}"
    dimension = outcome.domain.dimension
    sizes = [SHAPES[each].size for each in ((1, 2) if dimension < 3 else (dimension,))]
    return f"null: a {' or '.join(sizes)} that is {what}"


def _table(*columns: str, text: Sequence[str] = ()) -> Table:
    """Return an empty table: numbers right-aligned, the columns named in ``text`` left-aligned.

    On a narrow terminal text takes several lines, because the ends of file names tell files apart; in files and pipes
    each row is a line, unless COLUMNS is set.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        left = column in text
        table.add_column(column, justify="left" if left else "right", no_wrap=not left, overflow="fold")
    return table


def _print(table: Table) -> None:
    """Print a table without the trailing blanks that rich adds."""
    narrow = (sys.stderr if _to_error() else sys.stdout).isatty() or "COLUMNS" in os.environ
    console = Console(highlight=False, width=None if narrow else WIDEST)
    with console.capture() as capture:
        console.print(table)
    say("\n".join(line.rstrip() for line in capture.get().rstrip().splitlines()))
