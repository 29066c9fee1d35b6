# SPDX-License-Identifier: MIT
"""What do theorems say about regions, and which networks reach them?"""
