# SPDX-License-Identifier: MIT
"""Which format does this file have, and which function reads it?

All formats are in one table. A format is recognised by the first bytes of a file or, for a zip archive, by its members.
File names are ignored, because the same file may end in ``.pt``, ``.ckpt``, ``.bin``, ``.pth.tar``, ``.pkl``, or have
no ending. A new format is a new row, and a reader. The first row that fits is used, so formats with
weaker marks come last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regions.errors import NotACheckpointError, TruncatedFileError
from regions.files.npz import read_npz
from regions.files.opened import OpenedFile
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice
from regions.read.chains.stated_activation import Statement, find_statements
from regions.read.chains.stated_flags import Flag, find_flags
from regions.read.config_beside import statements_beside
from regions.read.not_read import advice_by_name, advice_by_start

__all__ = ["FORMATS", "READ_KINDS", "Format", "recognise"]


@dataclass(frozen=True)
class Format:
    """A kind of file that is read.

    Attributes
    ----------
    fits : callable
        Whether a file looks like one: by ``start``, ``has_members``, ``size``. It must not raise for files of other
        formats.
    tensors : callable
        Reads the tensors by name, as `regions.read.read_tensors` returns them.
    network : callable or None
        Reads the network, if the file has the activations. Its arguments are the opened file, the activation that the
        caller named, whether ReLUs are fused into maxima, and the names of the outputs. None if the tensors are a state
        dict.
    names_values : bool
        Whether the file has names for outputs.
    order_is_kept : bool
        Whether the tensors come in the order in which they were defined.
    statements : callable
        Returns what the file, or ``config.json`` beside it, states about the activation and parts of the model, apart
        from the tensors.
    """

    fits: Callable[[OpenedFile], bool]
    tensors: Callable[[OpenedFile], Any]
    network: Callable[[OpenedFile, ActivationChoice, bool, Sequence[str] | None], Network] | None = None
    names_values: bool = False
    order_is_kept: bool = True
    statements: Callable[[OpenedFile], Sequence[Statement | Flag]] = lambda file: ()


# Readers are imported on first use.
def _read_safetensors(file: OpenedFile) -> Any:
    from regions.files.safetensors import read_safetensors

    return read_safetensors(file)


def _read_torch_file(file: OpenedFile) -> Any:
    from regions.files.torch_file import read_torch_file

    return read_torch_file(file)


def _read_policy_zip(file: OpenedFile) -> Any:
    from regions.files.policy_zip import read_policy_zip

    return read_policy_zip(file)


def _statements_of_policy_zip(file: OpenedFile) -> Sequence[Statement | Flag]:
    from regions.read.policy_settings import statements_of_policy

    return statements_of_policy(file)


def _statements_of_safetensors(file: OpenedFile) -> Sequence[Statement | Flag]:
    from regions.files.safetensors import read_metadata

    metadata = read_metadata(file)
    return [*find_statements(metadata), *find_flags(metadata), *statements_beside(file)]


def _read_index(file: OpenedFile) -> Any:
    from regions.files.shards import read_index

    return read_index(file)


def _is_index(file: OpenedFile) -> bool:
    from regions.files.shards import looks_like_index

    return looks_like_index(file.start)


def _read_nnet(file: OpenedFile) -> Any:
    from regions.read.nnet import read_nnet

    return read_nnet(file)


def _network_of_nnet(
    file: OpenedFile, activation: ActivationChoice, fuse_max: bool, outputs: Sequence[str] | None
) -> Network:
    """Read a .nnet file, which has no maxima and no names."""
    from regions.read.nnet import network_from_nnet, read_nnet

    return network_from_nnet(read_nnet(file), activation)


def _is_nnet(file: OpenedFile) -> bool:
    from regions.read.nnet import looks_like_nnet

    return looks_like_nnet(file.start)


def _read_onnx(file: OpenedFile) -> Any:
    from regions.read.onnx.network import read_onnx_tensors

    return read_onnx_tensors(file)


def _network_of_onnx(
    file: OpenedFile, activation: ActivationChoice, fuse_max: bool, outputs: Sequence[str] | None
) -> Network:
    from regions.read.graphs.lowering import network_of
    from regions.read.onnx.network import read_operations

    return network_of(*read_operations(file, outputs), activation, fuse_max)


def _read_pt2(file: OpenedFile) -> Any:
    from regions.read.exported.network import read_exported_tensors

    return read_exported_tensors(file)


def _network_of_pt2(
    file: OpenedFile, activation: ActivationChoice, fuse_max: bool, outputs: Sequence[str] | None
) -> Network:
    from regions.read.exported.network import read_operations
    from regions.read.graphs.lowering import network_of

    return network_of(*read_operations(file, outputs), activation, fuse_max)


def _is_pt2(file: OpenedFile) -> bool:
    from regions.files.pt2_archive import is_pt2

    return is_pt2(file)


def _is_onnx(file: OpenedFile) -> bool:
    from regions.files.onnx_wire import looks_like_onnx

    return looks_like_onnx(file)


def _is_safetensors(file: OpenedFile) -> bool:
    # Eight bytes of length, then JSON that must begin with a brace.
    return file.start[8:9] == b"{" or file.size < 8 and not file.start.strip(b"\0")


def _is_pickle(file: OpenedFile) -> bool:
    from regions.files.safetensors import looks_like_safetensors

    return re.match(rb"\x80[\x01-\x05]", file.start) is not None and not looks_like_safetensors(file.start)


FORMATS = (
    Format(lambda file: file.has_members(".npy"), read_npz),
    Format(_is_pt2, _read_pt2, _network_of_pt2, names_values=True),
    Format(
        lambda file: file.archive is not None and "policy.pth" in file.archive.sizes,
        _read_policy_zip,
        statements=_statements_of_policy_zip,
    ),
    Format(lambda file: file.archive is not None, _read_torch_file, statements=statements_beside),
    Format(_is_pickle, _read_torch_file, statements=statements_beside),
    Format(_is_index, _read_index, order_is_kept=False, statements=statements_beside),
    Format(_is_safetensors, _read_safetensors, order_is_kept=False, statements=_statements_of_safetensors),
    Format(_is_nnet, _read_nnet, _network_of_nnet),
    Format(_is_onnx, _read_onnx, _network_of_onnx, names_values=True),
)
READ_KINDS = "torch files (.pt, .pth, .ckpt, ..), .pt2, .safetensors, .npz, .onnx and .nnet"


def recognise(file: OpenedFile) -> Format:
    """Find the format of a file.

    Raises
    ------
    TruncatedFileError
        The file is too short to recognise.
    NotACheckpointError
        The file has another format.
    """
    if len(file.start) < 4 and b"PK\x03\x04".startswith(file.start):
        raise TruncatedFileError(f"{file.name}: the file ends after {file.size} bytes")
    known = advice_by_name(file)
    if known is not None:
        raise NotACheckpointError(f"{file.name}: {known}")
    for form in FORMATS:
        if form.fits(file):
            return form
    known = advice_by_start(file.start, file.name)
    if known is not None:
        raise NotACheckpointError(f"{file.name}: {known}")
    raise NotACheckpointError(f"{file.name}: not a model file. Give one of {READ_KINDS}")
