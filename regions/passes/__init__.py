# SPDX-License-Identifier: MIT
"""What does a network compute, with proven bounds, in integers, modulo primes, or with given gates?"""
