"""Layers of vision.ops and image files against the real Paddle; the functions are tested
with the other ops."""

import numpy as np
import pytest

from tests.nn.scripts import same

X = "x = paddle.to_tensor(np.random.RandomState(0).randn(1, 8, 6, 7).astype('float32'))"
LAYERS = [
    "O = paddle.vision.ops",
    X,
    "b, n = paddle.to_tensor([[0.5, 1, 4, 5.5], [1, 2, 6, 4]]), paddle.to_tensor([2], 'int32')",
    "O.RoIAlign(3)",
    "O.RoIAlign(2, 0.5)(x, b, n)",
    "O.RoIAlign((2, 3))(x, b, n, aligned=False)",
    "O.RoIPool((2, 3), 0.5)",
    "O.RoIPool(2)(x, b, n)",
    "O.PSRoIPool(2)",
    "O.PSRoIPool(2, 0.5)(x, b, n)",
    "O.DeformConv2D(8, 4, 3)",
    "O.DeformConv2D(3, 4, 3, groups=2)",
    "O.DeformConv2D(3, 4, 3, weight_attr=False)",
    "d = O.DeformConv2D(8, 4, 3, 2, 1, 1, 2, 2, paddle.ParamAttr(initializer=nn.initializer.Constant(0.1)))",
    "list(d.state_dict()), d.weight.shape",
    "d(x, paddle.full([1, 36, 3, 4], 0.3))",
    "d(x, paddle.full([1, 36, 3, 4], 0.3), paddle.full([1, 18, 3, 4], 0.5))",
    "d(x, paddle.ones([1, 36, 3, 3]))",
    "list(O.DeformConv2D(8, 4, 3, bias_attr=False).state_dict())",
    "O.read_file('no such file')",
    "O.__all__",
]


@pytest.mark.own_process
def test_layers(oracle, paddle):
    same(LAYERS, oracle, paddle)


def test_initial_weight_of_deform_conv(oracle, paddle):
    got, want = (
        library.vision.ops.DeformConv2D(16, 200, 3).weight.numpy().std() for library in (paddle, oracle)
    )
    assert got == pytest.approx(want, rel=0.05)


def test_regions_in_several_groups_are_those_of_one(paddle, monkeypatch):
    import importlib

    x, boxes = paddle.randn([2, 3, 8, 8]), paddle.rand([11, 4]).cumsum(1) * 2
    count = paddle.to_tensor([4, 7], "int32")
    whole = paddle.vision.ops.roi_align(x, boxes, count, 3).numpy()
    monkeypatch.setattr(importlib.import_module("paddle_jax.vision.ops.roi"), "_ELEMENTS", 3 * 64 * 4)
    paddle.vision.ops.roi_align.op.kernels.clear()
    np.testing.assert_allclose(paddle.vision.ops.roi_align(x, boxes, count, 3).numpy(), whole, rtol=1e-6)


def test_read_file_and_decode_jpeg(oracle, paddle, tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = np.linspace(0, 255, 8 * 9 * 3).reshape(8, 9, 3).astype("uint8")
    path = tmp_path / "a.jpg"
    image.fromarray(pixels).save(path, quality=95)
    content = paddle.vision.ops.read_file(str(path))
    assert (
        content.numpy().tolist()
        == oracle.vision.ops.read_file(str(path)).numpy().tolist()
        == list(path.read_bytes())
    )
    decoded = np.asarray(image.open(path))
    for mode, want in (
        ("unchanged", decoded.transpose(2, 0, 1)),
        ("rgb", decoded.transpose(2, 0, 1)),
        ("gray", np.asarray(image.open(path).convert("L"))[None]),
    ):
        got = paddle.vision.ops.decode_jpeg(content, mode)
        assert got.dtype == paddle.uint8 and np.array_equal(got.numpy(), want)
    image.fromarray(pixels[..., 0]).save(path)
    assert paddle.vision.ops.decode_jpeg(paddle.vision.ops.read_file(str(path))).shape == [1, 8, 9]
    with pytest.raises(ValueError, match="mode"):
        paddle.vision.ops.decode_jpeg(content, "yuv")
