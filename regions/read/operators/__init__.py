# SPDX-License-Identifier: MIT
"""What do operators of models do, whatever format names them? Each makes operations of `regions.read.graph_builder`."""
