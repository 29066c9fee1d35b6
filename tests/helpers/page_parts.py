# SPDX-License-Identifier: MIT
"""What is in the text of a page?"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any

import numpy as np

__all__ = ["Parts", "header_of", "sections_of"]


class Parts(HTMLParser):
    """The scripts, styles and policy of a page, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self.kinds: list[str | None] = []
        self.policy, self.within = "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        self.within = tag
        if tag in self.texts:
            self.texts[tag].append("")
        if tag == "script":
            self.kinds.append(given.get("type"))
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        assert not any(name.startswith("on") or name in ("src", "href", "style") for name in given)

    def handle_endtag(self, tag: str) -> None:
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within in self.texts:
            self.texts[self.within][-1] += data


def header_of(text: str) -> dict[str, Any]:
    """Return the header of a page."""
    found: dict[str, Any] = json.loads(Parts(text).texts["script"][0])
    return found


def sections_of(text: str) -> dict[str, np.ndarray]:
    """Unpack the arrays, as `browser/read.js` does."""
    data = b64decode(Parts(text).texts["script"][1])
    found = {}
    for name, section in header_of(text)["steps"][0]["index"].items():
        planes = zlib.decompress(data[section["at"] : section["at"] + section["bytes"]])
        kind = np.dtype("<" + section["kind"])
        rows = np.frombuffer(planes, np.uint8).reshape(kind.itemsize, section["count"])
        array = np.ascontiguousarray(rows.T).view(kind).reshape(-1).copy()
        highest = -1
        for place in range(len(array) if section["new"] else 0):
            array[place] = highest + 1 - array[place]
            highest = max(highest, array[place])
        found[name] = array
    return found
