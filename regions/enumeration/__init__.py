# SPDX-License-Identifier: MIT
"""How are the regions of a network found and counted?"""
