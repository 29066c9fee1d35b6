# SPDX-License-Identifier: MIT
"""What follows from the regions that were found: sizes, corners, equal maps, and which region a point is in?"""
