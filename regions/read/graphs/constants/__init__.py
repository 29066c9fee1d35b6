# SPDX-License-Identifier: MIT
"""Which constants does a graph compute from other constants, whatever format it has?

`evaluation` applies an operator to constants. The other files have functions of numpy for the operators, in one table
`FUNCTIONS` by their names in torch.
"""
