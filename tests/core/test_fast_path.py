"""What records an operation, in Python and in C: both do the same, field by field.

Unit tests of `_core.execution.fast_path`, `_core.lazy.segment`, `_core.lazy.recorder`,
`_core.lazy._recorder`, `_core.lazy.transfer`, `_core.kernels.kernel`, `_core.tape.replay`,
`_core.base.state` and `tensor.indexing`.
"""

import gc
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from paddle_jax._core.base.state import local
from paddle_jax._core.execution import fast_path
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy import recorder
from paddle_jax._core.lazy import segment as segments
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tape import replay
from paddle_jax.tensor import indexing
from tests.deferred import differential

WAYS = ["python", "c"]


def kernel_of(p, call, *operands):
    """The kernel that a call records last."""
    call(*operands)
    return local.ctx.segment.ops[-1][0].kernel


@pytest.fixture
def p(paddle):
    with differential.tier(paddle, deferred="sync"):
        yield paddle


def function_of(way, name, in_python):
    """A function of the extension module, or the one in Python."""
    if way == "python":
        return in_python
    if extension is None:
        pytest.skip("this installation has no extension module")
    return getattr(extension, name)


@pytest.fixture(params=WAYS)
def run(request):
    """`run` with one to three operands."""
    functions = {n: fast_path._compile_run(n) for n in (1, 2, 3)}
    return function_of(
        request.param, "run", lambda kernel, *tensors: functions[len(tensors)](kernel, *tensors)
    )


def tensors(p, *stops):
    return [p.to_tensor(np.full((2, 3), k + 1.0, "float32"), stop_gradient=s) for k, s in enumerate(stops)]


def test_a_result_without_gradient(p, run):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    before = len(local.ctx.segment.ops)
    out = run(kernel, x, y)
    signature, *positions = local.ctx.segment.ops[-1]
    assert len(local.ctx.segment.ops) == before + 1
    assert signature.kernel is kernel
    assert positions == list(local.ctx.segment.ops[before - 1][1:])
    assert type(out) is p.Tensor
    assert (out._node, out._stop, out._idx, out._version, out._persistable) == (None, True, 0, 0, False)
    assert (out._alias, out._grad, out._hooks, out._name) == (None, None, None, None)
    assert (out._raw.position, out._raw.segment, out._raw.array) == (before, local.ctx.segment, None)
    assert not local.ctx.segment.recording
    assert out.tolist() == [[3.0] * 3] * 2


@pytest.mark.parametrize("stops", [(False,), (True, False), (False, True), (False, False)])
def test_a_node(p, run, stops):
    operands = tensors(p, *stops)
    inner = [x if x.stop_gradient else x * 1.5 for x in operands]
    function = p.tanh if len(stops) == 1 else p.multiply
    kernel = kernel_of(p, function, *inner)
    out = run(kernel, *inner)
    node = out._node
    assert not out.stop_gradient
    assert node.diff == tuple(i for i, stop in enumerate(stops) if not stop)
    assert node.edges == tuple((inner[i]._node, 0) for i in node.diff)
    assert (node.kernel, node.n_out, node.hooks, node.zero_grad_sources) == (kernel, 1, None, None)
    assert (node.segment, node.position) == (local.ctx.segment, out._raw.position)
    assert node.serial > max(inner[i]._node.serial for i in node.diff)
    stand_ins = (local.ctx.segment.ops[-1][0].unread or {}).get(node.diff) or [None] * len(inner)
    for value, x, stand_in in zip(node.values, inner, stand_ins, strict=True):
        assert value is (x._raw if stand_in is None else stand_in)
    out.sum().backward()
    for x, stop in zip(operands, stops, strict=True):
        assert (x.grad is None) == stop


def test_no_grad(p, run):
    (x,) = tensors(p, False)
    kernel = kernel_of(p, p.tanh, x)
    with p.no_grad():
        out = run(kernel, x)
    assert out.stop_gradient
    assert out._node is None


def test_an_operand_that_the_gradient_does_not_read(p, run):
    x, y = tensors(p, False, False)
    kernel = kernel_of(p, p.add, x, y)
    for _ in range(2):
        run(kernel, x, y).sum().backward()
    out = run(kernel, x, y)
    signature = local.ctx.segment.ops[-1][0]
    assert signature.unread
    assert list(out._node.values) == list(signature.unread[0, 1])


def test_a_view(p, run):
    (x,) = tensors(p, True)
    kernel = kernel_of(p, lambda t: t.reshape([3, 2]), x)
    assert kernel.view is not None
    out = run(kernel, x)
    out[0, 0] = 7.0
    assert x.tolist()[0][0] == 7.0


def test_operands_of_another_segment(p, run):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    inner = x * 2
    other = local.ctx.segment
    local.ctx.segment = type(other)(256)
    assert run(kernel, inner, y).tolist() == [[4.0] * 3] * 2


def test_a_segment_that_is_full(p, run):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    local.ctx.segment.limit = len(local.ctx.segment.ops)
    assert run(kernel, x, y).tolist() == [[3.0] * 3] * 2


def test_a_limit_of_zero_before_the_first_operation(p, run):
    """An interrupt leaves such a segment where it comes before the operation is appended."""
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    local.ctx.segment = type(local.ctx.segment)(0)
    assert run(kernel, x, y).tolist() == [[3.0] * 3] * 2


def test_a_segment_that_another_thread_has_closed_stays_closed(p):
    segment = type(local.ctx.segment)(256)
    segment.close()
    segment.cut_or_grow(local.ctx)
    assert segment.limit == -1


def test_another_shape_and_other_kinds_of_tensors(p, run):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    wide = p.ones([5, 7])
    assert run(kernel, wide, wide).tolist() == [[2.0] * 7] * 5
    parameter = p.create_parameter([2, 3], "float32")
    assert run(kernel, parameter, y)._node.edges == ((parameter, 0),)

    class Own(p.Tensor):
        pass

    own = Own(np.ones((2, 3), "float32"))
    assert run(kernel, own, y).tolist() == [[3.0] * 3] * 2


def test_errors_come_through(p, run):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    with pytest.raises(Exception, match="add") as caught:
        run(kernel, x, p.ones([5, 7]))
    assert isinstance(caught.value, ValueError)
    assert not local.ctx.segment.recording
    with pytest.raises((AttributeError, TypeError)):
        run(kernel, x, 3)


class ReadsAtItsEnd:
    """Part of a cycle of garbage: its finalizer records an operation and reads the result."""

    def __init__(self, tensor, read):
        self.cycle = self
        self.tensor = tensor
        self.read = read

    def __del__(self):
        segment = local.ctx.segment
        is_recording = segment.recording
        result = self.tensor * 2
        assert segment.recording == is_recording
        self.read.append(result.tolist())


def with_collections(call):
    """Gives the results of calls in which a garbage collection begins at one allocation after another."""
    thresholds = gc.get_threshold()
    for count in range(1, 30):
        gc.collect()
        gc.disable()
        gc.set_threshold(count, *thresholds[1:])
        gc.enable()
        try:
            result = call()
        finally:
            gc.set_threshold(*thresholds)
        yield result


def test_a_finalizer_reads_a_value_while_an_operation_is_recorded(p, run):
    x, y = tensors(p, False, False)
    kernel = kernel_of(p, p.multiply, x, y)
    read = []

    def call():
        local.ctx.segment = type(local.ctx.segment)(256)
        ReadsAtItsEnd(x, read)
        return run(kernel, x, y)

    for out in with_collections(call):
        assert out.tolist() == [[2.0] * 3] * 2
    gc.collect()
    assert read == [[[2.0] * 3] * 2] * 29


def test_nothing_is_kept(p, run):
    x, y = tensors(p, False, False)
    kernel = kernel_of(p, p.multiply, x, y)

    def repeat(times):
        for _ in range(times):
            run(kernel, x, y)
        local.ctx.segment = type(local.ctx.segment)(256)
        gc.collect()
        return [sys.getrefcount(value) for value in (x, y, kernel, x._raw, local.ctx)], len(gc.get_objects())

    repeat(10)
    counts, objects = repeat(10)
    again, objects_again = repeat(200)
    assert again == counts
    assert abs(objects_again - objects) < 20


@pytest.fixture(params=WAYS)
def record(request):
    return function_of(request.param, "record", segments.record_in_python)


def recorded(kernel, record, values):
    """What `record` gives for values in a new segment, with operations and leaves of the segment, and it."""
    context = local.ctx
    context.segment = type(context.segment)(256)
    out = record(context, kernel, values)
    return out, list(context.segment.ops), list(context.segment.leaves), context.segment


def test_record_one_result(p, record):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    values = [x._raw, x._raw]
    out, ops, leaves, segment = recorded(kernel, record, values)
    assert (out.position, out.array, out.segment) == (0, None, segment)
    assert [entry[1:] for entry in ops] == [(-1, -1)]
    assert leaves == [x._raw]
    assert segment.leaf_positions == {x._raw: -1}
    assert segment.results == [out]
    assert segment.allowance == type(segment)(256).allowance - x._raw.aval.nbytes
    assert not segment.recording


def test_record_several_results(p, record):
    (x,) = tensors(p, True)
    kernel = kernel_of(p, lambda t: p.split(t, [1, 2], axis=1), x)
    out, ops, leaves, segment = recorded(kernel, record, (x._raw,))
    assert type(out) is ops[0][0].container
    assert [each.position for each in out] == [1 << 20, 2 << 20]
    assert [each.aval.shape for each in out] == [(2, 1), (2, 2)]
    assert segment.results == list(out)


def test_record_numbers_and_pending_operands(p, record):
    (x,) = tensors(p, True)
    kernel = kernel_of(p, lambda t: t * 1.5, x)
    number = local.ctx.segment.leaves[-1]
    assert type(number.array) is tuple
    context = local.ctx
    context.segment = type(context.segment)(256)
    first = record(context, kernel, (x._raw, number))
    record(context, kernel, (first, number))
    segment = context.segment
    # A number has a new position each time.
    assert [entry[1:] for entry in segment.ops] == [(-1, -2), (0, -3)]
    assert segment.leaf_positions == {x._raw: -1}
    assert segment.leaves == [x._raw, number, number]


def test_record_an_operand_that_nothing_reads(p, record):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    unread = segments.unread_operand(x._raw.aval)
    _, ops, _, segment = recorded(kernel, record, (unread, unread))
    assert ops[0][1:] == (-1, -1)
    assert segment.leaf_positions == {unread: -1}


def test_record_arrays_that_are_not_lazy(p, record):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    out, ops, _, _ = recorded(kernel, record, (x.numpy(), y._value))
    assert out.aval is x._raw.aval
    assert len(ops) == 1


def test_record_beyond_the_allowance(p, record, monkeypatch):
    x, y = tensors(p, True, True)
    kernel = kernel_of(p, p.add, x, y)
    limited = []
    monkeypatch.setattr(segments, "limit_memory", limited.append)
    context = local.ctx
    context.segment = segment = type(context.segment)(256)
    segment.device = x._raw.device
    segment.allowance = x._raw.aval.nbytes
    record(context, kernel, (x._raw, y._raw))
    assert limited == [segment]
    assert segment.allowance == -y._raw.aval.nbytes


def test_record_while_a_finalizer_reads_a_value(p, record):
    (x,) = tensors(p, True)
    kernel = kernel_of(p, lambda t: p.split(t, [1, 2], axis=1), x)
    read = []

    def call():
        local.ctx.segment = type(local.ctx.segment)(256)
        ReadsAtItsEnd(x, read)
        return record(local.ctx, kernel, [x._raw])

    for out in with_collections(call):
        assert [to_array(each).tolist() for each in out] == [[[1.0]] * 2, [[1.0] * 2] * 2]
    gc.collect()
    assert read == [[[2.0] * 3] * 2] * 29


@pytest.fixture(params=WAYS)
def follow(request):
    return function_of(request.param, "follow", replay.follow_in_python)


def recorded_graph(p):
    """A root, its records, and what they lead to: `((x * y).tanh() * x).sum()`."""
    x, y = tensors(p, False, False)
    root = ((x * y).tanh() * x).sum()._node
    records = replay.PassRecorder(((),), root, None).records
    product = root.edges[0][0]
    return root, records, [root, product, product.edges[0][0], product.edges[0][0].edges[0][0]], [x, y]


def test_follow(p, follow):
    root, records, nodes, leaves = recorded_graph(p)
    found = follow(records, root, local.ctx.segment)
    assert [list(map(id, each)) for each in found] == [list(map(id, nodes)), list(map(id, leaves))]


@pytest.mark.parametrize(
    "change", ["segment", "position", "diff", "shared", "leaf", "node", "output", "freed"]
)
def test_follow_what_has_changed(p, follow, change):
    root, records, nodes, leaves = recorded_graph(p)
    segment = local.ctx.segment
    product = nodes[1]
    if change == "segment":
        nodes[-1].segment = type(segment)(256)
    elif change == "position":
        nodes[-1].position += 1
    elif change == "diff":
        nodes[-1].diff = (0,)
    elif change == "shared":  # another leaf where the same one was
        product.edges = (product.edges[0], (p.ones([2, 3]), 0))
    elif change == "leaf":  # in place of a node
        product.edges = ((leaves[1], 0), product.edges[1])
    elif change == "node":  # in place of a leaf that was known
        product.edges = (product.edges[0], (nodes[-1], 0))
    elif change == "output":
        product.edges = ((product.edges[0][0], 1), product.edges[1])
    else:
        product.free()
    assert follow(records, root, segment) is None


@pytest.mark.parametrize(
    "items",
    [
        (),
        (0, -1, 1 << 70),
        (None, Ellipsis, slice(None)),
        (slice(1, None, -2), 3),
        (True,),
        (1.0,),
        (np.int64(1), 0),
        (slice(np.int64(1), None), 0),
        (slice(None, True), 0),
        ((1, 2), 0),
        ([1], slice(None)),
    ],
)
def test_a_key_of_an_index(items):
    key = function_of("c", "index_key", None)(items)
    assert repr(key) == repr(indexing._key_in_python(items))


def test_a_class_without_a_slot_is_refused():
    if extension is None:
        pytest.skip("this installation has no extension module")
    program = (
        "from paddle_jax._core.lazy import _recorder\n"
        "class Plain: pass\n"
        "names = ['Context', 'Segment', 'Aval', 'OpSignature', 'LazyArray']\n"
        "_recorder.setup_record(dict.fromkeys(names, Plain), None, None, None, None)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "TypeError: recorder: Context has no slot segment" in done.stderr


def test_the_python_way_can_be_chosen():
    program = (
        "import paddle_jax as paddle\n"
        "from paddle_jax._core.lazy.recorder import extension\n"
        "print(extension, (paddle.ones([2]) * 3).tolist())\n"
    )
    environment = {**os.environ, "PADDLE_JAX_PURE_PYTHON": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.stdout.split("\n")[0] == "None [3.0, 3.0]"


@pytest.mark.parametrize("count", range(1, 7))
def test_each_operand_gets_its_gradient(p, count):
    kernel = Kernel("weighted_sum", lambda *xs: sum((k + 2.0) * x for k, x in enumerate(xs)))
    for alone in range(count):
        operands = tensors(p, *[k != alone for k in range(count)])
        for _ in range(3):  # the first call is the slow one
            out = fast_path.run_any(kernel, operands)
            assert out._node.diff == (alone,)
            out.sum().backward()
            assert operands[alone].grad.tolist() == [[alone + 2.0] * 3] * 2
            operands[alone].clear_grad()


def test_layer_with_five_operands_in_evaluation(p):
    norm = p.nn.BatchNorm1D(3)
    norm.eval()
    x = p.to_tensor(np.array([[1.0, 2.0, 3.0], [4.0, 6.0, 8.0]], "float32"))
    for _ in range(4):
        norm(x).sum().backward()
        scale = 1 / np.sqrt(1 + 1e-5)
        np.testing.assert_allclose(norm.weight.grad.numpy(), np.array([5, 8, 11]) * scale, rtol=1e-6)
        assert norm.bias.grad.tolist() == [2.0, 2.0, 2.0]
        norm.clear_gradients()


def test_module_of_other_source_is_not_used(monkeypatch):
    name = "paddle_jax._core.lazy._recorder"
    stale = types.ModuleType(name)
    stale.INTERFACE = -1
    stale.__file__ = "stale.so"
    monkeypatch.setitem(sys.modules, name, stale)
    monkeypatch.delenv("PADDLE_JAX_PURE_PYTHON", raising=False)
    with pytest.warns(RuntimeWarning, match=r"stale\.so was built from another version"):
        assert recorder._built() is None
