# SPDX-License-Identifier: MIT
"""What was found, what follows from it, and how is it stored and shown?"""
