# SPDX-License-Identifier: MIT
"""How does the command `regions` start?

It imports the package, which takes a moment, and Ctrl-C may come in that moment. This module is outside of the package,
because Python runs the package's own imports before any of its modules. For `python -m regions` they run before this
module too, therefore the package calls `end_quietly_on_ctrl_c` first.
"""

import signal
import sys

__all__ = ["end_quietly_on_ctrl_c", "main"]


def main() -> None:
    """Run the command line; never returns."""
    end_quietly_on_ctrl_c()
    from regions.cli import main as run

    run()


def end_quietly_on_ctrl_c() -> None:
    """Let Ctrl-C print one line instead of a traceback, until a command handles signals itself."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: object) -> None:
    print("Stopped.", file=sys.stderr)
    sys.exit(130)
