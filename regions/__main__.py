# SPDX-License-Identifier: MIT
"""What does `python -m regions` do? The same as the command `regions`."""

from regions.cli import main

main()
