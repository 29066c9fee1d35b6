# SPDX-License-Identifier: MIT
"""What does a network do on a domain: how large are its outputs, and where, and how do two networks differ?"""
