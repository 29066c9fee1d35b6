# SPDX-License-Identifier: MIT
"""Which network is an ONNX file?

`graph` reads the nodes and `tensors` the stored numbers, `operators`, `images`, `resize` and `values` have the meaning
of each operator, `folding` computes constants, and `network` reads the whole graph.
"""
