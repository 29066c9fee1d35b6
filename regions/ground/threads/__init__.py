# SPDX-License-Identifier: MIT
"""How do threads share the items of a call, how is progress reported, and when must a call end?"""
