# SPDX-License-Identifier: MIT
"""How do names, numbers, tables and progress become text?"""
