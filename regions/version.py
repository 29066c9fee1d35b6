# SPDX-License-Identifier: MIT
"""Which version of relu-regions is this? Written into certificates and files; pyproject.toml reads it here."""

__version__ = "0.1.0"
