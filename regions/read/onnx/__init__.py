# SPDX-License-Identifier: MIT
"""Which network is an ONNX file?

`graph` reads the nodes, `tensors` and `external` the stored numbers, `operators`, `resize` and `values` have the
meaning of each operator, `folding` computes constants, and `network` reads the whole graph.
"""
