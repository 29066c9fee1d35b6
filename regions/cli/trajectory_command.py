# SPDX-License-Identifier: MIT
"""How is a curve followed through a network on the command line?

`regions trajectory` prints a row for each layer, and draws lengths and images if a picture is asked for. A curve that
was only followed in part, because of a limit or Ctrl-C, leaves the number of pieces that had been found.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import click

from regions import Curve, LimitReached, Segment, trajectory
from regions.cli.domain_words import POINT_SYNTAX, DomainCommand, curve_options, make_domain_or_curve
from regions.cli.facts import FOUND, announce, domain_facts, network_facts, say, writing
from regions.cli.job import EXIT_INTERRUPTED, EXIT_LIMIT, progress_bar
from regions.cli.options import common_options, limit_option, load_model, output_option
from regions.enumeration.run import End
from regions.pictures.picture_files import PICTURE_SUFFIXES, require_matplotlib, save_figure
from regions.tables import json_text

__all__ = ["trajectory_command"]


@click.command("trajectory", cls=DomainCommand, epilog=f"Points: {POINT_SYNTAX}.")
@common_options
@curve_options
@limit_option
@output_option(*PICTURE_SUFFIXES, required=False)
@click.pass_context
def trajectory_command(ctx: click.Context, limit: int | None, output: Path | None, as_json: bool) -> None:
    """Follow a curve through the layers.

    For each layer the length of the curve's image and its growth, how often a neuron changes its piece, and how many
    pieces there are so far. The picture shows lengths, and images as they look from where they are widest.

    \b
    regions trajectory model.pt --activation relu --arc points.csv:0 points.csv:1
    regions trajectory model.pt --activation relu --polyline points.csv:0:5 -o path.png
    regions trajectory model.pt --activation relu --circle 0,0 1,0 0,1 --json
    """
    network = load_model()
    curve = make_domain_or_curve(ctx, network.n_in)
    assert isinstance(curve, (Curve, Segment))  # there are no other options
    if output:
        require_matplotlib()
    announce(network, curve, quiet=as_json)
    where = {"network": network_facts(network), "domain": domain_facts(curve)}
    try:
        with progress_bar() as report:
            path = trajectory(network, curve, limit=limit, progress=report)
    except LimitReached as stopped:
        _stopped(ctx, "limit", stopped.partial, where, as_json)
    except KeyboardInterrupt as stopped:
        _stopped(ctx, "interrupted", getattr(stopped, "partial", None), where, as_json)
    facts = {"end": "complete", **path.as_dict(), **where}
    if output:
        with writing(str(output)):
            save_figure(path.plot(), output)
        facts["output"] = str(output)
    say(json_text(facts) if as_json else f"\n{path}")
    if output and not as_json:
        say(f"wrote {output}")


def _stopped(ctx: click.Context, end: End, pieces: int | None, where: dict[str, Any], as_json: bool) -> NoReturn:
    """Print how many pieces there were, and end."""
    if as_json:
        say(json_text({"end": end, "pieces": pieces, **where}))
    elif pieces is not None:
        say(f"\npieces   {pieces:,}{FOUND[end]}")
    click.echo("Not measured: only a part of the curve had been followed.", err=True)
    ctx.exit(EXIT_LIMIT if end == "limit" else EXIT_INTERRUPTED)
