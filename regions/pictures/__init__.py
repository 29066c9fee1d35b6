# SPDX-License-Identifier: MIT
"""How is a partition drawn?

`plane_picture.py` and `line_picture.py` draw one partition each on given axes, in the colours of
`regions/results/pages/colors.py`. `picture_view.py` chooses the visible part of the chart and its proportion,
`decision_pieces.py` finds where each output is the largest, `picture_marks.py` draws marked points, and
`picture_files.py` decides the size of a picture and writes it. `regions.plot` combines them.
`page_frame.py` shows the page of `regions/results/pages/` in notebooks.
"""
