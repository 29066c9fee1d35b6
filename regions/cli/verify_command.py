# SPDX-License-Identifier: MIT
"""How is a property decided on the command line?

`regions verify MODEL PROPERTY` reads a VNN-LIB file and decides each of its boxes. Boxes with more than six free inputs
may stay undecided; `--free` takes slices of them. A violated property has its own exit code, and so has a property that
is not decided, because 1 means an error. Work that is stopped, by --timeout or a signal, prints what was decided.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import click
import numpy as np

from regions import Network, Property, PropertyVerdict, load_property, verify, verify_property, write_certificate
from regions.answers.answer_certificates import require_checkable
from regions.cli import stops
from regions.cli.facts import announce, file_to_write, say, say_certified, seconds_in_words
from regions.cli.job import EXIT_LIMIT, progress_bar
from regions.cli.options import (
    CERTIFICATE_SUFFIX,
    certificate_option,
    common_options,
    limit_option,
    load_model,
    workers_option,
)
from regions.domains.abilities import MOST_ENUMERATED, VERDICT_CERTIFICATES
from regions.errors import DomainError, TimeoutReached, VerdictNotDecided, WorkStopped
from regions.files.text_table import coordinate
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.text.printable import listed
from regions.ground.text.tables import aligned, json_text

__all__ = ["verify_command"]

# A line shows at most this many coordinates.
SHOWN = 8
EXIT_VIOLATED, EXIT_UNKNOWN = 4, 5


def _inputs(ctx: click.Context, parameter: click.Parameter, word: str | None) -> list[int] | None:
    try:
        return None if word is None else [int(number) for number in word.split(",")]
    except ValueError:
        raise click.BadParameter(f"{word!r}: write one or two numbers of inputs, such as 0,1", ctx, parameter) from None


def _values(ctx: click.Context, parameter: click.Parameter, word: str | None) -> list[float] | None:
    try:
        return None if word is None else [coordinate(number) for number in word.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{word!r}: write a number for each input, separated by commas", ctx, parameter
        ) from None


@click.command("verify")
@common_options
@click.argument("property_file", metavar="PROPERTY", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--free",
    callback=_inputs,
    metavar="I,J",
    help="Let only these one or two inputs vary, numbered from 0; the others are fixed, by default at the middle of "
    "each box.",
)
@click.option(
    "--at",
    callback=_values,
    metavar="X0,X1,..",
    help="With --free, where the other inputs are fixed: a number for each input. Boxes elsewhere are left out.",
)
@click.option(
    "--share",
    is_flag=True,
    help="Also compute the share of each violated box that is unsafe, which can take much longer than the verdict.",
)
@certificate_option("check_answer", "check_property")
@limit_option
@workers_option
@click.pass_context
def verify_command(
    ctx: click.Context,
    property_file: str,
    free: list[int] | None,
    at: list[float] | None,
    share: bool,
    certificate: Path | None,
    limit: int | None,
    threads: int,
    as_json: bool,
) -> None:
    """Decide whether a network violates a property.

    PROPERTY is a VNN-LIB file (.vnnlib or .vnnlib.gz), which asserts what a counterexample is. Boxes with up to six
    free inputs are decided, and others if an unsafe point is found or bounds suffice. The exit code is 0 if the
    property holds, 4 if it is violated, and 5 if it is unknown: not decided, or not before --limit or --timeout. The
    limit is on the regions and cells of each box. With --write, the verdict is also written to a certificate, if there
    is one box with up to six free inputs: with all regions, or from three free inputs on with a proof. The limit is
    also on the parts of the proof; the exit code is 3 if it is not complete within --limit or --timeout.

    \b
    regions verify lindex.onnx lindex_1.vnnlib
    regions verify acasxu_1_1.onnx prop_3.vnnlib
    regions verify acasxu_1_1.onnx prop_3.vnnlib --write proof.regions-certificate
    regions verify mnist.onnx prop_7.vnnlib --free 0,1
    """
    if at is not None and free is None:
        raise click.UsageError("--at needs --free, which says which inputs vary")
    network, given = load_model(), load_property(property_file)
    try:
        sliced = given if free is None else given.slice(free, at)
    except DomainError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if certificate is not None:
        _require_one_box(network, sliced)
    announce(network, sliced, quiet=as_json)
    start = time.perf_counter()
    found, reason, code = _decided(network, sliced, limit, threads)
    seconds = time.perf_counter() - start
    written = certificate is not None and not reason
    if certificate is not None and not reason:
        try:
            # Bounds alone may have decided the property, which leaves no verdict of the box.
            verdict = found.verdicts.get(0) or verify(network, sliced.domain(0), sliced.unsafe[0], workers=threads)
            with TemporaryDirectory() as folder:
                # A signal ends the search for a proof at once, but not the writing of the file.
                draft = Path(folder, f"proof{CERTIFICATE_SUFFIX}")
                write_certificate(verdict, draft, limit=limit)
                with file_to_write(certificate, CERTIFICATE_SUFFIX) as file:
                    copyfile(draft, file)
        except (WorkStopped, VerdictNotDecided) as error:
            written, reason, code = False, f"{certificate} is not written: {error}", EXIT_LIMIT
        except KeyboardInterrupt:
            written, reason, code = False, f"Stopped. {certificate} is not written.", stops.exit_code()
    if as_json:
        facts = {"notes": list(network.notes), "free": free, "at": at, **found.as_dict(), "seconds": seconds}
        if reason:
            facts["reason"] = reason
        if share:
            facts |= {name: getattr(found, name)[found.violated].tolist() for name in ("violated_shares", "errors")}
        say(json_text(facts))
    else:
        say()
        for line in aligned([*_rows(found, free, at, share), ("time", seconds_in_words(seconds))]):
            say(f"  {line}")
        if written:
            flat = sliced.domain(0).dimension < 3
            what = "this verdict and all regions" if flat else "a proof of this verdict"
            say_certified(certificate, what, "check_answer" if flat else "check_property")
    if reason:
        click.echo(reason, err=True)
    ctx.exit(code)


def _decided(network: Network, given: Property, limit: int | None, threads: int) -> tuple[PropertyVerdict, str, int]:
    """Return what was decided, why the rest was not, if anything is left, and the exit code."""
    try:
        with progress_bar() as report:
            found = verify_property(network, given, limit=limit, progress=report, workers=threads)
    except VerdictNotDecided as open_:
        return open_.partial, re.sub(r"prop\.slice\(\[(\d+), (\d+)\]\)", r"--free \1,\2", str(open_)), EXIT_UNKNOWN
    except WorkStopped as stopped:
        if not isinstance(stopped.partial, PropertyVerdict):
            raise
        if isinstance(stopped, TimeoutReached):
            reason = f"Stopped after {stopped.timeout:g} seconds. Raise --timeout."
        else:
            reason = f"Stopped at {limit} regions and cells. Raise --limit."
        return stopped.partial, reason, EXIT_UNKNOWN if stopped.partial.holds is None else EXIT_VIOLATED
    except KeyboardInterrupt as stopped:
        if not isinstance(partial := getattr(stopped, "partial", None), PropertyVerdict):
            raise
        return partial, "Stopped.", stops.exit_code()
    return found, "", 0 if found.holds else EXIT_VIOLATED


def _require_one_box(network: Network, given: Property) -> None:
    """Refuse a property of which no certificate can be written, before the work."""
    if len(given) != 1:
        raise click.UsageError(
            f"--write: the property has {len(given)} boxes, and a certificate is of one; split the file"
        )
    if not 1 <= (given.lower[0] < given.upper[0]).sum() <= MOST_ENUMERATED:
        raise click.UsageError(
            f"--write: a certificate is of a box with one to {MOST_ENUMERATED} free inputs; choose them with --free"
        )
    require_checkable(network, given.domain(0), VERDICT_CERTIFICATES)


def _rows(found: PropertyVerdict, free: list[int] | None, at: list[float] | None, share: bool) -> list[tuple[str, str]]:
    count = len(found.violated)
    where = "" if free is None else " on this slice"
    words = {"holds": f"holds{where}, proved", "violated": f"violated{where}", "unknown": f"unknown{where}"}
    rows = [
        ("verdict", words[found.verdict]),
        ("boxes", f"{count}, of which bounds alone decided {int(found.by_bounds.sum())}"),
    ]
    if found.undecided.any():
        rows.append(("undecided boxes, from 0", listed(np.flatnonzero(found.undecided).tolist(), str)))
        shares = found.proved_shares[found.undecided].tolist()
        rows.append(("proved shares of them, at least", listed(shares, "{:.6g}".format)))
    if found.touching is not None:
        rows.append(("strict inequalities", "outputs reach the boundary of the unsafe set, which is not in it"))
        rows.append(("input there", _numbers(found.touching.input.tolist())))
    if free is not None:
        fixed = "the middle of each box" if at is None else "the values of --at"
        varying = f"input {free[0]} varies" if len(free) == 1 else f"inputs {free[0]} and {free[1]} vary"
        rows.append(("slice", f"only {varying}; the others are fixed at {fixed}"))
    witness = found.witness
    if witness is None:
        return rows
    rows.append(("violated boxes, from 0", listed(np.flatnonzero(found.violated).tolist(), str)))
    if share:
        rows.append(("unsafe shares", listed(found.violated_shares[found.violated].tolist(), "{:.6g}".format)))
    rows.append(("unsafe input", _numbers(witness.input.tolist())))
    rows.append(("its outputs", _numbers([nearest_float(value) for value in witness.outputs])))
    replayed = {"float64": witness.replayed, "float32": witness.replayed_float32}
    rows.append(("replayed", ", ".join(f"{'unsafe' if seen else 'safe'} in {name}" for name, seen in replayed.items())))
    return rows


def _numbers(values: list[float]) -> str:
    return " ".join(map(repr, values[:SHOWN])) + f" .. ({len(values)} numbers)" * (len(values) > SHOWN)
