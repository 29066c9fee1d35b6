# SPDX-License-Identifier: MIT
"""On how many random networks does a page, in a browser, find what its partition finds?

``python tests/fuzz_pages.py --cases 1000 --seed 0`` enumerates networks of `generators.py`, with a limit that leaves
some results partial, writes their pages, and asks each page for regions, patterns and outputs (`look_judge.py`). A page
that reports an error or sends a request is a finding as well. Networks that `to_html` refuses, because a page cannot
hold their numbers, are counted. Outputs may differ where a network multiplies the rounding errors of its vertices a
millionfold, and points may be missed beside regions that are thinner than the spacing of doubles. Cost: some 0.4 s a
case, most of it in the browser.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from browser import Browser, chromium  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_deep import DEEP_FAMILIES  # noqa: E402
from generators_graphs import GRAPH_FAMILIES  # noqa: E402
from generators_maxima import MAX_FAMILIES  # noqa: E402
from look_judge import differences  # noqa: E402

NAMES = (*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES, *DEEP_FAMILIES)
LIMIT, POINTS = 300, 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    program = chromium()
    if program is None:
        sys.exit("there is no Chromium")
    warnings.simplefilter("ignore")
    asked: Counter[str] = Counter()
    findings = 0
    browser = Browser(program)
    with TemporaryDirectory() as folder:
        every = ((name, d, seed) for seed in count(options.seed) for name in NAMES for d in (1, 2))
        for case in islice(every, options.cases):
            found = look_at(browser, Path(folder, "page.html"), *case, asked)
            findings += bool(found)
            if found:
                print(*case, found, flush=True)
    browser.close()
    print(f"{findings} findings in {options.cases} cases; asked for: {dict(asked)}")
    return int(findings > 0)


def look_at(browser: Browser, path: Path, family: str, dimension: int, seed: int, asked: Counter[str]) -> object:
    """Return what is wrong with the page of one case, or nothing."""
    try:
        part = regions.enumerate(*draw(family, dimension, seed), limit=LIMIT)
    except regions.LimitReached as reached:
        part = reached.partial
    try:
        part.to_html(path)
    except (regions.errors.DomainError, regions.errors.NonFiniteError) as error:
        asked[f"refused: {type(error).__name__}"] += 1
        return None
    page = browser.open(path, 300, 200)
    try:
        page.settle()
        answers = differences(page, part, POINTS, seed)
        asked.update({name: number for name, (_, number) in answers.items()})
        wrong = {name: differing for name, (differing, _) in answers.items() if differing}
        return wrong or page.complaints()
    except Exception as error:
        return repr(error)
    finally:
        page.close()
        browser.events.clear()


if __name__ == "__main__":
    sys.exit(main())
