# SPDX-License-Identifier: MIT
"""What is this file or folder, if it is not read, and what should one do with it?

Each entry has marks (first bytes, members of an archive, files in a folder, or an ending where the content has no
mark) and a sentence with the call that makes a file that is read. The calls are those of the programs that write such
files. Nothing is opened but the first bytes and the directory of an archive.
"""

from __future__ import annotations

import os

from regions.files.opened import OpenedFile

__all__ = ["advice_by_name", "advice_by_start", "advice_on_folder"]

FROM_KERAS = "open it there and export it to ONNX: model.export('model.onnx', format='onnx')"

JOBLIB = (
    "packed with zlib, as joblib packs estimators of scikit-learn. It was not opened, because it "
    "could run anything. If you trust the file: regions.load(joblib.load(FILE))"
)

_NAMED = "regions.load({'W0': kernel.T, 'b0': bias, 'W1': ..}, activation=..)"
_TO_ONNX = "convert it to ONNX with tf2onnx: python -m tf2onnx.convert --{} --output model.onnx"
_DISTRIBUTED = (
    "a distributed checkpoint of torch. Join its files: "
    "torch.distributed.checkpoint.format_utils.dcp_to_torch_save(FOLDER, 'model.pt'), and load model.pt"
)
_ORBAX = (
    "a checkpoint of Orbax. Restore it there, params = orbax.checkpoint.PyTreeCheckpointer().restore(FOLDER), and give "
    f"the kernels, which are [inputs, outputs], transposed: {_NAMED}"
)
_FLAX = (
    "a msgpack file, as Flax writes. Open it there, params = flax.serialization.msgpack_restore(file.read()), and give "
    f"the kernels, which are [inputs, outputs], transposed: {_NAMED}"
)
_MATLAB = (
    "a file of MATLAB. Open it with scipy.io.loadmat(FILE), and give its matrices: regions.Network([(W0, b0), (W1, "
    "b1)], activation=..)"
)
_MATLAB_7_3 = _MATLAB.replace("scipy.io.loadmat(FILE)", "h5py.File(FILE), where matrices are transposed")

# First bytes, and where they are.
_MAGIC = (
    (0, b"\x89HDF\r\n\x1a\n", f"an HDF5 file. If Keras wrote it, {FROM_KERAS}"),
    (0, b"MATLAB 7.3 MAT-file", _MATLAB_7_3),
    (0, b"MATLAB 5.0 MAT-file", _MATLAB),
    (
        4,
        b"ET12",
        "a program of ExecuTorch; load the program that it was made from: torch.export.save(exported, 'model.pt2')",
    ),
    (4, b"TFL3", f"a TensorFlow Lite model; {_TO_ONNX.format('tflite FILE')}"),
    (
        0,
        b"\x93NUMPY",
        "an array without a name, or several, as equinox.tree_serialise_leaves writes. Open it there, and save all "
        "weights together with numpy.savez(path, W0=.., b0=..)",
    ),
    (0, b"\x1f\x8b", "packed with gzip; unpack it first"),
    (0, b"BZh", "packed with bzip2; unpack it first"),
    (0, b"\xfd7zXZ", "packed with xz; unpack it first"),
    *((0, b"\x78" + level, JOBLIB) for level in (b"\x01", b"\x5e", b"\x9c", b"\xda")),
    (0, b"GGUF", "a GGUF file; convert it to .safetensors"),
    (0, b"version https://git-lfs", "a pointer to a file that git lfs keeps elsewhere; run git lfs pull"),
    (
        257,
        b"ustar",
        "a tar archive; unpack it first, or, if a very old torch wrote it, open it in torch and save the weights again",
    ),
)
# Part of a graph of TensorFlow, which has no first bytes of its own.
_PLACEHOLDER = b"Placeholder"

# Files in a folder: all files of one of these sets are there.
_FOLDERS: tuple[tuple[tuple[str, ...], str], ...] = (
    ((".metadata",), _DISTRIBUTED),
    (("saved_model.pb",), f"a SavedModel of TensorFlow; {_TO_ONNX.format('saved-model FOLDER')}"),
    (("_CHECKPOINT_METADATA",), _ORBAX),
    (("manifest.ocdbt",), _ORBAX),
    (("_METADATA",), _ORBAX),
)
_MODELS_INSIDE = (
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "model.safetensors",
    "pytorch_model.bin",
    "model.onnx",
)


def advice_by_name(file: OpenedFile) -> str | None:
    """Return what a file is that has the marks of a format that is read, and what to do; None if it is not one."""
    name = os.path.basename(file.name)
    advice = None
    if name.endswith(".distcp") or (name == ".metadata" and file.start[:1] == b"\x80"):
        advice = f"one file of {_DISTRIBUTED}"
    elif name == "saved_model.pb":
        advice = f"the graph of a SavedModel of TensorFlow; {_TO_ONNX.format('saved-model FOLDER')}"
    elif name.endswith(".pb") and _PLACEHOLDER in file.start:
        advice = f"a graph of TensorFlow; {_TO_ONNX.format('graphdef FILE --inputs X:0 --outputs Y:0')}"
    elif file.has_members(".h5"):
        advice = f"a Keras model; {FROM_KERAS}"
    return advice and _filled(advice, file.name, os.path.dirname(file.name) or ".")


def advice_by_start(start: bytes, name: str) -> str | None:
    """Return what a file of no format that is read is by its first bytes, and what to do; None if that is not known."""
    advice = next((what for offset, magic, what in _MAGIC if start.startswith(magic, offset)), None)
    if advice is None and _begins_like_msgpack(start):
        advice = _FLAX
    return advice and _filled(advice, name, os.path.dirname(name) or ".")


def _begins_like_msgpack(start: bytes) -> bool:
    """Return whether the first bytes are a map of msgpack with at most 15 entries, whose first key is a short text."""
    if len(start) < 4 or not (0x81 <= start[0] <= 0x8F and 0xA2 <= start[1] <= 0xBF):
        return False
    key = start[2 : 2 + (start[1] & 0x1F)]
    return key.isascii() and key.decode("ascii").isprintable()


def advice_on_folder(folder: str) -> str | None:
    """Return what a folder is, and what to do; None if its content says nothing."""
    for names, advice in _FOLDERS:
        if all(os.path.lexists(os.path.join(folder, name)) for name in names):
            return _filled(advice, folder, folder)
    inside = [name for name in _MODELS_INSIDE if os.path.isfile(os.path.join(folder, name))]
    return f"a folder; give the file in it: {os.path.join(folder, inside[0])!r}" if inside else None


def _filled(advice: str, file: str, folder: str) -> str:
    return advice.replace("FILE", repr(file)).replace("FOLDER", repr(folder))
