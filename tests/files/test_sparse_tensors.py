# SPDX-License-Identifier: MIT
"""Do sparse tensors become the same arrays as in torch, and are inconsistent ones refused?"""

from __future__ import annotations

import io
import tracemalloc
from typing import Any

import numpy as np
import pytest

from regions import load
from regions.errors import FileTooLargeError, NotACheckpointError, UnsafePickleError
from regions.files import limits
from regions.files.sparse_tensors import array_of_compressed, array_of_coordinates, empty_shape
from regions.read import read_tensors


def coordinates(indices: Any, values: Any, size: tuple[int, ...], distinct: bool = False) -> Any:
    return array_of_coordinates(np.array(indices, dtype=np.int64), np.array(values, np.float32), size, distinct)


def compressed(starts: Any, columns: Any, values: Any, size: tuple[int, ...]) -> Any:
    given = (np.array(part, dtype=np.int64) for part in (starts, columns))
    return array_of_compressed(*given, np.array(values, dtype=np.float32), size)


def test_coordinates() -> None:
    assert coordinates([[0, 1], [1, 0]], [2.0, 3.0], (2, 3)).tolist() == [[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]]
    assert coordinates([[1]], [[2.0, 3.0]], (2, 2), distinct=True).tolist() == [[0.0, 0.0], [2.0, 3.0]]
    assert coordinates(np.zeros((0, 2)), [2.0, 3.0], ()).tolist() == 5.0
    assert coordinates(np.zeros((2, 0)), [], (0, 2**40)).shape == (0, 2**40)
    # One after the other, each sum rounded to the type.
    assert coordinates([[0, 0, 0]], [1e8, 3.0, -1e8], (1,)).tolist() == [0.0]
    assert coordinates([[0, 0, 0]], [1e8, -1e8, 3.0], (1,)).tolist() == [3.0]


@pytest.mark.parametrize(
    ("indices", "values", "size", "distinct"),
    [
        ([[0, 2]], [1.0, 1.0], (2,), False),
        ([[0, -1]], [1.0, 1.0], (2,), False),
        ([[0]], [1.0, 1.0], (2,), False),
        ([0, 1], [1.0, 1.0], (2,), False),
        ([[0], [0], [0]], [1.0], (2, 2), False),
        ([[0]], [1.0], (2, 2), False),
        ([[0]], [[1.0]], (2, 2), False),
        ([[0]], 1.0, (2,), False),
        ([[0]], [1.0], (0,), False),
        ([[0, 0]], [1.0, 1.0], (2,), True),
        ([[1, 0]], [1.0, 1.0], (2,), True),
    ],
)
def test_coordinates_that_do_not_fit(indices: Any, values: Any, size: tuple[int, ...], distinct: bool) -> None:
    assert coordinates(indices, values, size, distinct) is None


def test_coordinates_of_another_type() -> None:
    assert array_of_coordinates(np.zeros((1, 1)), np.ones(1), (1,), False) is None
    assert array_of_compressed(np.array([0.0, 1.0]), np.zeros(1, np.int64), np.ones(1), (1, 1)) is None


def test_rows() -> None:
    assert compressed([0, 2, 2, 3], [0, 2, 1], [1, 2, 3], (3, 3)).tolist() == [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    assert compressed([0], [], [], (0, 4)).shape == (0, 4)


@pytest.mark.parametrize(
    ("starts", "columns", "values", "size"),
    [
        ([0, 1], [0], [1.0], (2, 2)),
        ([1, 1, 1], [0], [1.0], (2, 2)),
        ([0, 1, 2], [0], [1.0], (2, 2)),
        ([0, 2, 1], [0], [1.0], (2, 2)),
        ([0, 1, 1], [2], [1.0], (2, 2)),
        ([0, 1, 1], [-1], [1.0], (2, 2)),
        ([0, 2, 2], [0, 0], [1.0, 1.0], (2, 2)),
        ([0, 2, 2], [1, 0], [1.0, 1.0], (2, 2)),
        ([0, 1, 1], [0], [[1.0]], (2, 2)),
        ([0, 1, 1], [0], [1.0], (2, 2, 1)),
        ([0, 1, 1], [0, 1], [1.0], (2, 2)),
    ],
)
def test_rows_that_do_not_fit(starts: Any, columns: Any, values: Any, size: tuple[int, ...]) -> None:
    assert compressed(starts, columns, values, size) is None


def test_shapes_without_numbers() -> None:
    assert empty_shape((0, 5)) == (0, 5)
    assert empty_shape((0, 2**40, 2**40)) == (0, 1, 1)


def saved(torch: Any, content: Any, *, zipped: bool = True) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(content, buffer, _use_new_zipfile_serialization=zipped)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.filterwarnings("ignore")
def test_arrays_of_torch(dtype: str, zipped: bool) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    dense = (torch.randn(5, 4) * (torch.rand(5, 4) < 0.5)).to(getattr(torch, dtype))
    places = torch.randint(0, 4, (2, 9)) if dtype != "bfloat16" else torch.arange(4).repeat(2, 1)
    numbers = torch.randn(places.shape[1]).to(dense.dtype)
    tensors = {
        "coo": dense.to_sparse(),
        "parameter": torch.nn.Parameter(dense.to_sparse()),
        "rows": dense.to_sparse(1),
        "several times": torch.sparse_coo_tensor(places, numbers, (4, 5)),
        "nothing": torch.zeros(2, 3, dtype=dense.dtype).to_sparse(),
        "csr": dense.to_sparse_csr(),
        "csc": dense.to_sparse_csc(),
    }
    read = read_tensors(saved(torch, tensors, zipped=zipped))
    for name, tensor in tensors.items():
        assert read[name].tolist() == tensor.detach().to_dense().tolist(), name


@pytest.mark.filterwarnings("ignore")
def test_networks_with_sparse_weights() -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn
    dense = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    expected = load(dense)
    for layout in ("to_sparse", "to_sparse_csr", "to_sparse_csc"):
        module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        module.load_state_dict(dense.state_dict())
        module[0].weight = nn.Parameter(getattr(dense[0].weight.detach(), layout)())
        for network in (
            load(module),
            load(module, input_shape=3),
            load(module.state_dict(), "relu"),
            load(saved(torch, module.state_dict()), "relu"),
        ):
            assert network == expected
        assert str(module[0].weight.layout) != "torch.strided"


@pytest.mark.filterwarnings("ignore")
def test_sparse_tensors_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    blocks = {"0.weight": torch.ones(4, 4).to_sparse_bsr((2, 2)), "2.weight": torch.ones(1, 4)}
    with pytest.raises(UnsafePickleError, match=r"save tensor\.to_dense\(\)"):
        load(saved(torch, blocks), "relu")
    rounded = torch.sparse_coo_tensor([[0, 0]], torch.ones(2, dtype=torch.bfloat16), (2,))
    with pytest.raises(NotACheckpointError, match="names places that it does not have, or one place several times"):
        read_tensors(saved(torch, {"w": rounded}))
    large = saved(torch, {"w": torch.sparse_coo_tensor([[0], [0]], [1.0], (10**6, 10**6))})
    tracemalloc.start()
    try:
        with pytest.raises(FileTooLargeError, match="its sparse tensors, with their zeros, would take 8000000"):
            read_tensors(large)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    small = saved(torch, {f"w{i}": torch.zeros(1).to_sparse() for i in range(4)})
    assert len(read_tensors(small)) == 4
    monkeypatch.setattr(limits, "MAX_TENSORS", 11)  # each has places and numbers, too
    with pytest.raises(FileTooLargeError, match="more than 11 tensors"):
        read_tensors(small)
