# SPDX-License-Identifier: MIT
"""What does everything stand on: exact and rounded arithmetic, checked arguments, text, threads?"""
