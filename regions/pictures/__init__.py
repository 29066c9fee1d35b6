# SPDX-License-Identifier: MIT
"""What is made of a partition for people to look at?

Pictures: `plane_picture.py` and `line_picture.py` draw one partition each on given axes, in the colours of
`regions/output/colors.py`; `picture_view.py` says which part of the chart is shown and in which proportion,
`decision_pieces.py` where each output is the largest, `picture_marks.py` which points are marked, `picture_files.py`
how large a picture is and how it is written. `regions.plot` puts them together.
"""
