# SPDX-License-Identifier: MIT
"""What is a number, and which ones are accepted?

arguments       which single arguments are accepted
arrays          which arrays are, and as which doubles
pattern_index   which rows of bits are which
spectral_norm   how much a matrix can stretch, at most
"""
