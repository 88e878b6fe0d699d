"""Records of ops: what a declaration says is enough to save, load, export and autocast it; no name is
lost; old files load.

Unit tests of `_core.kernels.op_record` and `_core.ops.op`.
"""

import json
import warnings
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax
from paddle_jax._core.kernels.op_record import READS, RECORDED, known_as
from paddle_jax._core.ops.op import op
from paddle_jax.framework.model_files import extension_ops, paddle_only_ops, writing
from paddle_jax.framework.model_files.reading import rule_of
from paddle_jax.framework.model_files.records import NO_LOWERING, lowering_of, parse_record, pir_record
from paddle_jax.framework.model_files.signatures import listed as listed_signatures
from paddle_jax.framework.model_files.signatures import signature

FILES = Path(__file__).resolve().parent.parent / "data" / "model_files"
Spec = paddle_jax.static.InputSpec


@known_as(pir="identity_loss reduction:i32", amp="softmax")
@op(method=False, register=False)
def identity_loss(x, reduction=2):
    """An operation of Paddle for which the package declares no op: all elements (2), their mean (1)
    or their sum (0)."""
    return (jnp.sum, jnp.mean, lambda x: x)[reduction](x)


@known_as(
    pir="leaky_relu slope>negative_slope:f64",
    onnx="LeakyRelu alpha=negative_slope",
    amp="matmul_v2",
    id="tests.leaking",
)
@op(method=False, register=False)
def leaking(x, slope=0.5, times=1):
    """An operation of Paddle with another name and attribute here, and one more that files of Paddle
    have no place for."""
    return times * jnp.where(x < 0, x * slope, x)


@known_as(id="tests.ramp")
@op(method=False, register=False)
def ramp(x, top=1.0):
    """An operation that Paddle does not have."""
    return jnp.clip(x, 0, top)


@op(method=False, register=False)
def nameless(x):
    """An operation outside the package that says nothing about files."""
    return x + 1


@known_as(
    pir="topk(x,count>k:i32)->out,_ axis:i32=-1 largest:bool=True sorted:bool=True", id="tests.greatest"
)
@op(method=False, register=False)
def greatest(x, count=1):
    """One of two results of an operation of Paddle, of which an attribute is an operand there."""
    return -jnp.sort(-x, -1)[..., :count]


@known_as(
    pir="cumsum(values:out,along>axis:i32?=-1) along>flatten:none exclusive:bool=False reverse:bool=False",
    id="tests.summed",
)
@op("values", method=False, register=False)
def summed(values, along=None, dtype=None):
    """An operand in the dtype of the result, and an axis that may be None."""
    return jnp.cumsum(values, along, dtype)


@known_as(pir="concat(parts,_:i32=1)", id="tests.side_by_side")
@op("*parts", method=False, register=False)
def side_by_side(parts):
    """A list of operands, and a constant."""
    return jnp.concatenate(parts, 1)


X = np.linspace(-2, 2, 6, dtype="float32").reshape(2, 3)


def saved(function, path):
    """Names of the operations that are written for a function of one Tensor."""
    paddle_jax.jit.save(function, str(path), input_spec=[Spec([None, 3], "float32", "x")])
    block = json.loads(Path(f"{path}.json").read_text())["program"]["regions"][0]["blocks"][0]
    return [one["#"].partition(".")[2] for one in block["ops"]]


def ran(engine, path):
    return engine.jit.load(str(path))(engine.to_tensor(X)).numpy()


@pytest.mark.own_process
def test_one_declaration_is_enough_for_paddle_to_read(oracle, tmp_path):
    assert "leaky_relu" in saved(lambda x: leaking(x, 0.25), tmp_path / "m")
    want = np.where(X < 0, X * 0.25, X)
    np.testing.assert_allclose(ran(oracle, tmp_path / "m"), want)
    np.testing.assert_allclose(ran(paddle_jax, tmp_path / "m"), want)


@pytest.mark.own_process
def test_one_declaration_is_enough_to_read_what_paddle_writes(oracle, tmp_path):

    class Written(oracle.nn.Layer):
        def forward(self, x):
            return oracle.incubate.identity_loss(x, self.reduction)

    for reduction, want in enumerate((X.sum(), X.mean(), X)):
        layer = Written()
        layer.reduction = reduction
        oracle.jit.save(
            layer, str(tmp_path / "m"), input_spec=[oracle.static.InputSpec([2, 3], "float32", "x")]
        )
        np.testing.assert_allclose(ran(paddle_jax, tmp_path / "m"), want, rtol=1e-6)
        assert "identity_loss" in saved(
            lambda x, reduction=reduction: identity_loss(x, reduction), tmp_path / "ours"
        )


@pytest.mark.own_process
@pytest.mark.parametrize(
    ("function", "name", "want"),
    [
        (lambda x: greatest(x, 2), "topk", -np.sort(-X, -1)[:, :2]),
        (lambda x: summed(x, 1, "float64"), "cumsum", X.astype("float64").cumsum(1)),
        (summed, "cumsum", X.cumsum()),
        (lambda x: side_by_side([x, x, 2 * x]), "concat", np.concatenate([X, X, 2 * X], 1)),
    ],
)
def test_operands_and_results_as_paddle_has_them(oracle, tmp_path, function, name, want):
    assert name in saved(function, tmp_path / "m")
    for engine in (oracle, paddle_jax):
        got = ran(engine, tmp_path / "m")
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_rows():
    """The grammar of records."""
    known = parse_record(
        "conv2d|depthwise_conv2d(x,w:out,pad>k:i32?=0,_)->out,x,_ eps:f64?=0.0 axis:i32s? "
        "axis>all:none kind:str='a'"
    )
    assert known.names == ["conv2d", "depthwise_conv2d"]
    assert [(one.name, one.parameter, one.kind, one.default) for one in known.operands] == [
        ("x", "x", "", None),
        ("w", "w", "out", None),
        ("k", "pad", "i32", 0),
        ("_", "_", "", None),
    ]
    assert known.results == ["out", "x", "_"]
    eps, axis, whole, kind = known.attributes
    assert [eps.to_file(None), eps.to_file(0.5), eps.from_file(0.0), eps.from_file(0.5)] == [
        0.0,
        0.5,
        None,
        0.5,
    ]
    assert [
        axis.to_file(None),
        axis.to_file(1),
        axis.to_file((0, 1)),
        axis.from_file([]),
        axis.from_file([1]),
    ] == [
        [],
        [1],
        (0, 1),
        None,
        [1],
    ]
    assert [whole.parameter, whole.to_file(None), whole.to_file(0), kind.default] == [
        "axis",
        True,
        False,
        "a",
    ]
    assert parse_record("relu").is_only_name
    assert not parse_record("relu->out,_").is_only_name
    with pytest.raises(ValueError, match="name\\(operands\\)->results"):
        parse_record("relu( x )")


def test_one_declaration_is_enough_for_onnx(tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not available for this Python")
    paddle_jax.onnx.export(leaking, str(tmp_path / "m"), input_spec=[Spec([None, 3], "float32", "x")])
    (got,) = runtime.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"x": X})
    np.testing.assert_allclose(got, np.where(X < 0, X * 0.5, X))


def test_one_declaration_is_enough_for_mixed_precision():
    x = paddle_jax.to_tensor(X)
    with paddle_jax.amp.auto_cast(dtype="bfloat16"):
        assert leaking(x).dtype == paddle_jax.bfloat16  # as matmul_v2
        assert identity_loss(x.astype("bfloat16")).dtype == paddle_jax.float32  # as softmax
        assert ramp(x.astype("bfloat16")).dtype == paddle_jax.bfloat16  # in no list
        assert ramp(x).dtype == paddle_jax.float32


def test_what_paddle_does_not_have_is_saved_as_ours(tmp_path):
    with pytest.warns(UserWarning, match="not operations of Paddle"):
        assert "paddle_jax.tests.ramp" in saved(lambda x: ramp(x, 0.5), tmp_path / "m")
    np.testing.assert_allclose(ran(paddle_jax, tmp_path / "m"), np.clip(X, 0, 0.5))
    with pytest.warns(UserWarning, match="not operations of Paddle"):
        # an attribute that Paddle's has no place for
        assert "paddle_jax.tests.leaking" in saved(lambda x: leaking(x, 0.25, 3), tmp_path / "n")
    np.testing.assert_allclose(ran(paddle_jax, tmp_path / "n"), 3 * np.where(X < 0, X * 0.25, X), rtol=1e-6)
    with pytest.raises(ValueError, match="nameless has no form in a file"):
        saved(nameless, tmp_path / "o")


def test_files_from_before_ids_load():
    """Written when the module was part of an operation's name."""
    names = [
        one["#"]
        for one in json.loads((FILES / "named_by_module.json").read_text())["program"]["regions"][0][
            "blocks"
        ][0]["ops"]
    ]
    assert "1.paddle_jax.tensor.slicing.unfold" in names
    x = np.arange(8, dtype="float32").reshape(2, 4)
    got = [
        one.numpy() for one in paddle_jax.jit.load(str(FILES / "named_by_module"))(paddle_jax.to_tensor(x))
    ]
    windows = np.stack([x[:, i : i + 2] for i in range(3)], 1)
    want = [windows, np.sinc(x), np.pad(x, ((0, 0), (1, 2))), np.trapezoid(x), np.diff(x), np.frexp(x)[0]]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, atol=1e-6)


def test_names_of_our_operations_in_files():
    for name, home in (
        ("nn.functional.common.unfold", "paddle_jax.nn.functional.common"),
        ("tensor.slicing.unfold", "paddle_jax.tensor.slicing"),
        ("unfold", "paddle_jax.tensor.slicing"),
        ("nn_unfold", "paddle_jax.nn.functional.common"),
        ("compat.nn.functional.common.pad", "paddle_jax.compat.nn.functional.common"),
        ("pad", "paddle_jax.nn.functional.padding"),
    ):
        assert extension_ops.find(f"paddle_jax.{name}").home == home
    assert extension_ops.find("unfold") is extension_ops.find("paddle_jax.system") is None


@pytest.mark.own_process
def test_functions_of_one_name_are_told_apart(oracle, tmp_path):
    """compat.nn.functional.linear takes its weight the other way round than nn.functional.linear."""
    w = np.arange(9, dtype="float32").reshape(3, 3)
    weight = paddle_jax.to_tensor(w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle_jax.jit.save(
            lambda x: paddle_jax.compat.nn.functional.linear(x, weight, weight[0]),
            str(tmp_path / "m"),
            input_spec=[Spec([None, 3])],
        )
    for engine in (oracle, paddle_jax):
        np.testing.assert_allclose(ran(engine, tmp_path / "m"), X @ w.T + w[0], rtol=1e-6)


def listed():
    """The names that were read, written and exported before there were records."""
    lines = (FILES / "names.txt").read_text().splitlines()
    heads = [i for i, line in enumerate(lines) if not line.startswith(" ")]
    return {
        lines[i]: " ".join(lines[i + 1 : end]).split()
        for i, end in zip(heads, [*heads[1:], None], strict=True)
    }


def test_no_name_is_lost():
    from paddle_jax.onnx import rules as onnx

    names = listed()
    assert [name for name in names["read"] if rule_of(name) is None] == []
    assert [name for name in names["onnx"] if onnx.rule_of(name) is None] == []
    assert [
        name for name in names["written"] if writing.rule_of(extension_ops.find(f"paddle_jax.{name}")) is None
    ] == []


def test_records_are_sound():
    """What a text names exists; what is only Paddle's has a default where the text is all there is; what a
    record calls code is there."""
    for one in RECORDED:
        code = lowering_of(one.record.code)
        assert (code is NO_LOWERING) == (not one.record.code), one
        if not one.record.pir:
            continue
        known = pir_record(one)
        public = READS[known.names[0]].signature.parameters
        for attribute in [*known.attributes, *(known.operands or ())]:
            assert attribute.parameter in (attribute.name, *one.signature.parameters, *public), (
                one,
                attribute,
            )
        for attribute in known.attributes:
            if code.write is None and not one.composite and attribute.kind != "dtype":
                assert attribute.parameter in one.attrs or attribute.default is not None, (one, attribute)
        for name in known.results or ():
            assert name in ("out", "_", "[]", *public), (one, name)
        for name in known.names:
            assert [a.name for a in parse_record(READS[name].record.pir).attributes] == [
                line[0] for line in signature(name)
            ], one


def test_one_place_for_each_operation_of_paddle():
    """What an op of ours is written as is not read by a second rule, and only operations without a record
    have a line of attributes."""
    assert [
        name for name in paddle_only_ops.RULES if name in READS and READS[name].home.startswith("paddle_jax")
    ] == []
    assert [
        name
        for name in listed_signatures()
        if name in READS and parse_record(READS[name].record.pir).attributes
    ] == []
