# SPDX-License-Identifier: MIT
"""How was moons.pt made?

The network is a classifier of the two moons of scikit-learn, with one logit: 2-16-16-1 with ReLU, trained with torch.

    pip install ".[test]" && python examples/train_moons.py

writes the file into the folder of this script, in a few seconds. The file stored here is from torch 2.13.0 on an x86-64
processor.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import make_moons

FOLDER = Path(__file__).resolve().parent
EPOCHS = 400


def main() -> None:
    torch.manual_seed(0)
    points, labels = make_moons(400, noise=0.15, random_state=0)
    inputs, targets = (torch.from_numpy(each.astype(np.float32)) for each in (points, labels))
    layers = [torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-4)
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(inputs)[:, 0], targets).backward()
        optimizer.step()
    right = (model(inputs)[:, 0] > 0) == (targets > 0)
    print(f"{int(right.sum())} of {len(right)} points are on the right side")
    torch.save(model.state_dict(), FOLDER / "moons.pt")


if __name__ == "__main__":
    main()
