# SPDX-License-Identifier: MIT
"""How is a training shown: as a page with a slider, or as a film?

Both take the partitions of the steps, on one domain. The page needs the same layers at all steps, because a neuron that
is chosen there stays chosen. A film has a picture for each step, all of one size and with one meaning of colours.
A GIF has 255 colours, which are chosen for all pictures together, so that a face keeps its colour. An MP4 is made by
the program ffmpeg, which gets the pixels through a pipe.
Cost: about 0.1 s a picture.
"""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regions.errors import MissingDependencyError, ShapeMismatchError
from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import path_of, real
from regions.ground.text.printable import file_name, printable
from regions.networks.network import Network
from regions.pictures.picture_files import figure_size, trim_height
from regions.pictures.picture_style import ColorBy, PictureStyle, checked_style
from regions.pictures.picture_view import make_view, proportion
from regions.pictures.plot import plot
from regions.results.pages.page import page_file, page_pieces, write_pieces
from regions.results.pages.page_style import PageStyle, require_matplotlib
from regions.results.partition import Partition
from regions.results.partition.region import Region

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["animate", "to_html"]

# The partitions of a training, each with the name of its step.
Steps: TypeAlias = list[tuple[str, Partition]]
Frames: TypeAlias = list[NDArray[np.uint8]]

SUFFIXES = (".gif", ".webp", ".mp4")
LEAST_SECONDS, MOST_SECONDS = 0.02, 60.0
# The time of the last picture.
LAST_SECONDS = 2.0
# Width of a picture in inches, and dots per inch; most pictures from which the colours of a GIF are chosen.
WIDTH, DPI, SAMPLED = 4.8, 100, 12


class Kept(Protocol):
    """A `TrainingRecord`, and its partitions."""

    keep: bool
    partitions: list[Partition]

    @property
    def rows(self) -> Sequence[Any]: ...


def to_html(
    record: Kept,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    mark: Any = True,
    images: Mapping[str, Any] | None = None,
    **style: Unpack[PageStyle],
) -> None:
    """Write the page of `Partition.to_html` for all steps, with a slider and a button that plays the training.

    Colours mean the same at all steps: classes, layers and values share one scale.

    Parameters
    ----------
    path : str or path
        Its name ends in ``.html``.
    title : str, optional
        By default the number of steps.
    mark, images, **style
        As for `Partition.to_html`.

    Raises
    ------
    ValueError
        No partitions were kept (``keep=True``); as `Partition.to_html`.
    ShapeMismatchError
        Networks whose layers differ from step to step; as `Partition.to_html`.
    TypeError, DomainError, NonFiniteError, OSError
        As `Partition.to_html`.

    Examples
    --------
    >>> import pathlib, tempfile, regions
    >>> record = regions.TrainingRecord(regions.Rectangle([0, 0], [1, 0], [0, 1]), keep=True)
    >>> for step in range(3):
    ...     net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [-0.2 * step, -0.5]), ([[1.0, 1.0]], [0.0])])
    ...     record.record(step, net)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record.to_html(pathlib.Path(folder, "training.html"), title="Three steps")
    """
    steps = _steps(record)
    file = page_file(path)
    name, last = steps[-1]
    for other_name, other in steps:
        if _layers(other.network) != _layers(last.network):
            raise ShapeMismatchError(
                f"{other_name} has {other.network!r} and {name} has {last.network!r}; a page needs the same layers at "
                "all steps"
            )
    heading = f"{len(steps)} step{'s' * (len(steps) != 1)} of a training" if title is None else title
    names, parts = zip(*steps, strict=True)
    write_pieces(file, page_pieces(parts, names, heading, mark, images, style))


def animate(
    record: Kept,
    path: str | PathLike[str],
    *,
    color_by: ColorBy | Callable[[Region], float] = "class",
    output_index: int = 0,
    mark: Any = False,
    title: str | Sequence[str] | None = None,
    legend: bool = True,
    seconds: float = 0.4,
    **style: Unpack[PictureStyle],
) -> None:
    """Write a film of all steps: pictures as from `regions.plot`, with the same colours at all steps.

    Parameters
    ----------
    path : str or path
        It ends in ``.gif``, ``.webp`` or ``.mp4``. The last needs the program ffmpeg.
    color_by, output_index, mark, legend
        As for `regions.plot`, with a function in place of an array of numbers.
    title : str, or a sequence of one for each step, optional
        Replaces the step and the number of regions: a single title is the same at all steps, so they are no longer
        said. "" for none.
    seconds : float
        Time for each step, from 0.02 to 60. The last step is shown for at least two seconds.
    **style
        Data points, colours and names of classes, as for `regions.plot`.

    Raises
    ------
    ValueError
        No partitions were kept (``keep=True``); another file name; as `regions.plot`.
    TypeError, ShapeMismatchError, NonFiniteError, DomainError
        As `regions.plot`.
    MissingDependencyError
        matplotlib is not installed, or its Pillow cannot write WebP.
    OSError
        The file cannot be written, or ffmpeg is not found or fails.

    Examples
    --------
    >>> import pathlib, tempfile, regions
    >>> record = regions.TrainingRecord(regions.Rectangle([0, 0], [1, 0], [0, 1]), keep=True)
    >>> for step in range(3):
    ...     net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [-0.2 * step, -0.5]), ([[1.0, 1.0]], [0.0])])
    ...     record.record(step, net)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record.animate(pathlib.Path(folder, "training.gif"), color_by="pattern")
    """
    steps = _steps(record)
    file = path_of(path)
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"path must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {file_name(file)}")
    each = real(seconds, "seconds")
    if not LEAST_SECONDS <= each <= MOST_SECONDS:
        raise ValueError(f"seconds must be from {LEAST_SECONDS:g} to {MOST_SECONDS:g}, got {each:g}")
    require_matplotlib()
    # ffmpeg is looked for before anything is drawn.
    encode = {".gif": _write_gif, ".webp": _write_webp}.get(suffix) or _mp4_writer()
    with replacing(file) as temporary:
        encode(_frames(steps, color_by, output_index, mark, title, legend, style), temporary, each)


def _steps(record: Kept) -> Steps:
    """Return the partitions that were kept, each with the name of its step."""
    if not record.keep:
        raise ValueError("this record keeps no partitions; make it with keep=True")
    if not record.partitions:
        raise ValueError("there is no step yet; record one first")
    return [(f"step {row.step}", part) for row, part in zip(record.rows, record.partitions, strict=True)]


def _layers(network: Network) -> tuple[Any, ...]:
    branches = network.graph.kink_rows
    return (
        network.n_out,
        len(network.widths),
        network.kink_layers.tolist(),
        network.kink_units.tolist(),
        branches.tolist() if (branches[:, 1] >= 0).any() else None,
    )


def _frames(
    steps: Steps,
    color_by: ColorBy | Callable[[Region], float],
    output_index: int,
    mark: Any,
    title: str | Sequence[str] | None,
    legend: bool,
    style: PictureStyle,
) -> Frames:
    """Draw a picture of each step, uint8 [height, width, 3], all of one size."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    parts = [part for _, part in steps]
    shape = proportion(make_view(parts[0], np.zeros((0, parts[0].domain.n_in))))
    given = checked_style(style, parts[0].domain.n_in).figsize
    style.pop("figsize", None)
    size = given or figure_size([shape], WIDTH)
    figures = [Figure(figsize=size, dpi=DPI, layout="constrained") for _ in steps]
    axes = [figure.add_subplot() for figure in figures]
    titles: Any = [title] * len(steps) if isinstance(title, str) else title
    if titles is None:
        titles = [f"{name}: {len(part):,} region{'s' * (len(part) != 1)}" for name, part in steps]
    plot(parts, axes, color_by, output_index, mark=mark, title=titles, legend=legend, **style)
    if parts[0].dimension == 1:
        low, high = zip(*(ax.get_ylim() for ax in axes), strict=True)
        for ax in axes:
            ax.set_ylim(min(low), max(high))
    elif given is None:
        trim_height(figures[0])
    frames = []
    for figure in figures:
        figure.set_figheight(figures[0].get_figheight())
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        frames.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    return frames


def _milliseconds(count: int, seconds: float) -> list[int]:
    return [round(1000 * seconds)] * (count - 1) + [round(1000 * max(seconds, LAST_SECONDS))]


def _write_gif(frames: Frames, path: Path, seconds: float) -> None:
    from PIL import Image

    some = frames[:: -(-len(frames) // SAMPLED)]
    palette = Image.fromarray(np.concatenate([*some, frames[-1]])).quantize(255, dither=Image.Dither.NONE)
    first, *rest = (Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    times = _milliseconds(len(frames), seconds)
    first.save(path, "GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=True)


def _write_webp(frames: Frames, path: Path, seconds: float) -> None:
    from PIL import Image, features

    if not features.check("webp"):
        raise MissingDependencyError("PIL", "plot", "with WebP, for films that end in .webp; .gif needs only Pillow")
    first, *rest = map(Image.fromarray, frames)
    times = _milliseconds(len(frames), seconds)
    first.save(path, "WEBP", save_all=True, append_images=rest, duration=times, loop=0, quality=80)


def _mp4_writer() -> Any:
    """Return a function that writes frames with ffmpeg."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise FileNotFoundError(
            "the program ffmpeg was not found, and films that end in .mp4 need it. Install it, or write a .gif or .webp"
        )

    def write(frames: Frames, path: Path, seconds: float) -> None:
        height, width, _ = frames[0].shape
        last = [frames[-1]] * max(0, round(LAST_SECONDS / seconds) - 1)
        source = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", repr(1 / seconds), "-i", "-")
        # Players want even sizes and halved colours.
        target = (
            "-vf",
            "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white",
            "-pix_fmt",
            "yuv420p",
            "-f",
            "mp4",
            f"file:{path}",
        )
        pixels = b"".join(frame.tobytes() for frame in [*frames, *last])
        done = subprocess.run(
            [program, "-y", "-loglevel", "error", *source, *target], input=pixels, capture_output=True
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise OSError(errno.EIO, f"ffmpeg could not write the film: {printable(said, 200)}")

    return write
