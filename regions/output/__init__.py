# SPDX-License-Identifier: MIT
"""How is a partition converted: to other programs' objects, to files, and for notebooks?"""
