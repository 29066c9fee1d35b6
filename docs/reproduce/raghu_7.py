# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 7: what can be learnt by training only one layer?

Exactly one layer of a hard tanh network of width 100 with sigma_w = 1 is trained, on scikit-learn's digits in place of
MNIST. The paper finds that accuracy is lower for higher layers, because the layers above make a layer expressive. The
table also has the transitions of the trained network's hidden neurons on lines between images.
"""

from __future__ import annotations

import sys

from common import read_options
from common_torch import Images, train_single_layers

SMALL = {"epochs": 3, "networks": 1, "width": 16, "depth": 3}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, depth=9, width=100, epochs=100, networks=3)
    return train_single_layers(options, Images(options), 10, __file__)


if __name__ == "__main__":
    main(sys.argv[1:])
