# SPDX-License-Identifier: MIT
"""What does the command `regions` start with?

With what cannot be inside the package: importing that takes a good part of a second, and Ctrl-C in it is to end as
later on, quietly and with 130.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; does not return."""
    try:
        from regions.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
