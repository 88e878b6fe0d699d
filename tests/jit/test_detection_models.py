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
        normal(1, 3, 7, 7),
        normal(1, 18, 3, 3),
        normal(2, 3, 3, 3),
        normal(1, 9, 3, 3),
    ),
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
    "V.distribute_fpn_proposals(x, 2, 5, 4, 8, rois_num=y)": (BOXES * 9, COUNTS),
    "V.generate_proposals(x, y, z, w, w * 0 + 1, 20, 5, .3, return_rois_num=True)": (
        np.abs(normal(1, 3, 4, 5)),
        normal(1, 12, 4, 5) * 0.1,
        np.array([[40, 50]], "float32"),
        np.abs(normal(4, 5, 3, 4)).cumsum(-1) * 4,
    ),
    "V.yolo_loss(x, y, z, [10, 13, 16, 30], [1], 2, .7, 32)": (
        normal(1, 7, 3, 3),
        np.abs(normal(1, 2, 4)) * 0.2,
        ints([[0, 1]], "int32"),
    ),
    "paddle.geometric.reindex_graph(x, y, z)": (
        ints([0, 1, 2]),
        ints([8, 9, 0, 4, 7, 6, 7]),
        ints([2, 3, 2], "int32"),
    ),
    "paddle.geometric.segment_sum(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "paddle.geometric.segment_mean(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "paddle.geometric.segment_max(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "paddle.geometric.segment_min(x, y)": (NODES, ints([0, 0, 1, 1, 2])),
    "F.gather_tree(x, y)": (
        ints([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]),
        ints([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]]),
    ),
    "F.fractional_max_pool2d(x, 3, random_u=.3)": (normal(1, 2, 8, 8),),
    "F.fractional_max_pool2d(x, 3, 2, random_u=.3, return_mask=True)": (normal(1, 2, 8, 8),),
    "F.fractional_max_pool3d(x, 3, random_u=.3)": (normal(1, 2, 8, 8, 8),),
    "F.class_center_sample(x, 20, 3)": (ints([11, 5, 1, 5]),),  # no class is left to draw
    "F.rnnt_loss(x, y, z, w, reduction='none')": (
        normal(1, 3, 3, 4),
        ints([[1, 2]], "int32"),
        ints([3], "int32"),
        ints([2], "int32"),
    ),
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
    """What a model returns, as arrays; lists one after the other."""
    if isinstance(result, list | tuple):
        return [array for one in result for array in arrays(one)]
    return [] if result is None else [result.numpy()]


def specs_of(engine, values):
    """InputSpecs of arrays."""
    return [
        engine.static.InputSpec(list(one.shape), str(one.dtype), name)
        for one, name in zip(values, "xyzw", strict=False)
    ]


def check(got, want, text=""):
    """Compares arrays that two models return."""
    assert len(got) == len(want), text
    for ours, right in zip(got, want, strict=True):
        assert (ours.shape, ours.dtype) == (right.shape, right.dtype), text
        np.testing.assert_allclose(ours, right, rtol=1e-4, atol=1e-5, err_msg=text)


@pytest.mark.parametrize("expression", CASES)
def test_reads_what_paddle_writes(oracle, tmp_path, expression):
    values = CASES[expression]
    model = layer(oracle, expression)
    oracle.jit.save(model, str(tmp_path / "m"), input_spec=specs_of(oracle, values))
    check(
        arrays(load(str(tmp_path / "m"))(*map(paddle_jax.to_tensor, values))),
        arrays(model(*map(oracle.to_tensor, values))),
    )


def together(engine, expressions):
    """(a function of the inputs of all expressions, one after the other, that gives a list of lists; its
    InputSpecs; its inputs)"""
    parts = [(layer(engine, one), len(CASES[one])) for one in expressions]

    def model(*given):
        rest = iter(given)
        found = [part(*[next(rest) for _ in range(count)]) for part, count in parts]
        return [list(one) if isinstance(one, list | tuple) else [one] for one in found]

    values = [value for one in expressions for value in CASES[one]]
    specs = [
        engine.static.InputSpec(list(one.shape), str(one.dtype), f"v{i}") for i, one in enumerate(values)
    ]
    return model, specs, list(map(engine.to_tensor, values))


def test_paddle_reads_what_is_written_here(oracle, tmp_path):
    expressions = [one for one in CASES if not one.startswith(UNWRITTEN)]
    model, specs, values = together(paddle_jax, expressions)
    save(model, str(tmp_path / "m"), input_spec=specs)
    eager, _, theirs = together(oracle, expressions)
    found = oracle.jit.load(str(tmp_path / "m"))(*theirs), load(str(tmp_path / "m"))(*values)
    for expression, want in zip(expressions, eager(*theirs), strict=True):
        want = arrays(want)
        for got in found:
            ours, got[:] = arrays(got[: len(want)]), got[len(want) :]
            check(ours, want, expression)
