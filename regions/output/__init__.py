# SPDX-License-Identifier: MIT
"""How does a partition leave: as other programs' objects, as files, as what a notebook shows?"""
