# SPDX-License-Identifier: MIT
"""What does a network compute: as a map, at a point, on a region, and in which arithmetic?"""
