"""Operations of detectors, graphs, sequences and sampled classes: one program for each group."""

import functools
import inspect
import re

import numpy as np

from tests.jit.corpus.expressions import function_of
from tests.jit.corpus.program import Program, add

_NUMBERS = np.random.default_rng(0).normal(size=4096).astype("float32")


def normal(*shape):
    return _NUMBERS[: int(np.prod(shape))].reshape(shape)


def ints(values, dtype="int64"):
    return np.array(values, dtype)


BOXES = np.array([[0, 0, 9, 9], [0, 1, 9, 10], [2, 3, 15, 12]], "float32")
COUNTS = ints([1, 2], "int32")
SCORES = np.array([0.3, 0.9, 0.8], "float32")
TWO_SCORES = np.stack([SCORES, SCORES[::-1]])[None]
NODES, SOURCE, TARGET = normal(5, 4), ints([0, 1, 2, 4]), ints([1, 1, 3, 0])
PRIORS = np.array([[0.1, 0.1, 0.5, 0.6], [0.2, 0.1, 0.9, 0.8]], "float32")
BOXES_OF_IMAGES = {
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
    "V.yolo_box(x, y, [10, 13], 2, .01, 32)": (normal(1, 7, 4, 4), ints([[90, 70]], "int32")),
    "V.yolo_loss(x, y, z, [10, 13, 16, 30], [1], 2, .7, 32)": (
        normal(1, 7, 3, 3),
        np.abs(normal(1, 2, 4)) * 0.2,
        ints([[0, 1]], "int32"),
    ),
}
GRAPHS_AND_SEQUENCES = {
    "paddle.text.viterbi_decode(x, y, z)": (normal(2, 4, 3), normal(3, 3), ints([4, 2])),
    "paddle.text.viterbi_decode(x, y, z, False)": (normal(2, 4, 3), normal(3, 3), ints([4, 2])),
    "paddle.geometric.send_u_recv(x, y, z, 'mean')": (NODES, SOURCE, TARGET),
    "paddle.geometric.send_u_recv(x, y, z, 'max', out_size=7)": (NODES, SOURCE, TARGET),
    "paddle.geometric.send_ue_recv(x, y, z, w, 'mul', 'sum')": (NODES, normal(4, 4), SOURCE, TARGET),
    "paddle.geometric.send_uv(x, y, z, w, 'add')": (NODES, normal(5, 4) * 2, SOURCE, TARGET),
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
    "F.rnnt_loss(x, y, z, w, reduction='none')": (
        normal(1, 3, 3, 4),
        ints([[1, 2]], "int32"),
        ints([3], "int32"),
        ints([2], "int32"),
    ),
}
# the lengths of the results depend on values
CHOSEN_BOXES = {
    "V.matrix_nms(x, y, .1, .1, 5, 5, return_index=True)": (BOXES[None], TWO_SCORES),
    "V.distribute_fpn_proposals(x, 2, 5, 4, 8, rois_num=y)": (BOXES * 9, COUNTS),
    "V.generate_proposals(x, y, z, w, w * 0 + 1, 20, 5, .3, return_rois_num=True)": (
        np.abs(normal(1, 3, 4, 5)),
        normal(1, 12, 4, 5) * 0.1,
        np.array([[40, 50]], "float32"),
        np.abs(normal(4, 5, 3, 4)).cumsum(-1) * 4,
    ),
    "V.nms(x, .5, y)": (BOXES, SCORES),
    "V.nms(x, .5)": (BOXES,),
}
# which classes are drawn depends on values
DRAWN_CLASSES = {
    "F.class_center_sample(x, 20, 3)": (ints([11, 5, 1, 5]),),  # no class is left to draw
}


def inputs_of(cases):
    """The inputs of all cases, one after the other."""
    return [value for inputs in cases.values() for value in inputs]


def texts_of(cases):
    """Each expression with the numbers of its inputs: `x` of the second case may be `values[3]`."""
    texts = {}
    first = 0
    for expression, inputs in cases.items():
        names = {name: f"values[{first + i}]" for i, name in enumerate("xyzw"[: len(inputs)])}
        numbered = re.sub(r"\b([xyzw])\b", lambda found, names=names: names[found[1]], expression)
        texts[expression] = numbered
        first += len(inputs)
    # Paddle and JAX sort the keys of a dict.
    return dict(sorted(texts.items()))


def body(P, cases, name):
    """A Layer that gives what all cases give, by their expressions."""
    function = function_of(texts_of(cases), name, "*values")

    class Body(P.nn.Layer):
        def forward(self, *values):
            return function(P, *values)

    # Paddle counts the parameters of a function that it compiles.
    names = ["self", *[f"v{i}" for i in range(len(inputs_of(cases)))]]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    Body.forward.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return Body()


GROUPS = (BOXES_OF_IMAGES, GRAPHS_AND_SEQUENCES, CHOSEN_BOXES, DRAWN_CLASSES)


def add_group(name, cases, **special):
    """Adds a program of all cases of a group."""
    name = f"detection.{name}"
    build = functools.partial(body, cases=cases, name=name)
    add(Program(name, build, [inputs_of(cases)], gradients=False, precision=(1e-4, 1e-5), **special))


_FROM_PADDLE = ("loaded_from_paddle",)
_NO_FORM = "no form in ONNX here"
_NOT_COMPILED = "the result depends on the value of a tensor"
add_group("boxes_of_images", BOXES_OF_IMAGES, more=_FROM_PADDLE, refused_by={"onnx": _NO_FORM})
add_group(
    "graphs_and_sequences",
    GRAPHS_AND_SEQUENCES,
    without={"full_graph": "how many nodes and segments there are depends on values"},
    more=_FROM_PADDLE,
    refused_by={"onnx": _NO_FORM, "stablehlo": _NOT_COMPILED},
)
add_group(
    "chosen_boxes",
    CHOSEN_BOXES,
    op_by_op=_NOT_COMPILED,
    more=_FROM_PADDLE,
    refused_by={"onnx": _NO_FORM, "stablehlo": _NOT_COMPILED},
)
add_group(
    "drawn_classes",
    DRAWN_CLASSES,
    op_by_op=_NOT_COMPILED,
    more=_FROM_PADDLE,
    refused_by=dict.fromkeys(("loaded", "loaded_by_paddle", "onnx", "stablehlo"), "value of a tensor"),
)
