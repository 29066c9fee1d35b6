# SPDX-License-Identifier: MIT
"""How is a job divided among processes, a cluster, or a queue of your own?

`split` makes tasks, `run` runs one task and returns its result, and `join` combines the results. Tasks and results can
be pickled, and the results may arrive in any order. The joined result equals the result of
`regions.certified_count` or `regions.enumerate`. ``regions.count(.., executor=..)`` and ``regions.enumerate(..,
executor=..)`` do all of this by themselves.

>>> import regions
>>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
>>> lines = [regions.Segment([-1, k], [1, 3]) for k in range(-2, 1)]
>>> results = [regions.jobs.run(task) for task in regions.jobs.split(net, lines, 2)]
>>> regions.jobs.join(results[::-1])[0]
array([3, 3, 2])
"""

from regions.counting.found import End, Found
from regions.counting.joining import join
from regions.counting.tasks import Result, Task, run, split

__all__ = ["End", "Found", "Result", "Task", "join", "run", "split"]
