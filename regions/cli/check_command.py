# SPDX-License-Identifier: MIT
"""How is a model checked against the theory on the command line?

`regions check` enumerates like the other commands, and passes the result to `regions.check`. If a limit or Ctrl-C
stopped the work, the partial result is printed and not checked. The exit code is 1 if a proven bound or identity is
violated.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from regions import Partition, check
from regions.cli import stops
from regions.cli.domain_words import POINT_SYNTAX, DomainCommand, domain_options, make_domain
from regions.cli.facts import announce, file_to_write, outcome_facts, print_outcome, say, say_written
from regions.cli.job import Outcome, end_of, run_enumerate
from regions.cli.options import common_options, limit_option, load_model, output_option, workers_option
from regions.errors import TimeoutReached
from regions.files.replacing import replacing
from regions.text.tables import json_text

__all__ = ["check_command"]


@click.command("check", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options
@domain_options
@limit_option
@workers_option
@click.option("--no-distances", is_flag=True, help="Leave out the distances to the boundary, which can take longest.")
@output_option(".html", on_standard_output=".html", required=False)
@click.pass_context
def check_command(
    ctx: click.Context, limit: int | None, threads: int, no_distances: bool, output: Path | None, as_json: bool
) -> None:
    """Compare the regions with the theory.

    Every bound of the literature that applies, every identity that must hold, and the orders that theory expects; a
    bound that does not apply says why. A violation means a bug in this program, or a false claim: the exit code is 1.

    \b
    regions check model.pt --activation relu --square points.csv
    regions check model.pt --activation relu --plane 0,0 1,0 0,1 --json
    regions check model.pt --activation relu --segment points.csv:0 points.csv:1 -o report.html
    """
    network = load_model()
    domain = make_domain(ctx, network.input_shape)
    announce(network, domain, quiet=as_json)
    with stops.held() as held:
        outcome = run_enumerate(network, domain, limit, threads, held)
    if outcome.exit_code:
        _not_checked(ctx, outcome, as_json, "only some of the regions had been found")
    found_only = "the regions had been found, but not more"
    if held.came:
        _not_checked(ctx, replace(outcome, end="interrupted"), as_json, found_only)
    assert isinstance(outcome.partition, Partition)
    try:
        report = check(network, outcome.partition, distances=not no_distances)
        if output:
            with file_to_write(output, ".html") as file, replacing(file) as temporary:
                temporary.write_text(report.to_html(), encoding="utf-8")
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        _not_checked(ctx, replace(outcome, end=end_of(stopped)), as_json, found_only)
    facts = {"end": outcome.end, "notes": list(network.notes), **report.as_dict()}
    say(json_text(facts) if as_json else f"\n{report}")
    say_written(output, as_json)
    ctx.exit(0 if report.ok else 1)


def _not_checked(ctx: click.Context, outcome: Outcome, as_json: bool, reason: str) -> NoReturn:
    """Print the result so far, and end."""
    if as_json:
        say(json_text({"ok": None, **outcome_facts(outcome)}))
    else:
        print_outcome(outcome)
    click.echo(f"Not checked: {reason}. No report is written.", err=True)
    ctx.exit(outcome.exit_code)
