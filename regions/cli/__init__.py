# SPDX-License-Identifier: MIT
"""What is the command `regions`?

`commands.py` has the group of all commands and the shorter ones. `certify_command.py`, `check_command.py`,
`trajectory_command.py`, `verify_command.py` and `watch_command.py` have one longer command each, and
`answer_commands.py` has the commands that print an answer. `domain_words.py` parses points and domains on a command
line, `options.py` has the other options and reads the model. `job.py` does the work and handles the ways in which it
ends, and `facts.py` prints the results, as tables or as JSON. docs/command-line.md has the same for users, with all
exit codes.
"""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; never returns."""
    try:
        from regions.cli.commands import regions_group
    except ImportError as error:
        # Another package called `regions` may have overwritten parts of this one: these files still exist then,
        # but their imports fail.
        from regions.installation import explain_missing_core

        sys.exit(f"Error: {explain_missing_core(error)}")
    # If `head` has read enough, end as other programs do, not with the exit code of an error.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        regions_group(prog_name="regions")
    except SystemExit as end:
        code = end.code
    except OSError as error:  # while help is printed, before a command is invoked
        code = f"Error: standard output: {error.strerror}"
    sys.exit(_code_after_the_last_line(code))


def _code_after_the_last_line(code: str | int | None) -> str | int | None:
    """Return the exit code after flushing standard output; Python itself would exit with 120 on failure."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or f"Error: standard output: {error.strerror}"
    return code
