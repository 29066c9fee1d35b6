# SPDX-License-Identifier: MIT
"""Which network is a state dict, a mapping of names to tensors without any graph?

`prefixes` selects the tensors, `layer_order` puts the modules in order, `between_layers` places the activations, and
`steps` makes a network of dense layers, scalings and activations. Readers of formats without a graph use `steps`, too.
"""
