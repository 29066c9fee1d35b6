# SPDX-License-Identifier: MIT
"""How do regions differ between many networks, such as the checkpoints of a training?"""
