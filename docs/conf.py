# SPDX-License-Identifier: MIT
"""How is the documentation site made of the files that are here anyway?

    pip install -e ".[docs]"
    sphinx-build -W --keep-going -c docs . build/site

The source folder is the root of the checkout: the pages are the Markdown files as they are, and a link that works on
the host of the repository works on the site. `docs/index.md` is the first page, and the order of its links is the order
of all pages: `read_the_order` makes the table of contents of them. So there is no second list, and Sphinx complains
about a page that is missing. `docs/api/` says where each public name is shown; all the rest of the reference comes
from docstrings. Nothing that is made here is kept in git.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

import regions

project = "relu-regions"
copyright = "the relu-regions developers"
version = release = regions.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "bench/*.md", "csrc/*.md", "examples/README.md"]
exclude_patterns = [".*", "build", "dist", "regions", "tests"]
myst_heading_anchors = 3  # links such as results.md#what-is-proven-about-it

# In docstrings `name` is a link where that is a public name, and code anyway.
default_role = "py:obj"
highlight_language = "none"  # blocks without a language; examples with prompts are Python all the same
autodoc_typehints = "none"  # types are in the docstrings, with shapes
autodoc_mock_imports = ["torch"]  # regions.torch can be shown without it
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # each class lists its members already

html_theme = "furo"
html_title = "relu-regions"
html_copy_source = False
html_show_sphinx = False
# The site begins at docs/index.html; who opens its root is sent there.
html_additional_pages = {"index": "to_docs.html"}
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]

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


def setup(app: Sphinx) -> None:
    app.connect("source-read", read_the_order)
