# SPDX-License-Identifier: MIT
"""What does a network compute, in arithmetics that prove it: with error bounds, in integers, and modulo primes? And with given gates?"""
