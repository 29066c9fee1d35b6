# SPDX-License-Identifier: MIT
"""How were digits.pt and points.csv made?

The network is a small classifier of handwritten digits, trained with torch on the 1,797 images of 8 x 8 pixels that
scikit-learn includes; the points are one held-out image of each of the digits 0, 1 and 2. The network is 64-64-32-10
with ReLU; pixels are divided by 16, so every image lies in the unit cube.

    pip install ".[test]" && python examples/train_digits.py

writes both files into the folder of this script, in a few seconds. Everything is seeded, but torch guarantees
the same bits only on the same machine and version: the files stored here are from torch 2.13.0 on an x86-64
processor.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

FOLDER = Path(__file__).resolve().parent
EPOCHS = 60
BATCH = 64


def build_model() -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(64, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 32),
        torch.nn.ReLU(),
        torch.nn.Linear(32, 10),
    )


def train(model: torch.nn.Sequential, images: torch.Tensor, labels: torch.Tensor) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()


def main() -> None:
    torch.manual_seed(0)
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, digits.target, test_size=0.25, random_state=0, stratify=digits.target
    )
    model = build_model()
    train(model, torch.from_numpy(train_images), torch.from_numpy(train_labels))

    with torch.no_grad():
        predicted = model(torch.from_numpy(test_images)).argmax(dim=1).numpy()
    correct = predicted == test_labels
    print(f"held-out accuracy: {correct.mean():.2%} ({correct.sum()} of {correct.size} images)")

    torch.save(model.state_dict(), FOLDER / "digits.pt")
    # The first held-out image of each class that is classified correctly. Sixteenths are short in decimal, so
    # nothing is rounded.
    chosen = [int(np.flatnonzero(correct & (test_labels == label))[0]) for label in (0, 1, 2)]
    np.savetxt(FOLDER / "points.csv", test_images[chosen], delimiter=",", fmt="%g")


if __name__ == "__main__":
    main()
