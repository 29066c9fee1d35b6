# SPDX-License-Identifier: MIT
"""How are regions shown to the eye?

`colors.py`, `marks.py`, `page_style.py` and `window.py` are shared by all pictures. The other files write a page that
people explore in a browser: `page_data.py`, `solid_data.py` and `curve_data.py` collect what the page needs from the
arrays of a partition or a curve, `further_bits.py` finds neurons that bend at one edge, `curve_images.py` projects the
images of a curve, `sections.py` packs the arrays, `thumbnails.py` makes images of data points, and `page.py` fills the
template. `browser/` holds the template, its style and its scripts, which are joined when a page is written. `read.js`
unpacks the arrays, `cut.js` cuts regions of three dimensions by a plane, and `answer.js` answers questions about
points; `colours.js`, `faces.js`, `card.js`, `picture.js`, `line.js`, `dots.js` and `images.js` draw; `words.js` writes
the panel, `hands.js` follows pointer and keys, `steps.js` moves between the steps of a training, `files.js` saves
pictures, and `start.js` begins.
"""
