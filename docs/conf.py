# SPDX-License-Identifier: MIT
"""How is the documentation site made?

    pip install -e ".[docs]"
    sphinx-build -W --keep-going -c docs . build/site

The source folder is the root of the checkout, and the pages are the Markdown files there. Links therefore work on the
repository's host and on the site. `docs/index.md` is the first page, and the order of its links is the order of all
pages: `read_the_order` makes the table of contents from it, and Sphinx reports a missing page. `docs/api/` says where
each public name is shown; the rest of the reference comes from docstrings. `gallery.py` writes the pages of
`docs/gallery.md`. Generated files are not kept in git.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx

import regions

sys.path.insert(0, str(Path(__file__).parent))
from gallery import write_pages

project = "relu-regions"
copyright = "the relu-regions developers"
version = release = regions.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "bench/*.md", "csrc/*.md", "examples/README.md"]
exclude_patterns = [".*", "build", "dist", "regions", "tests"]
myst_heading_anchors = 3  # links such as results.md#what-is-proven-about-it

# In docstrings `name` is a link if it is a public name, and otherwise code.
default_role = "py:obj"
highlight_language = "none"  # blocks without a language; examples with prompts are still Python
autodoc_typehints = "none"  # types are in the docstrings, with shapes
autodoc_mock_imports = ["torch"]  # regions.torch can be documented without torch
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # each class lists its members already

html_theme = "furo"
html_title = "relu-regions"
html_copy_source = False
html_show_sphinx = False
# The site begins at docs/index.html; its root redirects there.
html_additional_pages = {"index": "to_docs.html"}
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]

PICTURE = re.compile(r"!\[([^]]*)\]\(gallery/(\w+)\.png\)")
LINK = re.compile(r"\]\(([^)#:]+\.md)\)")
HEADING = re.compile(r"^## (.*)$", re.MULTILINE)


def read_the_order(app: Sphinx, page: str, source: list[str]) -> None:
    """Give the first page a hidden table of contents for each of its sections: the pages that it links to."""
    if page != root_doc:
        return
    _, *sections = HEADING.split(source[0])
    for caption, text in zip(sections[::2], sections[1::2], strict=True):
        pages = "\n".join(link if link.startswith("..") else f"./{link}" for link in dict.fromkeys(LINK.findall(text)))
        if pages:
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"


def write_the_gallery(app: Sphinx) -> None:
    """Write the pages of docs/gallery.md into the site."""
    if app.builder.format == "html":
        write_pages(Path(app.outdir) / "gallery")
        for picture in (Path(__file__).parent / "gallery").glob("*.png"):
            shutil.copy(picture, Path(app.outdir) / "gallery")


def link_the_gallery(app: Sphinx, page: str, source: list[str]) -> None:
    """Let each picture of docs/gallery.md lead to its page, which is only on the site."""
    if page == "docs/gallery":
        source[0] = PICTURE.sub(r'<a href="../gallery/\2.html"><img alt="\1" src="../gallery/\2.png"></a>', source[0])


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_the_gallery)
    app.connect("source-read", read_the_order)
    app.connect("source-read", link_the_gallery)
