# SPDX-License-Identifier: MIT
"""How does an untrusted file become named arrays, and how is a file written completely or not at all?

Nothing here knows what a network is. A file is hostile until it is checked: nothing in it is executed, and `limits`
bounds how much is built from it.
"""
