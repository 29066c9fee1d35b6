# SPDX-License-Identifier: MIT
"""Which network is an exported program of torch, a ``.pt2`` file or a module with an input shape?

`graph` reads the nodes with their arguments, `operators`, `constants` and `resize` have the meaning of each operator of
torch, `network` reads the whole program, and `module` exports a live module and reads the result.
"""
