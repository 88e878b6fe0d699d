"""Operations of detectors, graphs, sequences and sampled classes in model files of the real Paddle: they
run here with the numbers that Paddle gives."""

import numpy as np
import pytest

import paddle_jax
from paddle_jax.jit import load, save

pytestmark = pytest.mark.own_process

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=4096).astype("float32")


def normal(*shape):
    return NUMBERS[: int(np.prod(shape))].reshape(shape)


def ints(values, dtype="int64"):
    return np.array(values, dtype)


BOXES = np.array([[0, 0, 9, 9], [0, 1, 9, 10], [2, 3, 15, 12]], "float32")
COUNTS = ints([1, 2], "int32")
SCORES = np.array([0.3, 0.9, 0.8], "float32")
TWO_SCORES = np.stack([SCORES, SCORES[::-1]])[None]
NODES, SOURCE, TARGET = normal(5, 4), ints([0, 1, 2, 4]), ints([1, 1, 3, 0])
PRIORS = np.array([[0.1, 0.1, 0.5, 0.6], [0.2, 0.1, 0.9, 0.8]], "float32")
CASES = {
    "V.nms(x, .5, y)": (BOXES, SCORES),
    "V.nms(x, .5)": (BOXES,),
    "V.matrix_nms(x, y, .1, .1, 5, 5, return_index=True)": (BOXES[None], TWO_SCORES),
    "V.roi_align(x, y, z, 2, 0.5)": (normal(2, 3, 8, 9), BOXES, COUNTS),
    "V.roi_align(x, y, z, (2, 3), sampling_ratio=2, aligned=False)": (normal(2, 3, 8, 9), BOXES, COUNTS),
    "V.roi_pool(x, y, z, 2, 0.5)": (normal(2, 3, 8, 9), BOXES, COUNTS),
    "V.psroi_pool(x, y, z, 2, 0.5)": (normal(2, 8, 8, 9), BOXES, COUNTS),
    "V.deform_conv2d(x, y, z, padding=1)": (normal(1, 3, 6, 6), normal(1, 18, 6, 6), normal(2, 3, 3, 3)),
    "V.deform_conv2d(x, y, z, stride=2, mask=w)": (
        normal(1, 3, 7, 7), normal(1, 18, 3, 3), normal(2, 3, 3, 3), normal(1, 9, 3, 3)),
    "V.prior_box(x, y, [4.], [8.], [2.], flip=True)": (normal(1, 1, 2, 3), normal(1, 3, 10, 20)),
    "V.box_coder(x, [.1, .1, .2, .2], y)": (PRIORS, PRIORS[::-1] * 0.9),
    "V.box_coder(x, y, z)": (PRIORS, PRIORS + 0.1, PRIORS[::-1] * 0.9),
    "paddle.text.viterbi_decode(x, y, z)": (normal(2, 4, 3), normal(3, 3), ints([4, 2])),
    "paddle.text.viterbi_decode(x, y, z, False)": (normal(2, 4, 3), normal(3, 3), ints([4, 2])),
    "paddle.geometric.send_u_recv(x, y, z, 'mean')": (NODES, SOURCE, TARGET),
    "paddle.geometric.send_u_recv(x, y, z, 'max', out_size=7)": (NODES, SOURCE, TARGET),
    "paddle.geometric.send_ue_recv(x, y, z, w, 'mul', 'sum')": (NODES, normal(4, 4), SOURCE, TARGET),
    "paddle.geometric.send_uv(x, y, z, w, 'add')": (NODES, normal(5, 4) * 2, SOURCE, TARGET),
    "V.yolo_box(x, y, [10, 13], 2, .01, 32)": (normal(1, 7, 4, 4), ints([[90, 70]], "int32")),
    "paddle.geometric.reindex_graph(x, y, z)": (ints([0, 1, 2]), ints([8, 9, 0, 4, 7, 6, 7]),
                                                ints([2, 3, 2], "int32")),
    "paddle.geometric.segment_sum(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "paddle.geometric.segment_mean(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "paddle.geometric.segment_max(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "paddle.geometric.segment_min(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "F.gather_tree(x, y)": (ints([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]),
                            ints([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]])),
    "F.fractional_max_pool2d(x, 3, random_u=.3)": (normal(1, 2, 8, 8),),
    "F.fractional_max_pool2d(x, 3, 2, random_u=.3, return_mask=True)": (normal(1, 2, 8, 8),),
    "F.fractional_max_pool3d(x, 3, random_u=.3)": (normal(1, 2, 8, 8, 8),),
    "F.class_center_sample(x, 20, 3)": (ints([11, 5, 1, 5]),),  # no class is left to draw
    "F.rnnt_loss(x, y, z, w, reduction='none')": (normal(1, 3, 3, 4), ints([[1, 2]], "int32"),
                                                  ints([3], "int32"), ints([2], "int32")),
}


# what is kept, or drawn, depends on values
UNWRITTEN = ("V.nms", "F.class_center_sample")


def layer(engine, expression):
    """A Layer that gives what an expression does."""

    class Body(engine.nn.Layer):
        def __init__(self):
            super().__init__()
            code = f"lambda paddle, V, F, x, y=None, z=None, w=None: {expression}"
            self.function = eval(code)  # noqa: S307

        def forward(self, x, y=None, z=None, w=None):
            inputs = [one for one in (x, y, z, w) if one is not None]
            return self.function(engine, engine.vision.ops, engine.nn.functional, *inputs)

    return Body()


def arrays(result):
    """What a model returns, as arrays."""
    many = result if isinstance(result, list | tuple) else [result]
    return [one.numpy() for one in many if one is not None]


def specs_of(engine, values):
    """InputSpecs of arrays."""
    return [engine.static.InputSpec(list(one.shape), str(one.dtype), name)
            for one, name in zip(values, "xyzw", strict=False)]


def check(got, want):
    """Compares what two models return."""
    got, want = arrays(got), arrays(want)
    assert len(got) == len(want)
    for ours, right in zip(got, want, strict=True):
        assert (ours.shape, ours.dtype) == (right.shape, right.dtype)
        np.testing.assert_allclose(ours, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("expression", CASES)
def test_reads_what_paddle_writes(oracle, tmp_path, expression):
    values = CASES[expression]
    model = layer(oracle, expression)
    oracle.jit.save(model, str(tmp_path / "m"), input_spec=specs_of(oracle, values))
    check(load(str(tmp_path / "m"))(*map(paddle_jax.to_tensor, values)),
          model(*map(oracle.to_tensor, values)))


@pytest.mark.parametrize("expression", [one for one in CASES if not one.startswith(UNWRITTEN)])
def test_paddle_reads_what_is_written_here(oracle, tmp_path, expression):
    values = CASES[expression]
    save(layer(paddle_jax, expression), str(tmp_path / "m"), input_spec=specs_of(paddle_jax, values))
    want = layer(oracle, expression)(*map(oracle.to_tensor, values))
    check(oracle.jit.load(str(tmp_path / "m"))(*map(oracle.to_tensor, values)), want)
    check(load(str(tmp_path / "m"))(*map(paddle_jax.to_tensor, values)), want)
