# SPDX-License-Identifier: MIT
"""How does a file from anywhere become named arrays, and how is one written whole?

Nothing here knows what a network is. A file is hostile until it is checked: nothing in it is executed, and `limits`
bounds how much is built from it.
"""
