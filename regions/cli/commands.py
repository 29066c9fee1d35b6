# SPDX-License-Identifier: MIT
"""Which commands does the command line have?

This file has `info`, `count`, `enumerate` and `plot`. `certify`, `check`, `trajectory`, `verify` and `watch` have
files of their own, and the commands that answer questions are in `answer_commands.py`. The package does the work.
This file has the order of steps and the exit codes: 0 done; 1 an error in the user's input, in one line; 2 a wrong
command line (click);
3 stopped at the limit; 4 a property is violated, 5 a property is not decided (`verify_command.py`); 130 stopped by
Ctrl-C, 143 by SIGTERM, 129 by SIGHUP (`stops.py`); 141 the reader of the output is gone (`regions/cli/__init__.py`).
After 3 and after a signal, the results so far are printed and saved; with a checkpoint, a signal leaves them in its
folder only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from inspect import cleandoc
from pathlib import Path
from typing import IO, Any

import click

from regions import Partition
from regions.cli import stops
from regions.cli.answer_commands import ANSWER_COMMANDS
from regions.cli.certify_command import certify_command
from regions.cli.check_command import check_command
from regions.cli.domain_words import (
    POINT_SYNTAX,
    DomainCommand,
    domain_or_box_options,
    every_domain_option,
    flat_domain_options,
    make_any_domain,
    make_domain,
    mark_option,
    marked_points,
)
from regions.cli.facts import (
    announce,
    file_to_write,
    network_facts,
    outcome_facts,
    print_network,
    print_outcome,
    print_outcomes,
    say,
    say_stopped,
    say_written,
    words_of,
    writing,
)
from regions.cli.job import (
    Outcome,
    run_count,
    run_enumerate,
    run_in_folder,
    run_stream,
)
from regions.cli.options import (
    CHECKPOINT,
    STANDARD_OUTPUT,
    about_file,
    checkpoint_option,
    common_options,
    common_options_with_models,
    limit_option,
    load_model,
    load_models,
    named,
    output_option,
    require_files,
    require_output_index,
    several_models,
    verbose_option,
    workers_option,
)
from regions.cli.pictures import Size, draw_picture, picture_options, require_means, require_pixels
from regions.cli.trajectory_command import trajectory_command
from regions.cli.verify_command import verify_command
from regions.cli.watch_command import watch_command
from regions.domains.curves import Curve
from regions.errors import InternalError, RegionsError
from regions.ground.text.tables import json_text
from regions.pictures.picture_files import PICTURE_SUFFIXES
from regions.pictures.picture_style import ColorBy
from regions.results.definitions import DEFINITIONS, Definition
from regions.results.export import EXPORT_SUFFIXES, export, export_blocks, require_format_of
from regions.results.export.arrow import ARROW_SUFFIXES, require_arrow
from regions.results.pages.marks import named_points
from regions.results.pages.page import PAGE_SUFFIX
from regions.version import __version__

__all__ = ["regions_group"]

EXIT_CODES = """\b
Exit codes: 0 done, 1 the model, the points or a file is wrong, 2 the
command line is wrong, 3 stopped at --limit, 4 verify found the property
violated, 5 verify did not decide the property, 130 stopped by Ctrl-C, 143
by SIGTERM, 129 by SIGHUP. If it was stopped, the results so far are printed
and saved, but not checked; with --checkpoint, a signal leaves them in that
folder only. For certify, 1 means that something in the result is wrong, 2
also that FILE does not hold a result, and 3 that not all is proved: it is
partial, or only some regions were checked. For check, 1 means that a bound
is violated; for count --definition convex, that the number is not decided."""

OUT_OF_MEMORY = (
    "out of memory; -o FILE.parquet needs little, and with --checkpoint DIR finished pieces are saved, so that the "
    "same command resumes from there"
)


class _ErrorFirst(click.UsageError):
    """A wrong command line; prints the error before the pointer to help."""

    def __init__(self, error: click.UsageError) -> None:
        super().__init__(error.format_message(), error.ctx)

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"Error: {self.message}", file, err=True)
        if self.ctx is not None:
            click.echo(f"Help: {self.ctx.command_path} --help", file, err=True)


class _Group(click.Group):
    """Turns user errors into one line; a bug in this package keeps its traceback."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the whole first sentence of each command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(1000)) for name, each in sorted(self.commands.items())])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with stops.at_once(), warnings.catch_warnings():
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return stops.completed(super().invoke, ctx)
        except InternalError:
            raise
        except click.UsageError as error:
            raise _ErrorFirst(error) from error
        except RegionsError as error:
            raise click.ClickException(words_of(error)) from error
        except BrokenPipeError:
            raise  # the reader of a pipe, such as `head`, is gone; click handles it
        except OSError as error:
            raise click.ClickException(words_of(error)) from error
        except KeyboardInterrupt:
            say_stopped(ctx.meta.get(CHECKPOINT))
            ctx.exit(stops.exit_code())
        except MemoryError as error:
            raise click.ClickException(OUT_OF_MEMORY) from error


def _show_warning(message: Warning | str, *_: object) -> None:
    """Print a warning in one line, like an error, without the line of code that issued it."""
    click.echo(f"Warning: {message}", err=True)


@click.group(cls=_Group, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="relu-regions %(version)s")
def regions_group() -> None:
    """Count the regions of a piecewise-linear network on a line, in a plane or in a box, exactly, and describe them.

    MODEL is a .pt, .pth, .safetensors, .npz, .pt2, .onnx or .nnet file. Networks with convolutions or skip
    connections come as .pt2 or .onnx. Nothing in a file is executed.

    \b
    regions info model.pt --activation relu
    regions count model.pt --activation relu --segment points.csv:0 points.csv:1
    regions enumerate model.pt --activation relu --square points.csv -o out.npz
    regions plot model.pt --activation relu --square points.csv -o out.png
    regions certify out.npz model.pt --activation relu
    regions check model.pt --activation relu --square points.csv
    regions trajectory model.pt --activation relu --arc points.csv:0 points.csv:1
    """


for each in ANSWER_COMMANDS:
    regions_group.add_command(each)
regions_group.add_command(certify_command)
regions_group.add_command(check_command)
regions_group.add_command(verify_command)
regions_group.add_command(trajectory_command)
regions_group.add_command(watch_command)


@regions_group.command()
@common_options_with_models
def info(as_json: bool) -> None:
    """Print the layers of the network in a file, or in several files.

    \b
    regions info model.pt --activation relu
    regions info model.safetensors --activation 'leaky_relu(0.2)'
    regions info weights.npz --activation relu --activation abs
    regions info model.pt weights.npz --activation relu --json
    """
    for source, network in load_models():
        if as_json:
            say(json_text({**named(source), **network_facts(network)}))
        else:
            announce(network)
            print_network(network)


@regions_group.command(cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options_with_models
@verbose_option
@every_domain_option
@click.option(
    "--definition",
    type=click.Choice(DEFINITIONS),
    default="activation",
    show_default=True,
    help="What counts as a region: patterns, even on edges and in points; regions with interior; the fewest convex "
    "pieces, if that is easy; pieces merged where the network is one affine map on an open set, or on a closed one; or "
    "the affine maps.",
)
@limit_option
@workers_option
@checkpoint_option
@click.pass_context
def count(
    ctx: click.Context,
    definition: Definition,
    limit: int | None,
    threads: int,
    checkpoint: Path | None,
    as_json: bool,
) -> None:
    """Count the regions on a line, in a plane or in a box, or the pieces of a curve, for one model or several.

    \b
    regions count model.pt --activation relu --segment points.csv:0 points.csv:1
    regions count model.pt --activation relu --line 0,0 1,-1
    regions count model.pt --activation relu --plane 0,0 1,0 0,1
    regions count model.pt --activation relu --square points.csv --definition open
    regions count model.pt --activation relu --polygon -1,-1 1,-1 0,1 --json
    regions count model.pt --activation relu --arc points.csv:0 points.csv:1
    regions count model.pt --activation relu --square points.csv --workers all --checkpoint DIR
    regions count epoch1.pt epoch2.pt --activation relu --square points.csv --json
    """
    found: list[tuple[str, Outcome]] = []
    try:
        for source, network in load_models():
            with about_file(source):
                domain = make_any_domain(ctx, network.input_shape)
                require_files()
                announce(network, domain, quiet=as_json or bool(found))
                outcome = run_count(network, domain, limit, definition, threads, checkpoint)
            found.append((source, outcome))
            if as_json or not several_models():
                _print(outcome, None, as_json, checkpoint, source)
            elif checkpoint is not None and outcome.end == "interrupted":
                say_stopped(checkpoint, outcome.pieces)
            if outcome.end == "interrupted":
                break
    finally:  # also if there is an error in a later file
        if several_models() and not as_json and found:
            print_outcomes(found)
    ctx.exit(max(outcome.exit_code for _, outcome in found))


@regions_group.command("enumerate", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options
@verbose_option
@domain_or_box_options
@limit_option
@workers_option
@checkpoint_option
@output_option(*EXPORT_SUFFIXES, ".vtu", on_standard_output=".csv")
@click.pass_context
def enumerate_(
    ctx: click.Context, limit: int | None, threads: int, checkpoint: Path | None, output: Path, as_json: bool
) -> None:
    """Write the regions to a file.

    Each region has its polygon, interval or polytope, its pattern and its neighbours: .npz holds everything
    (regions.load_partition reads it), .geojson the shapes, .csv, .parquet and .arrow a table with a row per region. The
    last two are written as the regions are found, in bounded memory and by one thread. With --checkpoint, Ctrl-C writes
    no file: finished work is in the folder. A box of three to six dimensions is written to .npz or .csv, and one of
    three dimensions also to .vtu, a grid of polyhedra.

    \b
    regions enumerate model.pt --activation relu --square points.csv -o out.npz
    regions enumerate model.pt --activation relu --rectangle 0,0 2,0 0,1 -o out.geojson
    regions enumerate model.pt --activation relu --ray 0,0 1,-1 -o out.csv
    regions enumerate model.pt --activation relu --box -1,-1,-1 1,1,1 -o out.npz
    regions enumerate model.pt --activation relu --square points.csv -o out.parquet
    regions enumerate model.pt --activation relu --square points.csv --workers all --checkpoint DIR -o out.npz
    """
    suffix = output.suffix.lower()
    if checkpoint is not None and suffix in ARROW_SUFFIXES:
        raise click.UsageError(
            f"--checkpoint cannot be combined with {suffix}, which is written while the regions are found, from the "
            f"beginning: give -o FILE.npz, and then, in Python, "
            f"regions.export.export(regions.load_partition('FILE.npz'), 'FILE{suffix}')",
            ctx,
        )
    network = load_model()
    domain = make_any_domain(ctx, network.input_shape)
    assert not isinstance(domain, Curve)
    require_format_of(domain, output)
    if suffix in ARROW_SUFFIXES:
        require_arrow()
        announce(network, domain, quiet=as_json)
        with writing(str(output)):
            outcome = run_stream(network, domain, limit, threads, lambda blocks: export_blocks(blocks, output))
        _finish(ctx, outcome, output if outcome.regions else None, as_json)
    announce(network, domain, quiet=as_json)
    if checkpoint is None:
        with stops.held() as held:
            outcome = run_enumerate(network, domain, limit, threads, held)
            found = _written(outcome, output, ".csv", export)
    else:
        found = _written(run_in_folder(network, domain, limit, threads, checkpoint), output, ".csv", export)
    _finish(ctx, *found, as_json, checkpoint)


@regions_group.command("plot", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options
@verbose_option
@flat_domain_options
@picture_options
@mark_option
@limit_option
@workers_option
@output_option(*PICTURE_SUFFIXES, PAGE_SUFFIX, on_standard_output=".png")
@click.pass_context
def plot_(
    ctx: click.Context,
    color_by: ColorBy,
    output_index: int,
    title: str | None,
    size: Size | None,
    dpi: int | None,
    mark: tuple[str, ...],
    no_mark: bool,
    limit: int | None,
    threads: int,
    output: Path,
    as_json: bool,
) -> None:
    """Draw the regions.

    In a plane the picture shows the regions, on a line the function and its kinks. If the domain is unbounded, it shows
    a window. A .html file is a page to explore in a browser, which needs nothing else; its colours are chosen there.

    \b
    regions plot model.pt --activation relu --square points.csv -o out.png
    regions plot model.pt --activation relu --square points.csv --color-by class -o out.pdf
    regions plot model.pt --activation relu --square points.csv --color-by value --output-index 3 -o out.svg
    regions plot model.pt --activation relu --square points.csv --mark zero=points.csv:0 --size 3.5 -o out.png
    regions plot model.pt --activation relu --segment points.csv:0 points.csv:1 --dpi 300 -o line.png
    regions plot model.pt --activation relu --square points.csv -o page.html
    """
    network = load_model()
    domain = make_domain(ctx, network.input_shape)
    marks = marked_points(ctx, domain, mark, no_mark)
    require_pixels(ctx, size, dpi)
    require_output_index(network, output_index)
    named_points(marks, domain)  # errors come before the work
    require_means(ctx, output)
    announce(network, domain, quiet=as_json)

    def draw(partition: Partition, file: Path) -> None:
        draw_picture(partition, file, size, dpi, color_by=color_by, output_index=output_index, mark=marks, title=title)

    with stops.held() as held:
        outcome = run_enumerate(network, domain, limit, threads, held, maps=output.suffix.lower() == ".html")
        found = _written(outcome, output, ".png", draw)
    _finish(ctx, *found, as_json)


def _within(width: int, text: str) -> str:
    """Return the help of a command with its long examples continued on the next line, as a shell reads them."""
    lines: list[str] = []
    for line in text.splitlines():
        example = line.startswith("regions ")
        while example and len(line) > width:
            end = line.rindex(" ", 0, width - 2)
            lines.append(f"{line[:end]} \\")
            line = line[end + 1 :]
        lines.append(line)
    return "\n".join(lines)


def _written(
    outcome: Outcome, output: Path, suffix: str, write: Callable[[Partition, Path], None]
) -> tuple[Outcome, Path | None]:
    """Write the regions, if there are any; a second Ctrl-C leaves no file, but the numbers are still printed."""
    partition = outcome.partition
    if not partition:
        return outcome, None
    try:
        with file_to_write(output, suffix) as file:
            write(partition, file)
    except KeyboardInterrupt:
        return replace(outcome, end="interrupted"), None
    except MemoryError as error:
        raise _saved_instead(partition, output) from error
    return outcome, output


def _saved_instead(partition: Partition, output: Path) -> Exception:
    """Save the regions next to the output, as a .npz, which needs least memory; return the error that says so."""
    other = output.with_name(f"{output.name}.npz")
    if output == STANDARD_OUTPUT or output.suffix.lower() == ".npz" or other.exists():
        return MemoryError()
    with file_to_write(other, ".npz") as file:
        partition.save(file)
    return click.ClickException(
        f"{output}: out of memory while it was being written.\n  The regions are in {other} instead; in Python, "
        f"regions.load_partition({str(other)!r}) reads them."
    )


def _finish(
    ctx: click.Context, outcome: Outcome, output: Path | None, as_json: bool, checkpoint: Path | None = None
) -> None:
    """Print the outcome, and end with its exit code."""
    _print(outcome, output, as_json, checkpoint)
    ctx.exit(outcome.exit_code)


def _print(
    outcome: Outcome, output: Path | None, as_json: bool, checkpoint: Path | None, source: str | None = None
) -> None:
    if as_json:
        facts = {**named(source), **outcome_facts(outcome)}
        say(json_text({**facts, "output": str(output)} if output else facts))
    else:
        print_outcome(outcome)
    say_written(output, as_json)
    if checkpoint is not None and outcome.end == "interrupted":
        say_stopped(checkpoint, outcome.pieces)


for command in regions_group.commands.values():
    # click indents help by two, and its lines have at most 78 characters.
    command.help = _within(76, cleandoc(command.help or ""))
