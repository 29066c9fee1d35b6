# SPDX-License-Identifier: MIT
"""What can be derived from the regions that were found: sizes, corners, equal maps, and the region of a point?"""
