# SPDX-License-Identifier: MIT
"""How does the command `regions` start?

It imports the package, which takes a moment, and Ctrl-C may come in that moment. This module is outside of the package,
because Python runs the package's own imports before any of its modules.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; never returns."""
    try:
        from regions.cli import main as run
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
    run()
