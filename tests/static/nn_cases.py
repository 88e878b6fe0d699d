"""The functions of `paddle.static.nn` on small inputs; run as a script it writes what the real Paddle's
old programs give.

    FLAGS_enable_pir_api=0 python -m tests.static.nn_cases FILE

Paddle 3.3.1 refuses most of these functions in the programs it makes by default; the flag brings back the
older kind, which cannot be mixed with the other in one process.
"""

import pathlib
import pickle
import sys

import numpy as np


def data(m, *shape, dtype="float32", name="x"):
    return m.static.data(name, list(shape), dtype)


CASES = {
    "fc": lambda m: m.static.nn.fc(data(m, None, 3, 4), 5),
    "fc flat": lambda m: m.static.nn.fc(data(m, None, 3, 4), 5, num_flatten_dims=2, activation="tanh"),
    "fc negative": lambda m: m.static.nn.fc(data(m, None, 3, 4), 5, num_flatten_dims=-1, bias_attr=False),
    "fc of two": lambda m: m.static.nn.fc([data(m, None, 3), data(m, None, 4, name="y")], 5),
    "conv2d": lambda m: m.static.nn.conv2d(data(m, None, 3, 6, 6), 4, 3, act="relu"),
    "conv2d groups": lambda m: m.static.nn.conv2d(
        data(m, None, 4, 6, 6), 4, [3, 2], stride=2, padding=1, groups=2, bias_attr=False
    ),
    "conv2d same": lambda m: m.static.nn.conv2d(data(m, None, 3, 5, 5), 2, 3, padding="SAME"),
    "conv3d": lambda m: m.static.nn.conv3d(data(m, None, 2, 4, 4, 4), 3, 2),
    "conv2d_transpose": lambda m: m.static.nn.conv2d_transpose(
        data(m, None, 3, 4, 4), 2, filter_size=3, stride=2, padding=1
    ),
    "conv2d_transpose by size": lambda m: m.static.nn.conv2d_transpose(
        data(m, None, 3, 4, 4), 2, output_size=[6, 6]
    ),
    "conv3d_transpose": lambda m: m.static.nn.conv3d_transpose(data(m, None, 2, 3, 3, 3), 2, filter_size=2),
    "batch_norm": lambda m: m.static.nn.batch_norm(data(m, None, 3, 4, 4)),
    "batch_norm test": lambda m: m.static.nn.batch_norm(data(m, None, 3, 4, 4), is_test=True, act="relu"),
    "layer_norm": lambda m: m.static.nn.layer_norm(data(m, None, 3, 4)),
    "layer_norm last": lambda m: m.static.nn.layer_norm(data(m, None, 3, 4), scale=False, begin_norm_axis=2),
    "group_norm": lambda m: m.static.nn.group_norm(
        data(m, None, 4, 3, 3), 2, param_attr=m.ParamAttr(), bias_attr=m.ParamAttr()
    ),
    "group_norm plain": lambda m: m.static.nn.group_norm(data(m, None, 4, 3, 3), 2),
    "instance_norm": lambda m: m.static.nn.instance_norm(
        data(m, None, 4, 3, 3), param_attr=m.ParamAttr(), bias_attr=m.ParamAttr()
    ),
    "embedding": lambda m: m.static.nn.embedding(data(m, None, 3, dtype="int64", name="ids"), [5, 4]),
    "embedding padded": lambda m: m.static.nn.embedding(
        data(m, None, 3, dtype="int64", name="ids"), [5, 4], padding_idx=-1
    ),
    "prelu all": lambda m: m.static.nn.prelu(data(m, None, 3, 2, 2), "all"),
    "prelu channel": lambda m: m.static.nn.prelu(data(m, None, 3, 2, 2), "channel"),
    "prelu element": lambda m: m.static.nn.prelu(data(m, None, 3, 2, 2), "element"),
    "bilinear_tensor_product": lambda m: m.static.nn.bilinear_tensor_product(
        data(m, None, 3), data(m, None, 4, name="y"), 5
    ),
    "row_conv": lambda m: m.static.nn.row_conv(data(m, 2, 5, 4), 2),
    "weight norm": lambda m: m.static.nn.fc(
        data(m, None, 3), 5, weight_attr=m.static.WeightNormParamAttr(dim=0)
    ),
    "py_func": lambda m: m.static.py_func(
        lambda a: np.array(a) * 3, data(m, 2, 4), data(m, 2, 4, name="out")
    ),
}
FEED = {"ids": lambda shape: np.array([[0, 4, 2], [1, 1, 4]])}


def order(names):
    """Parameters in an order that does not depend on how names count up."""
    return sorted(names, key=lambda name: name.split(".")[-1] + name)


def run(m, case, exe):
    """(shapes of parameters, the result, values of parameters afterwards) of a case."""
    S = m.static
    main, startup = S.Program(), S.Program()
    with S.program_guard(main, startup):
        out = CASES[case](m)
        params = {p.name: p for p in main.all_parameters()}
    exe.run(startup)
    r, shapes = np.random.RandomState(1), []
    for name in order(params):
        tensor = S.global_scope().find_var(name).get_tensor()
        shapes.append(tuple(tensor.shape()))
        tensor.set((r.rand(*tensor.shape()) + 0.1).astype("float32"), m.CPUPlace())
    feed = {}
    for name in ("x", "y", "ids", "out"):
        if main.global_block().has_var(name):
            shape = [2 if n in (-1, None) else n for n in main.global_block().var(name).shape]
            feed[name] = FEED.get(name, lambda shape: r.randn(*shape).astype("float32"))(shape)
    fetched = [np.array(v) for v in exe.run(main, feed=feed, fetch_list=[out])]
    after = [np.array(S.global_scope().find_var(n).get_tensor()) for n in order(params)]
    return shapes, fetched, after


def main():
    """Writes what the real Paddle gives."""
    import paddle

    paddle.disable_signal_handler()
    paddle.enable_static()
    exe, found = paddle.static.Executor(paddle.CPUPlace()), {}
    for case in CASES:
        try:
            found[case] = run(paddle, case, exe)
        except Exception as error:
            found[case] = repr(error)
    pathlib.Path(sys.argv[1]).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
