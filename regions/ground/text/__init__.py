# SPDX-License-Identifier: MIT
"""How do names, numbers and tables become text?"""
