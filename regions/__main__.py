# SPDX-License-Identifier: MIT
"""What does `python -m regions` do? The same as the command `regions`."""

from _regions_command import main

main()
