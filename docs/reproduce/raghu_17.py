# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 17: what can be learnt by training only one layer of a wider network, on harder images?

As Fig. 7 (`raghu_7.py`), with hard tanh networks of width 200 on colour images. The paper uses CIFAR-10, and mostly
finds that lower layers are better, and low test accuracy. Here the images are patches of photographs
(`common_convolutional.py`).
"""

from __future__ import annotations

import sys

from common import read_options
from common_convolutional import Photographs
from common_torch import train_single_layers

SMALL = {"epochs": 1, "networks": 1, "width": 16, "depth": 3, "side": 8, "patches": 200}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, depth=8, width=200, epochs=100, networks=3, side=16, patches=2500)
    images = Photographs(options, options.side, options.patches)
    return train_single_layers(options, images, images.classes, __file__)


if __name__ == "__main__":
    main(sys.argv[1:])
