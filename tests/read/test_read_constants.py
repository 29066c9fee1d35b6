# SPDX-License-Identifier: MIT
"""Are constants that a graph computes from constants read with the right numbers, whatever the operator?

Torch modules and their exported programs are compared with the module in double precision, ONNX files with onnx's own
evaluator. Large draws of the same kind are in `fuzz_operators.py`.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regions.errors import FileTooLargeError, NonFiniteError, RegionsError, UnsupportedLayerError
from regions.networks.network import Network
from regions.read import load

torch = pytest.importorskip("torch")
from exported_parts import Applied, exported  # noqa: E402

F, nn = torch.nn.functional, torch.nn
A, B, Z = nn.Linear(2, 3), nn.Linear(3, 1), torch.tensor([[0.5, -1.0]])
V, W = torch.tensor([0.5, 1.0, 2.0]), torch.tensor([[1.0, -2.0], [0.25, 3.0], [-1.0, 0.5]])
PARTS: dict[str, Any] = {
    "a": A,
    "b": B,
    "v": V,
    "w": W,
    "z": Z,
    "e": torch.tensor([2.0, 2.0, 0.5]),
    "low": torch.tensor([-1.0, 1.0, -torch.inf]),
}


def _with_bounds(m: Any, x: Any) -> Any:
    return torch.clamp(m.a(x), m.low, m.v)


def _filled_in_place(m: Any, x: Any) -> Any:
    own = torch.zeros(3, 2, dtype=x.dtype)
    own[0] = m.w[1]
    own[1:] = m.w[1:] * m.v[1:, None]
    return torch.relu(F.linear(x, own))


def _products(m: Any, x: Any) -> Any:
    """Multiply constants in every way that torch knows."""
    square, stack = m.w.t() @ m.w + torch.eye(2, dtype=x.dtype), torch.stack([m.w, m.w - 1])
    vectors = [torch.mv(m.w.t(), m.v), torch.inner(m.w.t(), m.v), torch.outer(m.v, m.v).sum(0)[:2]]
    vectors += [torch.addmv(m.z[0], square, m.z[0]), torch.einsum("ij,i->j", m.w, m.v), torch.trace(square)[None]]
    matrices = [torch.mm(m.w.t(), m.w), torch.addmm(square, m.w.t(), m.w, beta=0.5), torch.bmm(stack.mT, stack)[1]]
    matrices += [torch.baddbmm(square, stack.mT, stack)[0], torch.addbmm(square, stack.mT, stack, alpha=2)]
    matrices += [torch.linalg.inv(square), torch.linalg.cholesky(square), torch.matrix_exp(square / 8)]
    numbers = torch.dot(m.v, m.v.exp()) + torch.vdot(m.v, m.v) + torch.linalg.det(square)
    return torch.relu(m.a(x)) * (numbers + sum(one.sum() for one in vectors) + sum(one.sum() for one in matrices))


def _scalars(m: Any, x: Any) -> Any:
    """Call operators along an axis with a single number."""
    one = m.v[0].exp()
    parts = [one.sum(0), one.mean(-1), one.amax(0), one.softmax(0), one.cumsum(0), one.sort(0)[0], one.topk(1)[0]]
    parts += [torch.gather(one, 0, torch.argsort(one)), one.argmax(0).float(), one.max(0)[0], one.logsumexp(0)]
    return torch.relu(m.a(x)) * torch.stack(parts).sum()


def _matrix_norms(m: Any, x: Any) -> Any:
    norm = torch.linalg.matrix_norm
    parts = [norm(m.w), norm(m.w, 2), norm(m.w, 1), norm(m.w, torch.inf), norm(m.w, "nuc"), norm(torch.stack([m.w]), 2)]
    parts += [torch.linalg.norm(m.w, 2), torch.linalg.norm(m.w, "fro"), torch.linalg.norm(m.w, -1), m.w.norm()]
    return torch.relu(m.a(x)) * sum(part.sum() for part in parts)


def _masks(m: Any, x: Any) -> Any:
    """Compare numbers that are stored, selected, or exact in every arithmetic; none depends on rounding."""
    e, ones = m.v.exp(), torch.ones(3, 3, dtype=x.dtype)
    parts = [m.v > 0, m.v == 0.5, m.v >= m.v.abs().max(), -m.v < -1, m.w.reshape(2, 3)[1] == 3, m.v.clamp(max=1) == 1]
    parts += [torch.arange(3) < 2, torch.tril(ones)[1] > 0, (m.v > 0.75).to(x.dtype).sum() == 2, ones.cumsum(0)[1] == 2]
    parts += [e >= e.max(), e == m.v.exp(), e.sort()[0] > 2, m.w[:, 0].sign() > 0, (ones @ m.w)[:, 0] == 0.25]
    parts += [torch.heaviside(m.v, m.v) == 1, m.v.any(), (m.v - m.v == 0).all()]
    return torch.relu(m.a(x)) * sum(part * 2.0**i for i, part in enumerate(parts))


def _near_jumps(m: Any, x: Any) -> Any:
    """Compute with numbers that cancelled, where functions do not jump."""
    small, e = m.v.exp().log() - m.v, m.v.exp()
    parts = [torch.atan2(small, e), torch.atan2(e, small), torch.copysign(e, m.v * 2), small**2, (small**2).sqrt()]
    parts += [e / e.std().sqrt(), m.v.clamp(min=e[0].item()), m.v.round(decimals=1)]
    parts += [torch.linalg.slogdet(m.w[:2])[0] * torch.linalg.qr(m.w)[0][:, 0]]
    return torch.relu(m.a(x)) * sum(part * 2.0**i for i, part in enumerate(parts))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "norms of matrices": _matrix_norms,
    "scalars": _scalars,
    "products": _products,
    "a standard deviation": lambda m, x: torch.relu(m.a(x)) / (m.v + 1e-2),
    "a root of a variance": lambda m, x: torch.relu(m.a(x)) * torch.rsqrt(m.v + 1e-5) / torch.sqrt(m.v),
    "masks": _masks,
    "numbers near jumps": _near_jumps,
    "a mask": lambda m, x: torch.relu(F.linear(x, m.w * (m.w.abs() > 0.5))),
    "weights above 0": lambda m, x: F.linear(torch.relu(m.a(x)), F.softplus(m.b.weight), m.b.bias.clamp(min=0)),
    "a network at a point": lambda m, x: torch.relu(m.a(x)) - torch.relu(m.a(m.z)).sigmoid(),
    "a square matrix": lambda m, x: torch.relu(x @ (m.w.t() @ m.w + 0.1 * torch.eye(2, dtype=x.dtype))),
    "unit rows": lambda m, x: torch.relu(F.linear(x, F.normalize(m.w, dim=1))),
    "triangles": lambda m, x: torch.relu(x @ torch.tril(m.w[:2]) @ torch.triu(m.w[1:]).cumsum(0)),
    "extremes": lambda m, x: torch.relu(m.a(x)) * m.w.amax(1) - m.w.max(1)[0] + m.w.sort(0)[0][0].sum(),
    "values of equal numbers in order": lambda m, x: (
        torch.relu(m.a(x)) * m.e.sort()[0] * m.e.exp().topk(2)[0].sum() + m.e.exp().max(0)[0] + m.e.cummax(0)[0]
    ),
    "positions in a stable order": lambda m, x: torch.relu(m.a(x)) * m.e.sort(stable=True)[1] + m.e.argmax(),
    "positions": lambda m, x: torch.relu(m.a(x))[:, m.v.argsort(descending=True)] * m.v[m.w.argmax(0)[0]],
    "choices": lambda m, x: torch.relu(m.a(x)) * torch.where(m.v > 0.75, m.v.exp(), m.v.floor()) + m.v.softmax(0),
    "norms": lambda m, x: torch.relu(m.a(x)) * m.w.norm() + m.v.pow(3) / m.v.std() + m.v.logsumexp(0),
    "norms over groups": lambda m, x: torch.relu(x @ F.group_norm(m.w.t()[..., None], 1, m.v, m.v, 0.25)[..., 0]),
    "norms over rows": lambda m, x: torch.relu(
        F.linear(x, F.instance_norm(m.w[None], weight=m.v, bias=m.v)[0] + F.rms_norm(m.w, (2,), m.w[0], 0.25))
    ),
    "a running maximum of one number": lambda m, x: torch.relu(m.a(x)) * m.v.sum().cummax(0)[0] + m.v[0].cummin(-1)[0],
    "branches": lambda m, x: torch.relu(m.a(x)) + torch.cat([m.v[:1].tanh(), m.v.log()[1:]]) + m.v.erf(),
    "lengths": lambda m, x: torch.relu(m.a(x)).reshape(x.shape[0], int(m.v.shape[0] / 3), -1).flatten(1),
    "bounds of units": _with_bounds,
    "the larger of two": lambda m, x: torch.maximum(torch.minimum(m.v, m.a(x)), m.w[:, :1].t().exp()),
    "an infinite bound": lambda m, x: m.a(x).clamp(0.0, torch.inf),
    "only a shape": lambda m, x: torch.relu(m.a(x)) + torch.ones_like(torch.exp(m.a(x))) * m.v.exp(),
}


def agrees(module: Any, network: Network) -> None:
    double = copy.deepcopy(module).double().eval()
    points = np.random.default_rng(1).standard_normal((20, 2)) * 3
    with torch.no_grad():
        wanted = np.stack([double(torch.tensor(point[None])).numpy().ravel() for point in points])
    np.testing.assert_allclose(network(points), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_constants_in_modules_and_programs(name: str) -> None:
    module = Applied(FUNCTIONS[name], **PARTS).eval()
    agrees(module, load(module, input_shape=2))
    agrees(module, load(io.BytesIO(exported(module, 2))))


def test_torch_computes_what_the_table_does_not_have() -> None:
    module = Applied(lambda m, x: (x @ torch.linalg.svd(m.w)[0]).relu(), w=torch.tensor([[2.0, 1.0], [0.5, -3.0]]))
    net = load(module, input_shape=2)
    agrees(module, net)
    assert any("computed from constants, in float64: node" in note for note in net.notes)
    with pytest.raises(UnsupportedLayerError, match="linalg_svd.* computes a constant in a way that is not handled"):
        load(io.BytesIO(exported(module, 2)))


def test_norms_of_weights_and_masks() -> None:
    weight, spectral = torch.nn.utils.parametrizations.weight_norm, torch.nn.utils.parametrizations.spectral_norm
    module = nn.Sequential(weight(nn.Linear(2, 3)), nn.ReLU(), spectral(nn.Linear(3, 3)), nn.ReLU(), nn.Linear(3, 1))
    agrees(module.eval(), load(module, input_shape=2))
    agrees(module, load(io.BytesIO(exported(module, 2))))


def test_live_pruning() -> None:
    from torch.nn.utils import prune

    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    prune.l1_unstructured(module[0], "weight", 3)
    content = exported(module.eval(), 2)
    prune.remove(module[0], "weight")
    assert (load(io.BytesIO(content)).layers[0].weights == 0).sum() == 3
    agrees(module, load(io.BytesIO(content)))


def test_assignments_to_parts_of_a_constant_are_run() -> None:
    module = Applied(_filled_in_place, **PARTS).eval()
    net = load(module, input_shape=2)
    expected = [[0.25, 3.0], [0.25, 3.0], [-2.0, 1.0]]
    assert net.layers[0].weights.tolist() == expected


def test_constants_with_an_infinite_number() -> None:
    with pytest.raises(NonFiniteError, match="'mul'.* is not finite|inf; all numbers must be finite"):
        load(Applied(lambda m, x: x * (1 / (m.v[:2] - 0.5)), v=V), input_shape=2)
    net = load(Applied(lambda m, x: torch.relu(x) * (1 / (1 + 1 / (m.v[:2] - 0.5))), v=V), input_shape=2)
    np.testing.assert_allclose(net(np.array([3.0, 3.0])), [0.0, 1.0])


def test_constants_take_their_share_of_memory() -> None:
    """Every node is small in the file, and doubles what it reads."""
    onnx_parts = pytest.importorskip("onnx_parts")
    nodes = [onnx_parts.node("Exp", ["c"], "v0")]
    for i in range(40):
        nodes.append(onnx_parts.node("Concat", [f"v{i}", f"v{i}"], f"v{i + 1}", axis=0))
    nodes += [onnx_parts.node("ReduceSum", ["v40"], "s"), onnx_parts.node("Mul", ["x", "s"], "y")]
    given = onnx_parts.model(nodes, {"c": np.ones(4, dtype=np.float32)})
    with pytest.raises(FileTooLargeError):
        load(onnx_parts.file(given))


def test_signs_of_computed_zeros() -> None:
    """torch's soft shrink of -0.25 is 0 in vectors, and -0 at the end of an array, so that angles differ by pi."""
    stored = {"small": torch.tensor([-0.25, 0.25, 0.0]), "below": -torch.ones(3), "zeros": torch.zeros(3)}

    def read(function: Callable[[Any, Any], Any]) -> None:
        module = Applied(lambda m, x: torch.relu(m.a(x)) * function(m, F.softshrink(m.small)), **PARTS, **stored).eval()
        agrees(module, load(module, input_shape=2))
        agrees(module, load(io.BytesIO(exported(module, 2))))

    for function in (lambda m, shrunk: torch.atan2(shrunk, m.below), lambda m, shrunk: torch.copysign(m.v, shrunk)):
        with pytest.raises(UnsupportedLayerError, match="jumps, and its result for constants"):
            read(function)
    read(lambda m, shrunk: torch.atan2(shrunk, -m.below))
    read(lambda m, shrunk: torch.atan2(m.zeros, m.below) + torch.sign(shrunk))


def test_constants_that_torch_alone_computes() -> None:
    """Recurrent layers and attention are random in training only; the first also return tuples."""

    class Summary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.memory, self.a = nn.LSTM(2, 3, batch_first=True, dropout=0.5, num_layers=2), nn.Linear(2, 3)
            self.seen = nn.Parameter(torch.randn(1, 4, 2))

        def forward(self, x: Any) -> Any:
            attended = F.scaled_dot_product_attention(self.seen, self.seen, self.seen)
            return torch.relu(self.a(x)) + self.memory(attended)[0][:, -1]

    module = Summary().double().eval()
    network = load(module, input_shape=2)
    agrees(module, network)
    assert "node 'lstm' (aten.lstm.input)" in "".join(network.notes) and "getitem" not in "".join(network.notes)
    module.forward = lambda x: torch.relu(module.a(x)) + F.dropout(module.seen).sum()  # type: ignore[method-assign]
    with pytest.raises(UnsupportedLayerError, match="'dropout' .*values are random"):
        load(module, input_shape=2)


ONNX: dict[str, tuple[list[Any], dict[str, Any]]] = {
    **{
        operator: ([(operator, ["c"], "v")], {})
        for operator in ("Exp", "Log", "Sqrt", "Reciprocal", "Sigmoid", "Tanh", "Erf", "Softplus", "Softsign", "Elu")
    },
    "Pow": ([("Pow", ["c", "two"], "v")], {}),
    "Where": ([("Greater", ["c", "two"], "g"), ("Where", ["g", "c", "two"], "v")], {}),
    "Where of whole numbers": (
        [("Greater", ["c", "two"], "g"), ("Where", ["g", "i", "j"], "m"), ("Cast", ["m"], "v")],
        {"Cast": {"to": 1}},
    ),
    "Mod": ([("Mod", ["i", "j"], "m"), ("Cast", ["m"], "v")], {"Cast": {"to": 1}}),
    "Round": ([("Round", ["c"], "v")], {}),
    "Softmax": ([("Softmax", ["c"], "v")], {}),
    "an instance norm": (
        [
            ("MatMul", ["column", "row"], "m"),
            ("Unsqueeze", ["m", "zero"], "u"),
            ("InstanceNormalization", ["u", "c", "c"], "n"),
            ("ReduceSum", ["n", "one"], "v"),
        ],
        {"InstanceNormalization": {"epsilon": 0.25}, "ReduceSum": {"keepdims": 0}},
    ),
    "a layer norm": (
        [("LayerNormalization", ["row", "c", "c"], "n"), ("LayerNormalization", ["n", "c"], "v")],
        {"LayerNormalization": {"epsilon": 0.25, "stash_type": 1}},
    ),
    "a layer norm of all numbers": (
        [
            ("MatMul", ["column", "row"], "m"),
            ("LayerNormalization", ["m", "m"], "n"),
            ("ReduceSum", ["n", "zero"], "v"),
        ],
        {"LayerNormalization": {"axis": 0}},
    ),
    "CumSum": ([("CumSum", ["c", "a0"], "v")], {"CumSum": {"exclusive": 1, "reverse": 1}}),
    "Trilu": ([("MatMul", ["column", "row"], "m"), ("Trilu", ["m"], "t"), ("ReduceSum", ["t", "zero"], "v")], {}),
    "TopK": ([("TopK", ["c", "four"], "v")], {}),
    "ArgMax": ([("ArgMax", ["c"], "m"), ("Gather", ["c", "m"], "v")], {"ArgMax": {"axis": 0}}),
    "norms": ([("ReduceL2", ["c"], "n"), ("ReduceProd", ["c"], "p"), ("Div", ["n", "p"], "v")], {}),
    "Range": ([("Range", ["a0", "a4", "a1"], "m"), ("Cast", ["m"], "v")], {"Cast": {"to": 1}}),
    "EyeLike": ([("MatMul", ["column", "row"], "m"), ("EyeLike", ["m"], "e"), ("MatMul", ["row", "e"], "v")], {}),
    "Einsum": ([("Einsum", ["column", "row"], "v")], {"Einsum": {"equation": "ij,jk->k"}}),
}
STORED: dict[str, Any] = {
    **{"c": np.array([0.5, 1.25, 3.0, 2.25], dtype=np.float32), "two": np.array([2.0], dtype=np.float32)},
    **{"i": np.array([5, -5, 7, -7]), "j": np.array([3, 3, -3, -3]), "zero": np.array([0]), "four": np.array([4])},
    **{"one": np.array([1]), "a0": np.array(0), "a4": np.array(4), "a1": np.array(1)},
    **{"column": np.ones((4, 1), np.float32), "row": np.array([[1.0, -2.0, 3.0, 4.0]], np.float32)},
}


@pytest.mark.parametrize("name", ONNX)
def test_constants_in_onnx(name: str) -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    steps, attributes = ONNX[name]
    nodes = [onnx_parts.node(operator, given, made, **attributes.get(operator, {})) for operator, given, made in steps]
    for one in nodes:
        if one.op_type == "TopK":
            one.output.append("")
    nodes += [onnx_parts.node("Relu", ["x"], "r"), onnx_parts.node("Mul", ["r", "v"], "y")]
    used = {other for one in nodes for other in one.input}
    given = onnx_parts.model(nodes, {k: v for k, v in STORED.items() if k in used}, shape=(1, 4))
    onnx_parts.agrees(given, load(onnx_parts.file(given)))


def test_infinite_constants_and_ranges_in_onnx() -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    stored = {"k": np.array([1, np.inf, -np.inf, 2], np.float32), "zero": np.float32(0), "four": np.float32(4.5)}
    nodes = [
        onnx_parts.node("IsInf", ["k"], "i", detect_negative=0),
        onnx_parts.node("Range", ["zero", "four", "one"], "r5"),
        onnx_parts.node("Slice", ["r5", "first", "last"], "r"),
        onnx_parts.node("Where", ["i", "zero", "r"], "v"),
        onnx_parts.node("Mul", ["x", "v"], "y"),
    ]
    stored |= {"one": np.float32(1), "first": np.array([1]), "last": np.array([5])}
    given = onnx_parts.model(nodes, stored, shape=(1, 4))
    onnx_parts.agrees(given, load(onnx_parts.file(given)))
    ends = {"start": np.float32(0.1), "end": np.float32(0.4), "step": np.float32(0.1)}  # a quotient of nearly 3
    nodes = [onnx_parts.node("Range", ["start", "end", "step"], "v"), onnx_parts.node("Mul", ["x", "v"], "y")]
    with pytest.raises(UnsupportedLayerError, match=r"\(Range\) jumps, and its result"):
        load(onnx_parts.file(onnx_parts.model(nodes, ends, shape=(1, 3))))


def test_signs_in_onnx_that_rounding_decides() -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    c = np.array([0.3, -1.1, 0.7, 0.1], dtype=np.float32)
    nodes = [("Mul", ["c", "three"], "m"), ("Sub", ["m", "d"], "s"), ("Sign", ["s"], "v"), ("Mul", ["x", "v"], "y")]
    stored = {"c": c, "three": np.array([3], np.float32)}
    for shift, is_read in ((0.0, False), (1.0, True)):
        made = [onnx_parts.node(*one) for one in nodes]
        given = onnx_parts.model(made, stored | {"d": 3 * c + np.float32(shift)}, shape=(1, 4))
        if is_read:
            onnx_parts.agrees(given, load(onnx_parts.file(given)))
            continue
        with pytest.raises(UnsupportedLayerError, match=r"\(Sign\) jumps, and its result for constants depends on"):
            load(onnx_parts.file(given))


@pytest.mark.parametrize(("operator", "length"), [("Add", 0), ("Sub", 1), ("Mul", 1), ("Div", 2), ("Mod", 7)])
def test_arithmetic_of_single_lengths(operator: str, length: int) -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    node = onnx_parts.node
    nodes = [
        node("Shape", ["x"], "s"),
        node("Gather", ["s", "one"], "n"),
        node(operator, ["n", "k"], "m"),
        node("Unsqueeze", ["m", "first"], "u"),
        node("Concat", ["first", "u"], "shape", axis=0),
        node("Slice", ["x", "none", "u", "ones"], "y"),
    ]
    stored = {"one": np.array(1), "k": np.array(length), "first": np.array([0]), "none": np.array([0])}
    given = onnx_parts.model(nodes, stored | {"ones": np.array([1])}, shape=(1, 6))
    onnx_parts.agrees(given, load(onnx_parts.file(given)))


def test_only_the_shape_of_a_value_is_read() -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    node = onnx_parts.node
    nodes = [
        node("Exp", ["x"], "e"),
        node("Mul", ["e", "e"], "q"),
        node("Shape", ["q"], "s"),
        node("Relu", ["x"], "r"),
        node("Expand", ["r", "s"], "y"),
    ]
    given = onnx_parts.model(nodes, {}, shape=(1, 3))
    onnx_parts.agrees(given, load(onnx_parts.file(given)))


def test_what_a_message_says_about_a_constant() -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    node = onnx_parts.node
    nodes = [node("Hardmax", ["c"], "v"), node("Mul", ["x", "v"], "y")]
    given = onnx_parts.model(nodes, {"c": np.ones(3, dtype=np.float32)})
    words = r"'Hardmax_v' \(Hardmax\) computes a constant in a way that is not handled; export .* constant folding"
    with pytest.raises(UnsupportedLayerError, match=words):
        load(onnx_parts.file(given))
    nodes[0] = node("Add", ["c", "d"], "v")
    given = onnx_parts.model(nodes, {"c": np.ones(3, dtype=np.float32), "d": np.ones(2, dtype=np.float32)})
    with pytest.raises(RegionsError, match=r"does not fit constants of shapes \[3\] and \[2\]"):
        load(onnx_parts.file(given))


def test_a_spectral_norm_in_double_precision() -> None:
    """A clone of doubles is the operand itself, so noise on one is noise on the other."""
    torch = pytest.importorskip("torch")
    from torch.nn.utils.parametrizations import spectral_norm

    torch.manual_seed(0)
    module = torch.nn.Sequential(spectral_norm(torch.nn.Linear(3, 4)), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    assert load(module.double().eval(), input_shape=3).widths == (4,)
