# SPDX-License-Identifier: MIT
"""How many regions are there, and which: on threads, executors and folders?"""
