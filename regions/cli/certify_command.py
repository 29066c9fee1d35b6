# SPDX-License-Identifier: MIT
"""`regions certify`: is a saved result right, and how can others check it?"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Literal

import click

from regions import load_partition, write_certificate
from regions.answers.answer_certificates import require_checkable
from regions.certification import refused
from regions.cli.facts import announce, file_to_write, say, say_certified, say_time, words_of
from regions.cli.job import run_certify
from regions.cli.options import (
    CERTIFICATE_SUFFIX,
    certificate_option,
    common_options,
    load_model,
    timeout_option,
    workers_option,
)
from regions.errors import RegionsError
from regions.ground.text.tables import json_text
from regions.results.partition.saved import DamagedResultError

__all__ = ["certify_command"]


class _NotChecked(click.ClickException):
    """FILE or MODEL cannot be read; the exit code differs from the one of a wrong result."""

    exit_code = 2


def _number(ctx: click.Context, param: click.Parameter, value: str | None) -> int | Literal["all"] | None:
    """Return a number of regions, or the word "all"."""
    if value is None or value == "all":
        return None if value is None else "all"
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter('a number of regions, 1 or more, or "all"', ctx, param)
    return number


@click.command("certify")
@click.argument("file")
@common_options
@click.option(
    "--regions",
    "number",
    callback=_number,
    metavar="N|all",
    help="Check only this many regions, or all, in exact arithmetic. By default all are checked, in exact arithmetic "
    "only where error bounds are not enough.",
)
@certificate_option("check_certificate")
@timeout_option
@workers_option
@click.pass_context
def certify_command(
    ctx: click.Context,
    file: str,
    number: int | Literal["all"] | None,
    certificate: Path | None,
    threads: int,
    as_json: bool,
) -> None:
    """Check a saved result independently, in exact arithmetic or with proven error bounds.

    FILE is a .npz that `regions enumerate` wrote. The check uses no code that found the regions. It names the network
    and the domain, and lists, item by item, the claims that are proved, only sampled, or wrong. After Ctrl-C or
    --timeout the list has the checks so far. With --write, the regions are also written to a certificate, if they are
    proved to be all regions. The exit code is 0 if they are, 1 if something is wrong, 3 if FILE is a partial result or
    only some regions were checked, and 2 if FILE or MODEL cannot be read.

    \b
    regions certify out.npz model.pt --activation relu
    regions certify out.npz model.pt --activation relu --regions all
    regions certify out.npz model.pt --activation relu --workers all --json
    regions certify out.npz model.pt --activation relu --write proof.regions-certificate
    """
    partition = None
    try:
        network = load_model()
        try:
            partition = load_partition(file)
        except DamagedResultError as error:
            damage = str(error)
        if certificate is not None and partition is not None:
            require_checkable(network, partition.domain)
    except (RegionsError, OSError) as error:
        raise _NotChecked(words_of(error)) from error
    start = perf_counter()
    if partition is None:
        announce(network, quiet=as_json)
        report, code = refused(damage), 1
    else:
        announce(network, partition.domain, quiet=as_json)
        report, code = run_certify(partition, network, number, threads)
    seconds = perf_counter() - start
    if as_json:
        say(json_text({**report.as_dict(), "notes": list(network.notes), "seconds": seconds}))
    else:
        say(f"\n{report}")
        say_time(seconds)
    if certificate is not None:
        if partition is None or not report.all_proved:
            click.echo(f"{certificate} is not written: the regions are not proved to be all regions", err=True)
            ctx.exit(code or 1)
        with file_to_write(certificate, CERTIFICATE_SUFFIX) as target:
            write_certificate(partition, target)
        if not as_json:
            say_certified(certificate, f"all {len(partition):,} regions", "check_certificate")
    ctx.exit(code)
