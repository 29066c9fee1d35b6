# SPDX-License-Identifier: MIT
"""What is a number, and which ones are accepted?

types           what arrays are called
arguments       which single arguments are accepted
arrays          which arrays are, and as which doubles
dyadic          which integers and fractions are doubles
pattern_index   which rows of bits are which
spectral_norm   how much a matrix can stretch, at most
"""
