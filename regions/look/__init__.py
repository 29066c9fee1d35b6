# SPDX-License-Identifier: MIT
"""How are regions shown to the eye?

`colors.py`, `marks.py` and `window.py` are shared by all pictures. The other files write a page that people explore in
a browser: `page_data.py` collects what the page needs from the arrays of a partition, `sections.py` packs these arrays,
`thumbnails.py` makes images of data points, and `page.py` fills the template. `browser/` holds the template, its style
and its scripts, which are joined when a page is written. `read.js` unpacks the arrays and `answer.js` answers questions
about points; `colours.js`, `faces.js`, `card.js`, `picture.js` and `line.js` draw; `words.js` writes the panel,
`hands.js` follows pointer and keys, `files.js` saves pictures, and `start.js` begins.
"""
