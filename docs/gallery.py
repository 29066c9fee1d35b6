# SPDX-License-Identifier: MIT
"""How are the pictures and pages of docs/gallery.md made, and the film of the README?

    pip install ".[plot]" scikit-learn torch && python docs/gallery.py docs chromium

runs the lines of docs/gallery.md, has a Chromium take a picture of each page into docs/gallery/, puts figures there,
and trains a network on two spirals for docs/training.gif, in two minutes. `docs/conf.py` writes the pages into the
site, which needs the lines before the figures only.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Drawing in software, and enough of the page's own time to draw everything.
FLAGS = ("--headless=new", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--virtual-time-budget=4000")
SIZE = ("--window-size=820,560", "--hide-scrollbars", "--no-sandbox")
FIGURES = "## Figures"
LARGEST_FILM, LARGEST_FIGURE = 300_000, 200_000


def write_pages(folder: Path) -> list[Path]:
    """Run the lines of docs/gallery.md before the figures, and return the pages, which lie in the folder."""
    return _run((ROOT / "docs" / "gallery.md").read_text("utf-8").partition(FIGURES)[0], folder, "*.html")


def write_figures(folder: Path) -> None:
    """Run all lines of docs/gallery.md, and put the figures into the folder."""
    for figure in _run((ROOT / "docs" / "gallery.md").read_text("utf-8"), folder, "figure-*"):
        if figure.stat().st_size > LARGEST_FIGURE:
            sys.exit(f"{figure} has {figure.stat().st_size:,} bytes, more than {LARGEST_FIGURE:,}")


def _run(text: str, folder: Path, wanted: str) -> list[Path]:
    """Run the blocks of a page, and return the files of these names, which are copied into the folder."""
    parser = doctest.DocTestParser()
    shared: dict[str, object] = {"__name__": "__main__"}
    folder.mkdir(parents=True, exist_ok=True)
    folder, before = folder.resolve(), Path.cwd()
    with TemporaryDirectory() as name:
        shutil.copytree(ROOT / "examples", Path(name, "examples"))
        os.chdir(name)
        try:
            for block in BLOCK.findall(text):
                for example in parser.get_examples(block):
                    exec(compile(example.source, "docs/gallery.md", "exec"), shared)
        finally:
            os.chdir(before)
        return [Path(shutil.copy(file, folder)) for file in sorted(Path(name).glob(wanted))]


def take_pictures(folder: Path, browser: str) -> None:
    from PIL import Image

    (folder / "gallery").mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        for page in write_pages(Path(name)):
            picture = page.with_suffix(".png")
            subprocess.run([browser, *FLAGS, *SIZE, f"--screenshot={picture}", page.as_uri()], check=True)
            # Without the panel; a palette takes a third of the bytes.
            left = (
                Image.open(picture).convert("RGB").crop((0, 0, 510, 560)).resize((408, 448), Image.Resampling.LANCZOS)
            )
            left.quantize(64, dither=Image.Dither.NONE).save(folder / "gallery" / picture.name, optimize=True)


def film(folder: Path) -> None:
    """Train a network on two spirals, and write the film of its regions."""
    import torch
    from PIL import Image, ImageSequence

    import regions

    torch.manual_seed(3)
    torch.set_num_threads(1)
    t = torch.linspace(0.4, 3.3 * np.pi, 400)
    arm = torch.stack([t * torch.cos(t), t * torch.sin(t)], dim=1) / (3.6 * np.pi)
    points, classes = torch.cat([arm, -arm]), torch.arange(2).repeat_interleave(400)
    sizes = [2, 24, 24, 24, 2]
    layers = [each for n, k in zip(sizes, sizes[1:], strict=False) for each in (torch.nn.Linear(n, k), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(model.parameters(), 4e-3)
    square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    record = regions.TrainingRecord(square, keep=True)
    for step in range(2001):
        if step in (0, 10, 20, 40, 60, 80, 110, 150, 200, 300, 450, 700, 1000, 2000):
            record.record(step, model)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(points), classes).backward()
        optimizer.step()
    with TemporaryDirectory() as name:
        record.animate(Path(name, "film.gif"))
        whole = Image.open(Path(name, "film.gif"))
        times = [frame.info["duration"] for frame in ImageSequence.Iterator(whole)]
        size = round(whole.width * 0.625), round(whole.height * 0.625)
        frames = [
            frame.convert("RGB").resize(size, Image.Resampling.LANCZOS) for frame in ImageSequence.Iterator(whole)
        ]
    several = Image.fromarray(np.concatenate([np.asarray(frame) for frame in frames[2::3]]))
    colours = several.quantize(26, dither=Image.Dither.NONE)
    first, *rest = (frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames)
    path = folder / "training.gif"
    first.save(path, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
    if path.stat().st_size > LARGEST_FILM:
        sys.exit(f"{path} has {path.stat().st_size:,} bytes, more than {LARGEST_FILM:,}")


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]), sys.argv[2])
    write_figures(Path(sys.argv[1]) / "gallery")
    film(Path(sys.argv[1]))
