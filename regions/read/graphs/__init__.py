# SPDX-License-Identifier: MIT
"""Which network does a graph of operators describe, if its values have names?

`nodes` and `walk` visit the nodes that the outputs depend on, `operators` turns each node into operations of `builder`,
and `lowering` makes a network of the operations. The folders `onnx` and `exported` read the two formats.
"""
