# SPDX-License-Identifier: MIT
"""What do the operators of models do, whatever format names them?

Each function adds operations of `regions.read.graphs.builder`.
"""
