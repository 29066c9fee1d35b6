# SPDX-License-Identifier: MIT
"""What becomes of regions over many networks, such as those of a training?"""
