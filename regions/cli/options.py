# SPDX-License-Identifier: MIT
"""Which options do several commands share, and how is the model read?

All options but the domains, which are in `domain_words.py`.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import IO, Any

import click

from regions import Network, load
from regions.errors import AmbiguousCheckpointError, InternalError, RegionsError, WorkStopped
from regions.files import limits
from regions.files.opened import START_BYTES, OpenedFile
from regions.files.text_table import coordinate
from regions.files.zip_file import looks_like_zip
from regions.ground.arithmetic.arguments import number_of_workers, seconds
from regions.ground.threads.deadline import time_limit
from regions.networks.derived import with_notes
from regions.read.formats import recognise
from regions.read.points import load_array

__all__ = [
    "CERTIFICATE_SUFFIX",
    "CHECKPOINT",
    "STANDARD_OUTPUT",
    "VERBOSE",
    "about_file",
    "certificate_option",
    "checkpoint_option",
    "common_options",
    "common_options_with_models",
    "common_options_without_model",
    "limit_option",
    "load_model",
    "load_models",
    "named",
    "output_index_option",
    "output_option",
    "require_files",
    "require_no_model",
    "require_output_index",
    "several_models",
    "standard_input",
    "timeout_option",
    "together",
    "verbose_option",
    "workers_option",
]


def together(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Combine several decorators into one; `--help` shows the last one first."""
    return lambda command: reduce(lambda made, add: add(made), options, command)


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    ctx.meta.setdefault(__name__, {})[parameter.name] = value


def _keep_numbers(ctx: click.Context, parameter: click.Parameter, words: tuple[str, str] | None) -> None:
    if words is not None:
        _keep(ctx, parameter, tuple(_numbers(word, ctx, parameter) for word in words))


def _numbers(word: str, ctx: click.Context, parameter: click.Parameter) -> Any:
    if word.lower().endswith(".npy"):
        return load_array(word)
    try:
        return [coordinate(number) for number in word.split(",")]
    except ValueError:
        raise click.BadParameter(f"{word!r} is neither a number nor a .npy file", ctx, parameter) from None


_shared_options = together(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables."),
    click.option(
        "--activation",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=_keep,
        help="The activation between the layers, which weights do not name, such as relu, 'leaky_relu(0.2)', "
        "'hard_tanh(-2, 2)', or prelu if its slopes are stored. Once for all layers, or once for each hidden layer.",
    ),
    click.option(
        "--prefix",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=_keep,
        help="Which network of the file, if it holds several: the one whose names begin with this. Several times: "
        "these parts, in this order.",
    ),
    click.option(
        "--outputs",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=_keep,
        help="Which output of a .pt2 or .onnx file, or other value of its graph; several times for several. All "
        "outputs if left out.",
    ),
    click.option(
        "--normalize",
        nargs=2,
        metavar="MEAN STD",
        expose_value=False,
        callback=_keep_numbers,
        help="The model sees (x - MEAN) / STD: each a number, numbers separated by commas, or a .npy file with one "
        "for each input. It is folded into the first layer.",
    ),
)


def _model(metavar: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.argument("sources", metavar=metavar, expose_value=False, callback=_keep, **settings)


# The model, and the options of every command. Some commands take several models, and one works without a model.
common_options = together(_shared_options, _model("MODEL"))
common_options_with_models = together(_shared_options, _model("MODEL..", nargs=-1, required=True))
common_options_without_model = together(_shared_options, _model("[MODEL]", required=False))
# Stored in the context of a command: whether to print more, and the folder for finished work.
VERBOSE, CHECKPOINT = "regions.cli.verbose", "regions.cli.checkpoint"
verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, parameter, value: ctx.meta.update({VERBOSE: value}),
    help="Also print how signs were proved.",
)
# The name of an output.
STANDARD_OUTPUT = Path("-")
CERTIFICATE_SUFFIX = ".regions-certificate"


def _begin_time_limit(ctx: click.Context, parameter: click.Parameter, value: float | None) -> None:
    """Let the command end after this many seconds."""
    try:
        ctx.with_resource(time_limit(seconds(value, "timeout")))
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, parameter) from None


timeout_option = click.option(
    "--timeout",
    type=float,
    expose_value=False,
    callback=_begin_time_limit,
    metavar="SECONDS",
    help="Stop after this time, and print, draw or save what was found until then.",
)
limit_option = together(
    timeout_option,
    click.option(
        "--limit",
        type=click.IntRange(min=0),
        metavar="N",
        help="Stop when there are more regions than this; the results so far are printed, drawn or saved, not checked.",
    ),
)


def _threads(ctx: click.Context, parameter: click.Parameter, word: str | None) -> int:
    try:
        return number_of_workers(word if word is None or word == "all" else int(word))
    except ValueError as error:
        raise click.BadParameter(f'a number of threads, or "all": {error}', ctx, parameter) from None


workers_option = click.option(
    "--workers",
    "threads",
    callback=_threads,
    metavar="N|all",
    help="Use this many threads, or one for each processor; by default as many as REGIONS_WORKERS says, or one. The "
    "results are the same.",
)


def _folder(ctx: click.Context, parameter: click.Parameter, given: str | None) -> Path | None:
    """Return a folder; an empty name, as from an empty shell variable, is refused, not the current folder."""
    if given == "":
        raise click.BadParameter("'' is not a valid folder name", ctx, parameter)
    if given == "-":
        raise click.BadParameter(
            "a folder is needed, and - is standard input or output; a folder with that name is ./-", ctx, parameter
        )
    ctx.meta[CHECKPOINT] = found = None if given is None else Path(given)
    return found


checkpoint_option = click.option(
    "--checkpoint",
    type=click.Path(file_okay=False),
    callback=_folder,
    metavar="DIR",
    help="Save finished work in this folder, and resume from it: for work that may be killed.",
)


output_index_option = click.option(
    "--output-index",
    type=click.IntRange(min=0),
    metavar="N",
    help="Number of the output, from 0. It may be left out if there is only one.",
)


def require_output_index(network: Network, chosen: int | None) -> None:
    """Refuse the number of an output that does not exist, and a missing number if there are several outputs."""
    outputs = f"the network has {network.n_out} output{'s' * (network.n_out > 1)}"
    if chosen is None and network.n_out > 1:
        raise click.UsageError(f"{outputs}: choose one with --output-index, from 0")
    if chosen is not None and chosen >= network.n_out:
        raise click.UsageError(f"--output-index {chosen}: {outputs}, numbered from 0")


def load_model() -> Network:
    """Read the model that the command line names, with its options."""
    source = click.get_current_context().meta[__name__]["sources"]
    if source is None:
        raise click.UsageError("give a MODEL or --ensemble")
    return _load(source)


def several_models() -> bool:
    """Return whether the command line names more than one model."""
    return len(click.get_current_context().meta[__name__]["sources"]) > 1


def named(source: str | None) -> dict[str, str]:
    """Return the file of a result as a fact, if there are several models."""
    return {"file": source} if source is not None and several_models() else {}


@contextmanager
def about_file(source: str) -> Iterator[None]:
    """Let errors in the work on a model name its file, if there are several."""
    try:
        yield
    except (WorkStopped, InternalError):
        raise
    except RegionsError as error:
        if not several_models():
            raise
        raise RegionsError(f"{source}: {error}") from error


def require_files() -> None:
    """Refuse models whose files do not exist, before the work on others."""
    for source in click.get_current_context().meta[__name__]["sources"]:
        if source != "-":
            os.stat(source)


def load_models() -> Iterator[tuple[str, Network]]:
    """Yield several models one by one, with their files; if there are several, errors and notes name the file."""
    sources = click.get_current_context().meta[__name__]["sources"]
    for source in sources:
        with about_file(source):
            network = _load(source)
        yield source, network if len(sources) == 1 else with_notes(network, f"read from {source}")


def _load(source: str) -> Network:
    kept = click.get_current_context().meta[__name__]
    options = {name: value for name, value in kept.items() if value and name != "sources"}
    if len(options.get("activation", ())) == 1:
        (options["activation"],) = options["activation"]
    try:
        return load(standard_input("a MODEL") if source == "-" else source, **options)
    except AmbiguousCheckpointError as error:
        raise AmbiguousCheckpointError(_in_flags(str(error), len(kept["sources"]) > 1)) from error
    except RegionsError:
        raise
    except ValueError as error:  # useless options, such as one prefix twice
        raise click.UsageError(str(error)) from error


def _in_flags(message: str, several: bool) -> str:
    """Return a message about activation= that speaks of --activation."""
    message = re.sub(r"activation='([^']*)'", r"--activation \1", message)
    message = re.sub(r"activation=\[([^]]*)\]", lambda names: _repeated(names[1]), message)
    own = "give it a command of its own without --activation" if several else "leave out --activation"
    return message.replace("name none for it", own)


def _repeated(names: str) -> str:
    return " ".join(f"--activation {name}" for name in re.findall("'([^']*)'", names))


class _StandardInput(io.BytesIO):
    name = "standard input"


def standard_input(what: str) -> IO[bytes]:
    """Read what is piped into the command, as a file.

    Raises
    ------
    click.UsageError
        Two words of the command line ask for it.
    NotACheckpointError
        It does not begin like a model.
    FileTooLargeError
        It is longer than a file may be.
    """
    meta = click.get_current_context().meta
    if meta.setdefault("standard input", what) != what:
        raise click.UsageError(f"- stands for {meta['standard input']} and {what}; standard input can be read once")
    content = sys.stdin.buffer.read(START_BYTES)
    if what == "a MODEL" and len(content) == START_BYTES and not looks_like_zip(content):
        # Refuse other files before the rest of them is read.
        recognise(OpenedFile(io.BytesIO(content), "standard input", limits.MAX_FILE_BYTES, content))
    content += sys.stdin.buffer.read(limits.MAX_FILE_BYTES + 1 - len(content))
    limits.require_file_size("standard input", len(content))
    return _StandardInput(content)


def require_no_model(ctx: click.Context, instead: str) -> None:
    """Refuse a model, and the options for reading one, if something else is given."""
    options = {"sources": "MODEL"}
    for name, value in ctx.meta[__name__].items():
        if value:
            raise click.UsageError(f"give {options.get(name, f'--{name}')} or {instead}", ctx)


def _writable(
    suffixes: Sequence[str], ctx: click.Context, parameter: click.Parameter, path: Path | None
) -> Path | None:
    """Refuse a file that cannot be written, before the work."""
    if path is None:
        return None
    if path.suffix.lower() not in suffixes:
        raise click.BadParameter(f"the name must end in {', '.join(suffixes)}: {path}", ctx, parameter)
    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"folder {path.parent} does not exist", ctx, parameter)
    if path.exists() and not path.is_file():  # a pipe or a device, which is written directly
        return path
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise click.BadParameter(f"the folder {path.parent} cannot be written to", ctx, parameter)
    return path


def certificate_option(*checkers: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --write FILE; ``checkers`` are the names of the modules that may read the file."""
    commands = " or ".join(f"`python -m regions.{checker}`" for checker in checkers)

    def checked(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        return _writable([CERTIFICATE_SUFFIX], ctx, parameter, path)

    return click.option(
        "--write",
        "certificate",
        type=click.Path(dir_okay=False, writable=True, path_type=Path),
        callback=checked,
        metavar="FILE",
        help=f"Write a certificate, which {commands} checks with code of its own; the name ends in "
        f"{CERTIFICATE_SUFFIX}.",
    )


def output_option(
    *suffixes: str, on_standard_output: str, required: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add -o FILE; an output that cannot be written is refused before the work, not after it."""

    def checked(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        return path if path == STANDARD_OUTPUT else _writable(suffixes, ctx, parameter, path)

    return click.option(
        "-o",
        "--output",
        "output",
        required=required,
        type=click.Path(dir_okay=False, writable=True, path_type=Path),
        callback=checked,
        metavar="FILE",
        help=f"Where to write; the name ends in {', '.join(suffixes)}. - writes {on_standard_output} to standard "
        "output, and all tables to standard error.",
    )
