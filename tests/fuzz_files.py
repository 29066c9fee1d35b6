# SPDX-License-Identifier: MIT
"""How many damaged files get past the readers?

``python tests/fuzz_files.py --cases 300000 --seed 0`` damages one sound file of each kind that is read, in all the ways
of `fuzz_file_mutations.py`, and reads it. ``--every-bit`` instead flips each bit of each file, once. A finding is
another exception than the package's own, a message that is long or not printable, more than 3 seconds of the processor,
300 MB of address space beyond what the process had, a crash, or a network that changed silently, as
`fuzz_file_kinds.py` defines it. The work is done in child processes with a limit on memory, so that a crash is a
finding and does not end the program. A case depends only on its number and the seed: ``--case 123`` shows one.
``--drawn onnx`` and ``--drawn pt2`` read random graphs instead, valid and invalid ones, which no mutation of a sound
file finds; every third resulting network is compared with the result of onnx or torch for the file.
Cost: 2 ms a case.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import graph_drawing_onnx  # noqa: E402
import graph_drawing_pt2  # noqa: E402
import regions  # noqa: E402
from fuzz_file_kinds import Kind, kinds  # noqa: E402
from fuzz_file_mutations import damage, rewrite  # noqa: E402
from graph_judges import judged_by_onnx, judged_by_torch  # noqa: E402
from regions.errors import InternalError, RegionsError  # noqa: E402
from regions.files.opened import UNFORESEEN  # noqa: E402

SECONDS, MEBIBYTES, LONGEST = 3.0, 300, 3000
BATCH = 500
# For each format: the generator of random graphs, the judge of their networks, and the package that it needs.
DRAWN = {
    "onnx": (graph_drawing_onnx.drawn, judged_by_onnx, "onnx.reference"),
    "pt2": (graph_drawing_pt2.drawn, judged_by_torch, "torch"),
}


class _TooLong(BaseException):
    """Not an `Exception`, so that no reader catches it."""


def outcome(kind: Kind, content: bytes, changed: int | None) -> tuple[str, str | None]:
    """Read a damaged file; return the outcome in a word, and what is wrong with it, or None.

    ``changed`` is how many of its bytes differ from the sound file; None if it was rewritten as its format allows.
    """
    word, wrong, result = _attempt(kind.read, content)
    if result is None or changed is None or not kind.judged:
        return word, wrong
    structure, numbers = result
    expected, sound = kind.read(kind.content)
    if structure != expected or numbers.shape != sound.shape:
        return "finding", f"another structure without a word: {structure}"
    different = int((numbers != sound).sum())
    if different and (kind.protected or (kind.counted and different > changed)):
        return "finding", f"{different} numbers changed without a word"
    return "read", None


def _attempt(read: Callable[[bytes], Any], content: bytes) -> tuple[str, str | None, Any]:
    """Read a file; return the outcome in a word, what is wrong with it, and the result."""
    try:
        return "read", None, read(content)
    except InternalError as error:
        return "finding", f"InternalError: {error}", None
    except RegionsError as error:
        message = str(error)
        if UNFORESEEN in message:
            return "finding", message[:400], None
        if not message.isprintable() or len(message) > LONGEST:
            return "finding", f"a message of {len(message)} characters: {message[:300]!r}", None
        return type(error).__name__, None, None
    except MemoryError:
        return "finding", "MemoryError", None
    except _TooLong:
        return "finding", f"more than {SECONDS} seconds", None
    except Exception as error:
        return "finding", f"{type(error).__name__}: {str(error)[:300]}", None


def outcome_of_drawn(way: str, number: int, seed: int) -> tuple[str, str | None]:
    """Return the outcome for a random graph; networks are judged if the judge's package is imported."""
    draw, judge, package = DRAWN[way]
    content = draw(random.Random(f"{way} {seed} {number}"))
    word, wrong, network = _attempt(lambda file: regions.load(io.BytesIO(file)), content)
    if network is None or number % 3 or package not in sys.modules:
        return word, wrong
    if not any("left out at the end" in note for note in network.notes):
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        limit, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        different = judge(content, network)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        return ("finding", different) if different else ("read and judged", None)
    return word, wrong


def drawn(number: int, seed: int) -> tuple[str, bytes, int | None]:
    """Return the kind of a case, the damaged file, and how many bytes were changed at most."""
    every = kinds()
    names = list(every)
    name = names[number % len(names)]
    chance = random.Random(f"{seed} {number}")
    content, other = every[name].content, every[chance.choice(names)].content
    if chance.randrange(2):
        return name, rewrite(content, other, chance), None
    return name, *damage(content, other, chance)


def _flipped(name: str, bit: int) -> bytes:
    content = bytearray(kinds()[name].content)
    content[bit // 8] ^= 1 << bit % 8
    return bytes(content)


def _too_long(*_: Any) -> None:
    raise _TooLong


def _batch(cases: list[tuple[str, Any]], seed: int, progress: Any) -> tuple[Counter[str], list[str]]:
    """Try some cases; ``progress`` has the index of the current one."""
    counts: Counter[str] = Counter()
    found = []
    for place, (name, number) in enumerate(cases):
        progress.value = place
        if name in DRAWN:
            judge = partial(outcome_of_drawn, name, number, seed)
        elif name:
            judge = partial(outcome, kinds()[name], _flipped(name, number), 1)
        else:
            name, content, changed = drawn(number, seed)
            judge = partial(outcome, kinds()[name], content, changed)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            word, wrong = judge()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        counts[f"{name}: {word}"] += 1
        if wrong:
            found.append(f"{name}, {number}: {wrong}")
    return counts, found


def _worker(todo: Any, done: Any, seed: int, progress: Any) -> None:
    for kind in kinds().values():  # warmed up, so that only the file's own demands count
        kind.read(kind.content)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)  # memory for the judges
    resource.setrlimit(resource.RLIMIT_AS, (used + MEBIBYTES * 2**20, most))
    signal.signal(signal.SIGPROF, _too_long)
    for index, cases in iter(todo.get, None):
        progress.value = 0
        done.put((index, _batch(cases, seed, progress)))


def run(cases: list[tuple[str, Any]], seed: int, workers: int) -> tuple[Counter[str], list[str]]:
    """Try cases in child processes. A child that dies is a finding, and its batch goes on after that case."""
    kinds()  # an error while making a case is not a finding, and would end every child
    context = multiprocessing.get_context("fork")
    batches = [cases[start : start + BATCH] for start in range(0, len(cases), BATCH)]
    counts: Counter[str] = Counter()
    found: list[str] = []
    waiting = list(enumerate(batches))[::-1]
    running: list[tuple[Any, Any, Any, tuple[int, list[tuple[str, Any]]]]] = []
    started = time.monotonic()
    while waiting or running:
        while waiting and len(running) < workers:
            task = waiting.pop()
            todo, done, progress = context.SimpleQueue(), context.SimpleQueue(), context.Value("l", 0)
            child = context.Process(target=_worker, args=(todo, done, seed, progress), daemon=True)
            todo.put(task)
            todo.put(None)
            child.start()
            running.append((child, done, progress, task))
        for entry in list(running):
            child, done, progress, (index, batch) = entry
            if not done.empty():
                _, (more, wrong) = done.get()
                counts += more
                found += wrong
                child.join()
                running.remove(entry)
                if index % 40 == 39:
                    seconds = time.monotonic() - started
                    print(f"{sum(counts.values())} cases, {len(found)} findings, {seconds:.0f} s", flush=True)
            elif not child.is_alive() and done.empty():
                place = progress.value
                found.append(f"{batch[place]}: the process died with {child.exitcode}")
                waiting.append((index, batch[:place] + batch[place + 1 :]))
                running.remove(entry)
        time.sleep(0.005)
    return counts, found


def every_bit() -> Iterator[tuple[str, int]]:
    """Yield each bit of each sound file."""
    for name, kind in kinds().items():
        yield from ((name, bit) for bit in range(8 * len(kind.content)))


def main() -> int:
    """Run from the command line; returns 1 if there was a finding."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--every-bit", action="store_true")
    parser.add_argument("--drawn", choices=sorted(DRAWN), help="read random graphs of this format")
    parser.add_argument("--case", type=int, help="show one case instead")
    options = parser.parse_args()
    if options.drawn:
        for package in ("onnxruntime", DRAWN[options.drawn][2]):  # the first is a better judge, where it is installed
            if find_spec(package.partition(".")[0]):
                import_module(package)
        if options.case is not None:
            print(*outcome_of_drawn(options.drawn, options.case, options.seed), sep="\n")
            return 0
    if options.case is not None:
        name, content, changed = drawn(options.case, options.seed)
        print(name, changed, content, outcome(kinds()[name], content, changed), sep="\n")
        return 0
    cases = list(every_bit()) if options.every_bit else [(options.drawn or "", i) for i in range(options.cases)]
    counts, found = run(cases, options.seed, options.workers)
    for word, count in sorted(counts.items()):
        print(f"{count:8} {word}")
    print(*found[:50], sep="\n")
    what = "bits" if options.every_bit else f"cases, seed {options.seed}"
    kinds_read = f"graphs of {options.drawn}" if options.drawn else f"{len(kinds())} kinds of files"
    print(f"{len(cases)} {what}, {kinds_read}: {len(found)} findings")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
