# SPDX-License-Identifier: MIT
"""How is a job cut into pieces that others do: processes, a cluster, a queue of your own?

`split` gives tasks, `run` does one and gives a result, `join` puts the results together; tasks and results can be
pickled, and the results may come in any order. What comes out is what `regions.certified_count` returns in one go, or
`regions.enumerate`. ``regions.count(.., executor=..)`` and ``regions.enumerate(.., executor=..)`` do all of that by
themselves.

>>> import regions
>>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
>>> lines = [regions.Segment([-1, k], [1, 3]) for k in range(-2, 1)]
>>> results = [regions.tasks.run(task) for task in regions.tasks.split(net, lines, 2)]
>>> regions.tasks.join(results[::-1])[0]
array([3, 3, 2])
"""

from regions.enumeration.joining import join
from regions.enumeration.tasks import Result, Task, run, split

__all__ = ["Result", "Task", "join", "run", "split"]
