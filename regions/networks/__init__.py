# SPDX-License-Identifier: MIT
"""What is a network, and how is one made in Python?"""
