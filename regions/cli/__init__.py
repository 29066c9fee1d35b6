# SPDX-License-Identifier: MIT
"""What happens when somebody types `regions`?

`commands.py` says what can be asked, with `check_command.py` and `trajectory_command.py` for long answers,
`domain_words.py` how points and domains are written on a command line, `options.py` has the other options and reads the
model, `job.py` does the work and knows how it can end, `facts.py` prints what came out, as tables or as JSON.
The same for users, with all exit codes: docs/command-line.md.
"""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; does not return."""
    try:
        from regions.cli.commands import regions_group
    except ImportError as error:
        # Another package that is called `regions` may have overwritten parts of this one: then these files
        # are still there, but what they import is not.
        from regions.installation import explain_missing_core

        sys.exit(f"Error: {explain_missing_core(error)}")
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
    # Where `head` has read enough, end as other programs do, and not with the exit code of something that is wrong.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        regions_group(prog_name="regions")
    except SystemExit as end:
        code = end.code
    except OSError as error:  # where help is printed, that is before a command is invoked
        code = f"Error: standard output: {error.strerror}"
    sys.exit(_code_after_the_last_line(code))


def _code_after_the_last_line(code: str | int | None) -> str | int | None:
    """Return the exit code, once what standard output has in its buffer is written; Python itself would end with
    120.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or f"Error: standard output: {error.strerror}"
    return code
