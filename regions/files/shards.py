# SPDX-License-Identifier: MIT
"""Which tensors are in the files of a model that is spread over several?

Large models are saved in shards, ``model-00001-of-00002.safetensors`` and so on, with an index beside them,
``model.safetensors.index.json``. The index has the file of each tensor. One shard alone may look like a whole, smaller
network, so it is refused by its name. Invariant: index and shards name the same tensors. The shards are opened as
`regions.files.beside` allows, under the limits of any file, and their sizes are added.
Source: the indices that transformers and huggingface_hub write.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from regions.errors import AmbiguousCheckpointError, CheckpointError, FileTooLargeError, NotACheckpointError
from regions.files import limits
from regions.files.beside import is_plain_name, open_beside
from regions.files.json_objects import object_of, parsed_object
from regions.files.opened import OpenedFile, examined
from regions.files.shared_tensors import with_shared_tensors
from regions.files.torch_file import read_torch_file
from regions.files.zip_file import looks_like_zip
from regions.ground.text.printable import listed, printable

__all__ = ["looks_like_index", "read_index", "require_whole"]

# A shard has gigabytes, and all files together at most `limits.MAX_FILE_BYTES`.
MAX_SHARDS = 1000

_SHARD = re.compile(r"(?P<model>.{1,500})[-_][0-9]{5}-of-(?P<count>[0-9]{5})\.(?P<ending>[a-z]{1,20})", re.DOTALL)
# Files of processes that have a part of every layer each, as Llama's and DeepSpeed's.
_RANK = re.compile(r"(?P<before>consolidated\.|mp_rank_)(?P<number>[0-9]{2})(?P<after>[._][\w.]{1,100})")


def looks_like_index(start: bytes) -> bool:
    """Return whether a file beginning with these bytes is the index of a model in shards."""
    return start.lstrip(b" \t\r\n").startswith(b"{") and b'"weight_map"' in start and b"\0" not in start


def require_whole(file: OpenedFile) -> None:
    """Refuse a file that is one of several by its name.

    Raises
    ------
    AmbiguousCheckpointError
    """
    rank = _RANK.fullmatch(os.path.basename(file.name))
    if rank is not None and file.folder is not None:
        for number in (int(rank["number"]) - 1, int(rank["number"]) + 1):
            other = f"{rank['before']}{number:02}{rank['after']}"
            if os.path.isfile(os.path.join(file.folder, other)):
                raise AmbiguousCheckpointError(
                    f"{file.name}: by its name, and that of {other!r} beside it, one of several files with a part of "
                    "every layer; join them with the tools of the program that wrote them. If it is a whole network, "
                    "give it another name"
                )
    match = _SHARD.fullmatch(os.path.basename(file.name))
    if match is None or int(match["count"]) < 2:
        return
    index = f"{match['model']}.{match['ending']}.index.json"
    there = file.folder is not None and os.path.isfile(os.path.join(file.folder, index))
    advice = f"load {index!r} beside it, which reads all of them"
    if not there:
        advice = (
            f"copy all of them and {index!r} to one folder and load that, or join what regions.read.read_tensors "
            "returns for each: regions.load(first | second, ..)"
        )
    raise AmbiguousCheckpointError(
        f"{file.name}: by its name one of {int(match['count'])} files with parts of a model; {advice}. If it is a "
        "whole network, give it another name"
    )


def read_index(file: OpenedFile) -> dict[str, Any]:
    """Return the tensors of all shards that an index names.

    Parameters
    ----------
    file : OpenedFile

    Raises
    ------
    CheckpointError
        A shard is missing or is not opened; index and shards differ; the index was given open.
    NotACheckpointError, FileTooLargeError
        The index is damaged or too large, or a shard is damaged or of another kind.
    """
    if file.size > limits.MAX_JSON_BYTES:
        raise FileTooLargeError(f"{file.name}: an index of {file.size} bytes; the limit is {limits.MAX_JSON_BYTES}")
    file.file.seek(0)
    content = parsed_object(file.file.read(), file.name)
    places = object_of(content, "weight_map", file.name)
    unknown = content.keys() - {"metadata", "weight_map"}
    if unknown:
        raise NotACheckpointError(f"{file.name}: an index has no entry {printable(min(unknown))!r}")
    metadata = content.get("metadata", {})
    if not isinstance(metadata, dict):
        raise NotACheckpointError(f"{file.name}: its 'metadata' are not an object")
    tensors, size = _read_shards(file, places)
    tensors = with_shared_tensors(tensors, metadata, file.name, size)
    announced, found = metadata.get("total_size"), sum(getattr(array, "nbytes", 0) for array in tensors.values())
    # bfloat16 has become float32, and tensors under several names count several times, so there may be more.
    if isinstance(announced, (int, float)) and announced > found:
        raise NotACheckpointError(
            f"{file.name}: announces {announced} bytes of tensors, and those that it names have {found}; copy it again"
        )
    return tensors


def _read_shards(file: OpenedFile, places: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the tensors in the order of the index, and the size of all files."""
    wanted: dict[str, set[str]] = {}
    for tensor, shard in places.items():
        if not isinstance(shard, str) or not is_plain_name(shard):
            raise CheckpointError(
                f"{file.name}: the tensor {printable(tensor)!r} is in {printable(shard)!r}, which is not opened: only "
                "a plain name beside the index is"
            )
        wanted.setdefault(shard, set()).add(tensor)
    if not wanted or len(wanted) > MAX_SHARDS:
        raise CheckpointError(f"{file.name}: names {len(wanted)} files; from 1 to {MAX_SHARDS} are read")
    _require_all(file.name, wanted)
    if file.folder is None:
        raise CheckpointError(f"{file.name}: names other files, and was given open; give its path")
    found: dict[str, Any] = {}
    size = file.size
    for shard, names in wanted.items():
        with os.fdopen(open_beside(shard, file), "rb") as stream:
            size += os.fstat(stream.fileno()).st_size
            limits.require_file_size(file.name, size)
            tensors = _read_shard(examined(stream, f"{file.name}: {printable(shard)}"))
        _require_same(file.name, shard, names, tensors)
        found |= tensors
    return {tensor: found[tensor] for tensor in places} | found, size


def _require_all(path: str, shards: Iterable[str]) -> None:
    """Refuse an index that leaves out a shard, by the number of shards in the names of the others."""
    named = Counter((each["model"], each["count"], each["ending"]) for each in map(_SHARD.fullmatch, shards) if each)
    for (model, count, ending), found in named.items():
        if found < int(count):
            shown = printable(f"{model}-..-of-{count}.{ending}")
            raise CheckpointError(
                f"{path}: the index names {found} of the {int(count)} files {shown}; copy index and shards of one "
                "model again"
            )


def _read_shard(shard: OpenedFile) -> dict[str, Any]:
    from regions.files.safetensors import looks_like_safetensors, read_safetensors

    is_pickle = shard.start[:1] == b"\x80" and not looks_like_safetensors(shard.start)
    is_torch_file = looks_like_zip(shard.start) or is_pickle
    content = read_torch_file(shard) if is_torch_file else read_safetensors(shard)
    if not isinstance(content, dict):
        raise NotACheckpointError(f"{shard.name}: holds no tensors under their names, but a {type(content).__name__}")
    return content


def _require_same(path: str, shard: str, named: set[str], stored: dict[str, Any]) -> None:
    for names, what in (
        ([name for name in named if name not in stored], "names {} in {}, which are not there"),
        ([name for name in stored if name not in named], "does not name {}, which are in {}"),
    ):
        if names:
            shown = what.format(listed(sorted(names), most=4), repr(printable(shard)))
            raise CheckpointError(f"{path}: the index {shown}; copy index and shards of one model again")
