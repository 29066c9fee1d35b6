# SPDX-License-Identifier: MIT
"""How do the regions change over the checkpoints of a training, on the command line?

`regions watch` prints a row for each file, as `regions.watch` measures it, and writes all columns if a file is
requested. If Ctrl-C, a timeout or an error in a file ends it, the finished rows are printed.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import click

from regions import TrainingRecord
from regions.cli import stops
from regions.cli.domain_words import POINT_SYNTAX, DomainCommand, flat_domain_options, make_domain
from regions.cli.facts import announce, print_rows, say, say_time, say_written, writing
from regions.cli.job import EXIT_LIMIT, progress_bar
from regions.cli.options import (
    about_file,
    common_options_with_models,
    load_models,
    output_option,
    require_files,
    timeout_option,
)
from regions.errors import TimeoutReached
from regions.ground.text.tables import json_text

__all__ = ["watch_command"]

SHOWN = ("regions", "density", "distance", "dead", "on", "switching")


@click.command("watch", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options_with_models
@flat_domain_options
@timeout_option
@click.option(
    "--twins",
    type=click.IntRange(min=2),
    metavar="N",
    help="Also count the regions of N sign-twins of each model: networks with the same weights and random signs. The "
    "table has their mean and standard deviation.",
)
@output_option(".csv", on_standard_output=".csv", required=False)
@click.pass_context
def watch_command(ctx: click.Context, twins: int | None, output: Path | None, as_json: bool) -> None:
    """Print how the regions change from checkpoint to checkpoint.

    A row has the regions on a bounded domain, the density of the boundary between them, the mean distance of 500 random
    points to it, and how many hidden units are dead, always on, or switching there. The .csv file has more columns.

    \b
    regions watch epoch1.pt epoch2.pt --activation relu --square points.csv
    regions watch epoch1.pt epoch2.pt --activation relu --square points.csv -o out.csv
    regions watch epoch1.pt epoch2.pt --activation relu --box 0,0 1,1 --twins 100
    """
    start, files, code = perf_counter(), list[str](), 0
    record: TrainingRecord | None = None
    try:
        with progress_bar() as report:
            for source, network in load_models():
                with about_file(source):
                    if record is None:
                        domain = make_domain(ctx, network.input_shape)
                        require_files()
                        announce(network, domain, quiet=as_json)
                        record = TrainingRecord(domain, twins=twins)
                    record.record(len(files), network, progress=report)
                files.append(source)
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        if not files:
            raise
        code = EXIT_LIMIT if isinstance(stopped, TimeoutReached) else stops.exit_code()
        click.echo(f"Stopped after {len(files)} checkpoint{'s' * (len(files) != 1)}.", err=True)
    finally:  # also if there is an error in a later file
        if record is not None and files:
            columns = {"file": files, **record.to_columns()}
            if as_json:
                say(json_text({"rows": columns, "seconds": perf_counter() - start}))
            else:
                texts = [[f"{number:.6g}" for number in columns[name]] for name in SHOWN]
                if twins is not None:
                    spread = zip(columns["twin_regions"], columns["twin_spread"], strict=True)
                    texts.append([f"{mean:.3g} +- {deviation:.2g}" for mean, deviation in spread])
                rows = zip(files, *texts, strict=True)
                print_rows(("file", *SHOWN, "twins")[: len(texts) + 1], rows)
                say_time(perf_counter() - start)
            if output is not None:
                with writing(str(output)):
                    say(record.to_csv().rstrip()) if str(output) == "-" else record.to_csv(output)
                say_written(output, as_json)
    ctx.exit(code)
