# SPDX-License-Identifier: MIT
"""Which network is a graph of operators, in any format that has names for values?

`nodes` and `walk` visit the nodes that the outputs depend on, `operators` turns each node into operations of `builder`,
and `lowering` makes a network of the operations. The rooms `onnx` and `exported` read the two formats.
"""
