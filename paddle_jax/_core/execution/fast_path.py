"""`run` for one to three operands without a list, a loop or a further call: what an eager op costs in
the deferred tier.

The functions `run1(kernel, x0)`, `run2(kernel, x0, x1)`, `run3(...)` are made from one template. They do what
`dispatch.run` does in the usual case; whatever is not (the first sight of a signature, a full segment,
tracing, several results, another tier) goes to `run`.

`_core/lazy/recorder.c` has the same in C, 2.7 times as fast. It is used where the installation could build
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.state import Context, local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.lazy.segment import MAX_OPERANDS, add_leaf
from paddle_jax._core.tape.node import Node, next_serial
from paddle_jax._core.tensors.tensor import NumberTensor, Parameter, Tensor
from paddle_jax._core.tensors.views import register_view

_TEMPLATE = """
def run{n}(kernel, {xs}):
    ctx = local.ctx
    seg = ctx.segment
    {vs} = {raws}
    if seg is None or {foreign}:
        return run(kernel, ({xs},))
    sig = kernel.signatures.get(({avals},))
    if sig is None or sig.container is not None:
        return run(kernel, ({xs},))
    out = None
    was_recording = seg.recording
    try:
        seg.recording = True
        ops = seg.ops
        if len(ops) < seg.limit:
            places = seg.leaf_positions
{positions}
            if {placed}:
                ops.append((sig, {ps}))
                # before anything is allocated: a garbage collection may record further ops
                pos = len(ops) - 1
                out = new(LazyArray)
                out.aval = sig.out_avals
                out.array = None
                out.segment = seg
                out.position = pos
                seg.results.append(out)
    finally:
        seg.recording = was_recording
    if out is None:
        return run(kernel, ({xs},))
    t = new(Tensor)
    t._raw = out
    t._idx = t._version = 0
    t._alias = t._grad = t._hooks = t._name = None
    t._persistable = False
    if kernel.view is not None:
        register_view(t, x0, kernel, ({rest}))
    flow = sig.gradient_mask if ctx.grad else 0
    if flow:
{stops}
    if not flow:
        t._node = None
        t._stop = True
        return t
    t._node = node = new(Node)
    t._stop = False
    node.kernel = kernel
    node.values = ({vs},)
    node.n_out = 1
    node.segment = seg
    node.position = pos
    node.hooks = node.zero_grad_sources = None
    node.serial = next_serial()
{edges}
    unread = sig.unread
    if unread is not None and not MultiDevice.placed and not MultiDevice.in_use:
        unread = unread.get(node.diff)
        if unread is not None:  # as `drop_unread`
            {us}, = unread
            node.values = ({kept},)
    return t
"""
_POSITION = (
    "            p{i} = (v{i}.position if v{i}.segment is seg else None) if v{i}.array is None else "
    "places.get(v{i}) or add_leaf(seg, v{i})"
)
_STOP = "        if x{i}._stop: flow &= {mask}"
_EDGES = "    {test} flow == {flow}:\n        node.diff = {diff}\n        node.edges = ({sources},)"
_SOURCE = "(x{i} if x{i}._node is None else x{i}._node, x{i}._idx)"


def _compile_run(n: int) -> Callable[..., Any]:
    """The function for n operands.

    Its text is a template with a part for each operand. In the template `x` are the Tensors, `v` what they
    hold, `p` their positions in the segment.
    """
    operands = range(n)

    def listed(pattern: str, joint: str = ", ") -> str:
        return joint.join(pattern.format(i=i, mask=~(1 << i)) for i in operands)

    def edges(flow: int) -> str:
        """The edges of the node for one set of operands into which gradients flow, a bit for each."""
        diff = tuple(i for i in operands if flow >> i & 1)
        return _EDGES.format(
            test="if" if flow == 1 else "elif",
            flow=flow,
            diff=diff,
            sources=", ".join(_SOURCE.format(i=i) for i in diff),
        )

    text = _TEMPLATE.format(
        n=n,
        xs=listed("x{i}"),
        rest="".join(f"x{i}, " for i in range(1, n)),
        vs=listed("v{i}"),
        ps=listed("p{i}"),
        raws=listed("x{i}._raw"),
        us=listed("u{i}"),
        kept=listed("v{i} if u{i} is None else u{i}"),
        avals=listed("v{i}.aval"),
        foreign=listed("type(v{i}) is not LazyArray", " or "),
        placed=listed("p{i} is not None", " and "),
        positions=listed(_POSITION, "\n"),
        stops=listed(_STOP, "\n"),
        edges="\n".join(map(edges, range(1, 1 << n))),
    )
    scope = {
        "__name__": __name__,
        "Node": Node,
        "Tensor": Tensor,
        "LazyArray": LazyArray,
        "add_leaf": add_leaf,
        "MultiDevice": MultiDevice,
        "local": local,
        "new": object.__new__,
        "register_view": register_view,
        "next_serial": next_serial,
        "run": run,
    }
    exec(text, scope)  # noqa: S102  the text is the template above
    return scope[f"run{n}"]


def _built_run() -> Callable[..., Any] | None:
    """`run` of the extension module, for a few operands; None where there is none."""
    if extension is None:
        return None
    classes = {"Context": Context, "Tensor": Tensor, "Node": Node}
    # Subclasses that compute what they hold take the other way.
    operand_classes = (Tensor, Parameter, NumberTensor)
    extension.setup_run(classes, operand_classes, local, run, register_view, next_serial, MultiDevice)
    return extension.run


_built = _built_run()
run1 = _built or _compile_run(1)
run2 = _built or _compile_run(2)
run3 = _built or _compile_run(3)
_RUNS = {1: run1, 2: run2, 3: run3}
if _built is not None:
    _RUNS = dict.fromkeys(range(1, MAX_OPERANDS + 1), _built)


def run_any(kernel: Kernel, tensors: Sequence[Tensor]) -> Any:
    """As `dispatch.run`, and as fast as `run1` for a few operands."""
    fast = _RUNS.get(len(tensors))
    if fast is None:
        return run(kernel, tensors)
    return fast(kernel, *tensors)
