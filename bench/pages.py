# SPDX-License-Identifier: MIT
"""What does it cost to write and to open a page, and how smoothly does it move without a graphics card?

    python bench/pages.py                    # p2_256x4, in each browser that is found
    python bench/pages.py p2_128x3 --rounds 9
    python bench/pages.py p2_640x3 --answers 10000   # does the page find what the partition finds?

Writing is measured in processor time. A page is opened offline, as in the tests, with software drawing. The time until
its first picture is the processor time of the main thread of the page's process, as Linux counts it. Panning is a
drag with the browser's own events. Its frames are counted on the page and, in turns, on a page whose canvas only
clears itself in each frame. The result is the median of the ratios of neighbouring turns, because a busy machine slows
both sides of a ratio.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

import regions  # noqa: E402
from browser import Browser, Page, chromium  # type: ignore[import-not-found]  # noqa: E402
from firefox import Firefox, FirefoxPage, firefox  # type: ignore[import-not-found]  # noqa: E402
from look_judge import differences  # type: ignore[import-not-found]  # noqa: E402
from workloads import WORKLOADS, build_layers, build_polygon  # noqa: E402

WIDTH, HEIGHT, SECONDS = 1400, 900, 3.0
CPU_TICK = os.sysconf("SC_CLK_TCK")
BLANK = """<!doctype html><meta charset="utf-8">
<style>body { margin: 0 } canvas { width: 100vw; height: 100vh; display: block }</style><canvas></canvas>
<script>
const canvas = document.querySelector("canvas"), log = {};
Object.assign(canvas, { width: innerWidth, height: innerHeight });
const gl = canvas.getContext("webgl2", { antialias: false, alpha: false });
globalThis.look = { frames: 0, log, get idle() { return look.frames > 3; } };
log.error = null;
(function frame() {
  requestAnimationFrame(frame);
  look.frames++;
  gl.clearColor(Math.random(), 0, 0, 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
})();
</script>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("workload", nargs="?", default="p2_256x4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--maps", action="store_true", help="find the maps of the outputs with the regions")
    parser.add_argument(
        "--answers", type=int, metavar="N", help="ask a page about N random points and all vertices instead"
    )
    options = parser.parse_args()
    workload = WORKLOADS[options.workload]
    network, polygon = regions.Network(build_layers(workload)), build_polygon(workload)
    part = regions.enumerate(network, polygon, maps=options.maps)
    with TemporaryDirectory() as name:
        path, blank = Path(name, "page.html"), Path(name, "blank.html")
        if options.answers:
            compare(part, path, options.answers)
            return
        blank.write_text(BLANK, "ascii")
        times = []
        for _ in range(3):
            start = time.process_time()
            part.to_html(path)
            times.append(time.process_time() - start)
        print(
            f"{workload.name}: {len(part):,} regions, {path.stat().st_size / 1e6:.1f} MB, load {os.getloadavg()[0]:.1f}"
        )
        print(f"written      {min(times):.2f} to {max(times):.2f} s of processor time")
        for kind, program in ((Browser, chromium()), (Firefox, firefox())):
            if program is None:
                print(f"{kind.__name__} is not there")
                continue
            browser: Any = kind(program)
            measure(browser, "Chromium" if kind is Browser else "Firefox", path, blank, options.rounds)
            browser.close()


def compare(part: regions.Partition, path: Path, points: int) -> None:
    """Print how many answers of a page differ from answers of the partition, and how many were asked for."""
    program = chromium()
    if program is None:
        sys.exit("there is no Chromium")
    part.to_html(path)
    browser: Any = Browser(program)
    page = browser.open(path, 400, 300)
    while not page.value("Boolean(globalThis.look && (look.idle || look.log.error))"):  # it may be very large
        time.sleep(0.5)
    for name, (differing, asked) in differences(page, part, points).items():
        print(f"{name:16} {asked:9,} asked, {differing} differ", flush=True)
    browser.close()


def measure(browser: Any, name: str, path: Path, blank: Path, rounds: int) -> None:
    """Print the times until the first picture, and the rates of frames, in one browser."""
    opened = [first_picture(browser, path) for _ in range(3)]
    main_thread, wall = zip(*opened, strict=True)
    print(f"{name:12} first picture: main thread {seconds(main_thread)}, by the clock {seconds(wall)}")
    rates = []
    for _ in range(rounds):
        rates.append([panning(browser, each) for each in (blank, path)])
    ratios = [ours / theirs for theirs, ours in rates]
    theirs, ours = (statistics.median(column) for column in zip(*rates, strict=True))
    each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"{name:12} panning: {ours:.0f} frames a second, blank {theirs:.0f}; ratios {each}; median "
          f"{statistics.median(ratios):.2f}; load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip


def seconds(times: tuple[float, ...]) -> str:
    return f"{min(times):.2f} to {max(times):.2f} s"


def first_picture(browser: Any, path: Path) -> tuple[float, float]:
    """Return the processor time of the page's main thread, and the time by the clock, until the first picture."""
    before = main_threads(browser.process.pid)
    page = browser.open(path, WIDTH, HEIGHT)
    page.wait("Boolean(globalThis.look && (look.log.first || look.log.error))")
    used = {pid: spent - before.get(pid, 0.0) for pid, spent in main_threads(browser.process.pid).items()}
    used.pop(browser.process.pid, None)
    wall = page.value("look.log.first") / 1000
    page.close()
    return max(used.values()), wall


def main_threads(root: int) -> dict[int, float]:
    """Return the processor time of the main thread of each process of a browser, in seconds."""
    parents, spent = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        try:
            status = (folder / "stat").read_text().rpartition(")")[2].split()
            thread = (folder / "task" / folder.name / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text()
        except OSError:  # it has ended
            continue
        parents[pid] = int(status[1])
        # Only the processes of pages, not the browser's processes for graphics and network.
        if "--type=renderer" in command or "-contentproc" in command and command.rstrip("\0").endswith("tab"):
            spent[pid] = (int(thread[11]) + int(thread[12])) / CPU_TICK
    return {pid: time_ for pid, time_ in spent.items() if is_below(pid, root, parents)}


def is_below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid > 1 and pid != root:
        pid = parents.get(pid, 0)
    return pid == root


def panning(browser: Any, path: Path) -> float:
    """Return the frames a second while the page is dragged."""
    page = browser.open(path, WIDTH, HEIGHT)
    page.wait("Boolean(globalThis.look && look.idle)")
    button(page, "down")
    start = time.monotonic()
    frames = page.value("look.frames")
    while (now := time.monotonic() - start) < SECONDS:
        drag(page, 600 + 200 * math.sin(2 * now), 450 + 150 * math.sin(3 * now))
    rate = (page.value("look.frames") - frames) / (time.monotonic() - start)
    button(page, "up")
    page.close()
    return float(rate)


def button(page: Page | FirefoxPage, way: str) -> None:
    if isinstance(page, FirefoxPage):
        page._act("pointer", {"type": "pointerMove", "x": 600, "y": 450})
        page._act("pointer", {"type": f"pointer{way.capitalize()}", "button": 0})
    else:
        kind = {"down": "mousePressed", "up": "mouseReleased"}[way]
        page.ask("Input.dispatchMouseEvent", type=kind, x=600, y=450, button="left", clickCount=1)


def drag(page: Page | FirefoxPage, x: float, y: float) -> None:
    if isinstance(page, FirefoxPage):
        page._act("pointer", {"type": "pointerMove", "x": round(x), "y": round(y)})
    else:
        page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left", buttons=1)


if __name__ == "__main__":
    main()
