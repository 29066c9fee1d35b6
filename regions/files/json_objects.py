# SPDX-License-Identifier: MIT
"""Which objects are in this JSON from a file, and do they have the members that they must have?

Duplicate keys are refused, because parsers silently drop one of them. Nesting too deep for the parser is refused too.
"""

from __future__ import annotations

import json
from typing import Any

from regions.errors import NotACheckpointError
from regions.ground.text.printable import printable

__all__ = ["list_of_objects", "member_of", "object_of", "parsed_object"]


def parsed_object(text: bytes, what: str) -> dict[str, Any]:
    """Parse a text into an object; ``what`` names the text in messages.

    Raises
    ------
    NotACheckpointError
        It is not JSON, or not an object.
    """
    try:
        content = json.loads(text.decode("utf-8"), object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise NotACheckpointError(f"{what} is not JSON: {printable(error, 200)}") from None
    if not isinstance(content, dict):
        raise NotACheckpointError(f"{what} is not a JSON object")
    return content


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a name appears twice")
    return content


def member_of(content: Any, key: str, what: str) -> Any:
    """Return the value of an object's key; ``what`` names the object in messages."""
    if not isinstance(content, dict) or key not in content:
        raise NotACheckpointError(f"{what} has no {key!r}")
    return content[key]


def object_of(content: Any, key: str, what: str) -> dict[str, Any]:
    """Return the value of a key, which must be an object."""
    found = member_of(content, key, what)
    if not isinstance(found, dict):
        raise NotACheckpointError(f"{what}: {key!r} is not an object")
    return found


def list_of_objects(content: Any, key: str, what: str) -> list[dict[str, Any]]:
    """Return the value of a key, which must be a list of objects."""
    found = member_of(content, key, what)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise NotACheckpointError(f"{what}: {key!r} is not a list of objects")
    return found
