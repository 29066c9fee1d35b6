# SPDX-License-Identifier: MIT
"""What is a number, and which ones are accepted?

types           names of array types
arguments       which single arguments are accepted
arrays          which arrays are accepted, converted exactly to doubles
dyadic          which integers and fractions are doubles
pattern_index   look-up of rows of bits
spectral_norm   how much a matrix can stretch, at most
"""
