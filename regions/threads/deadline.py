# SPDX-License-Identifier: MIT
"""When must a call end?

At its timeout. The core and all loops over threads and tasks report their progress a few times a second, and an
exception from that report stops them. Therefore a timeout is a progress report that raises `TimeoutReached` (`until`).
Loops in Python that do not report call `check`.
"""

from __future__ import annotations

from time import monotonic

from regions.errors import TimeoutReached
from regions.text.progress import Report

__all__ = ["NO_DEADLINE", "Deadline"]


class Deadline:
    """The moment at which a call must end, if there is one.

    Parameters
    ----------
    timeout : float or None
        Seconds from now, as `regions.arithmetic.arguments.seconds` checks them.
    """

    def __init__(self, timeout: float | None = None) -> None:
        self.timeout = timeout
        self._end = None if timeout is None else monotonic() + timeout

    def check(self) -> None:
        """Raise `TimeoutReached` if the moment has passed."""
        if self.timeout is not None and self._end is not None and monotonic() >= self._end:
            raise TimeoutReached(
                f"the work was not finished after {self.timeout:g} seconds; raise timeout=, or leave it out",
                timeout=self.timeout,
            )

    def until(self, report: Report | None) -> Report | None:
        """Return a report that also raises `TimeoutReached`; the same report if there is no deadline."""
        if self.timeout is None:
            return report

        def checked_report(share: float, found: int) -> None:
            self.check()
            if report is not None:
                report(share, found)

        return checked_report


NO_DEADLINE = Deadline()
