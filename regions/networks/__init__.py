# SPDX-License-Identifier: MIT
"""What is a network, and how is one made by hand?"""
