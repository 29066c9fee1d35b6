# SPDX-License-Identifier: MIT
"""How was the picture of docs/how-to/look.md made?

    pip install ".[plot]" && python docs/look.py docs chromium

writes the page of the three digits, and has a Chromium take the picture, in a few seconds.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import regions

ROOT = Path(__file__).resolve().parent.parent
# Drawing in software, and enough of the page's own time to draw everything.
FLAGS = ("--headless=new", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--virtual-time-budget=4000")


def main(folder: Path, browser: str) -> None:
    network = regions.load(ROOT / "examples/digits.pt", activation="relu")
    digits = dict(zip(("zero", "one", "two"), regions.load_points(ROOT / "examples/points.csv"), strict=True))
    part = regions.enumerate(network, regions.circumsquare(*digits.values()))
    images = {name: np.clip(pixels, 0, 1).reshape(8, 8) for name, pixels in digits.items()}
    with TemporaryDirectory() as name:
        page, picture = Path(name, "page.html"), Path(name, "look.png")
        part.to_html(page, title="Three digits", mark=digits, images=images)
        size = ("--window-size=1000,760", "--hide-scrollbars", "--no-sandbox")
        subprocess.run([browser, *FLAGS, *size, f"--screenshot={picture}", page.as_uri()], check=True)
        # A palette takes a third of the bytes.
        Image.open(picture).convert("RGB").quantize(256).save(folder / "look.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
