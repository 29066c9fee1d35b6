# SPDX-License-Identifier: MIT
"""How do threads share the items of a call?"""
