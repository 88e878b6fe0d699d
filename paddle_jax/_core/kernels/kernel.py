"""Kernels: pure functions of arrays with everything else fixed, compiled once, differentiable to any order.

An op together with one choice of attributes is one Kernel. Its gradient is a Kernel again, derived from its
equations, so a gradient of a gradient needs nothing new. Kernels take and return flat arrays; Tensors, modes
and the tape are in rooms above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.error_translation import cause_for, translate
from paddle_jax._core.base.interrupt_safe import (
    interrupt_safe_jit,
    preserved_tracing,
    repair_tracing,
    run_unrecorded,
)
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels import dependence, shape_templates
from paddle_jax._core.kernels.jaxpr_tracing import Equations, is_staging, trace_context, trace_function
from paddle_jax._core.kernels.kernel_families import KernelFamily
from paddle_jax._core.kernels.kernel_gradients import backward_function
from paddle_jax._core.kernels.product_precision import ProductPrecision
from paddle_jax._core.kernels.shape_templates import ShapeTemplates
from paddle_jax._core.lazy.aval import Aval, as_aval, aval_of
from paddle_jax._core.lazy.devices import default_device, target_platform
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice, on_one_accelerator
from paddle_jax._core.lazy.segment import OpSignature, record
from paddle_jax._core.lazy.signature_cache import (
    DROPPED,
    SignatureCache,
    evict_if_over_budget,
    register_kernel,
)
from paddle_jax._core.lazy.transfer import to_array

_MAX_MASKS = 1024
_MAX_TRACES = 64


class Derivation(NamedTuple):
    """How the kernel of a gradient was derived.

    Attributes:
        kernel: Kernel that it is the gradient of.
        argnums: tuple of int, the operands that get a gradient.
        has_cotangent: tuple of bool, whether the cotangent of each result is an operand.
        operand_count: int, number of operands of `kernel`.
    """

    kernel: Kernel
    argnums: tuple[int, ...]
    has_cotangent: tuple[bool, ...]
    operand_count: int


class Kernel:
    """One pure function `fn(*arrays) -> array | tuple | list`, its equations, compiled form and gradients.

    Attributes:
        name: str, name for messages.
        fn: the function.
        nondiff: bool, whether no gradient flows through it.
        deferrable: bool, whether it can be recorded to run later. Bodies that need host values cannot.
        signatures: dict from the Avals of operands to the OpSignature, of this generation.
        older_signatures: dict as `signatures`, of the generation before (signature_cache.py).
        traced_equations: dict from the Avals of operands to the Equations, where there is no OpSignature.
        has_templates: bool, whether equations for new shapes may come from a template. The code of a user
            runs for each shape.
        shape_templates: dict from dtypes and ranks of operands to ShapeTemplates.
        family: KernelFamily of the kernels that differ from it in whole numbers alone, or None.
        numbers: tuple of int, these numbers.
        gradient_masks: dict from the avals of operands to what `gradient_mask` gives.
        constant_mask: int, bit i is set if operand i gets no gradient.
        grads: dict from the arguments of `grad` to the derived Kernel.
        derived_from: Derivation of the kernel of a gradient, else None.
        declaration: for a kernel of a declared op (the Op, layout of operands, attribute values), else None.
        last_used: int, number of programs compiled in the process when its compiled form was last used;
            negative if there is none.
        view: None, or the rule by which the result is a view of the first operand (tensors/views.py).
        omits_prints: bool, whether the equations leave out what the compiled form prints.
        product_precision: ProductPrecision of its products and those of its gradients; None: the highest.
    """

    __slots__ = (
        "__weakref__",
        "_run",
        "constant_mask",
        "declaration",
        "deferrable",
        "derived_from",
        "family",
        "fn",
        "gradient_masks",
        "grads",
        "has_templates",
        "last_used",
        "name",
        "nondiff",
        "numbers",
        "older_signatures",
        "omits_prints",
        "product_precision",
        "shape_templates",
        "signatures",
        "traced_equations",
        "view",
    )

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        *,
        jit: bool = True,
        nondiff: bool = False,
        product_precision: ProductPrecision | None = None,
    ) -> None:
        if product_precision is not None:
            fn = product_precision.applied_to(fn)
        self.name: str = name
        self.fn: Callable[..., Any] = fn
        self.product_precision: ProductPrecision | None = product_precision
        self.nondiff: bool = nondiff
        self.deferrable: bool = jit
        self.signatures: dict[tuple[Aval, ...], OpSignature] = {}
        self.older_signatures: dict[tuple[Aval, ...], OpSignature] = {}
        self.traced_equations: dict[tuple[Aval, ...], Equations] = {}
        self.has_templates: bool = False
        self.shape_templates: dict[tuple[Any, ...], ShapeTemplates] = {}
        self.family: KernelFamily | None = None
        self.numbers: tuple[int, ...] = ()
        self.gradient_masks: dict[tuple[Any, ...], int] = {}
        self.constant_mask: int = 0
        self.grads: dict[Any, Kernel] = {}
        self.derived_from: Derivation | None = None
        self.declaration: Any = None
        self.last_used: int = -1
        self.view: Any = None
        self.omits_prints: bool = False
        self._run: Any = None if jit else fn
        register_kernel(self)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"

    def declare(self, op: Any, layout: Any, attributes: Any, bind: Any = None) -> None:
        """Notes from which declared operation it comes.

        Args:
            op: the Op.
            layout: the layout of its operands.
            attributes: the values of its attributes.
            bind: what makes its function of the layout and the attributes; None where it has another one.
        """
        self.declaration = (op, layout, attributes)
        self.has_templates = is_of_package(op)
        if bind is not None and self.has_templates and self.deferrable:
            self.family, self.numbers = op.lifting.families.family_of(
                self.name, bind, layout, attributes, self.product_precision
            )

    @property
    def run(self) -> Any:
        """The compiled form. The first use makes it, because kernels that are interpreted need none."""
        if self._run is None:
            self._run = interrupt_safe_jit(self.fn, inline=True)
        return self._run

    def compute(self, values: Sequence[Any]) -> Any:
        """`compute`, for modules below this one."""
        return compute(self, values)

    def trace(self, avals: tuple[Aval, ...]) -> Equations:
        """The equations for operands of these Avals."""
        if target_platform() is not None:  # equations of this machine may be others
            with preserved_tracing():
                return trace_function(self.fn, self.name, [aval.struct for aval in avals])
        # Equations of an older generation are still right.
        signature = self.signatures.get(avals) or self.older_signatures.get(avals)
        if signature is not None:
            return signature.equations
        equations = self.traced_equations.get(avals)
        if equations is None:
            if self.has_templates:
                # The body of an operation of this package runs no code of the user.
                equations = run_unrecorded(lambda: self._from_template_or_trace(avals))
            else:
                with preserved_tracing():
                    equations = shape_templates.traced_equations(self, avals)
            if len(self.traced_equations) >= _MAX_TRACES:
                self.traced_equations.clear()
            self.traced_equations[avals] = equations
        return equations

    def _from_template_or_trace(self, avals: tuple[Aval, ...]) -> Equations:
        """The equations for operands of these Avals, which it does not have yet."""
        equations = shape_templates.filled_equations(self, avals)
        if equations is None:
            with preserved_tracing():
                equations = shape_templates.traced_equations(self, avals)
        return equations

    def equations_for(self, operands: Sequence[Any]) -> Equations:
        """The equations for operands that are arrays or tracers."""
        if _has_known_lengths(operands):
            return self.trace(tuple(map(_aval, operands)))
        # Equations for symbolic lengths are not kept.
        with preserved_tracing():
            return shape_templates.symbolic_equations(self, [jax.typeof(operand) for operand in operands])

    def stage(self, operands: Sequence[Any]) -> Any:
        """The results in a trace of JAX that collects equations. It equals a call of the compiled form, but
        saves JAX the inspection of the arguments."""
        if self.deferrable and not self.omits_prints and _has_known_lengths(operands):
            equations = self.trace(tuple(map(_aval, operands)))
            # JAX's settings may have changed since the trace.
            if equations.context == trace_context():
                return equations.stage(operands)
        return self.run(*operands)

    def revive_signature(self, avals: tuple[Aval, ...]) -> bool:
        """Moves the signature for operands of these Avals from the older generation to this one.

        Returns whether there was one.
        """
        signature = self.older_signatures.pop(avals, None)
        if signature is None:
            return False
        self.signatures[avals] = signature
        return True

    def recorded_line(self, shapes: list[tuple[int, ...]]) -> str:
        """The user's line that first called it with operands of these shapes; "?" if it is not known."""
        for signature in (*self.signatures.values(), *self.older_signatures.values()):
            if [aval.shape for aval in signature.operand_avals] == shapes:
                return signature.user_line
        return "?"

    def start_generation(self) -> None:
        """Starts a generation of signatures and drops the one before the last."""
        if not self.signatures:  # nothing was used
            self.gradient_masks = {}
        self.traced_equations = {}
        self.older_signatures = self.signatures
        self.signatures = {}

    def drop_idle(self, is_idle: Callable[[Kernel], bool]) -> None:
        """Forgets gradients for which `is_idle(kernel)` is true."""
        self.grads = {key: kernel for key, kernel in self.grads.copy().items() if not is_idle(kernel)}

    def drop_compiled(self) -> None:
        """Drops the compiled forms; the next call compiles again."""
        self.last_used = DROPPED
        SignatureCache.dropped_programs += 1
        if hasattr(self._run, "clear_cache"):
            self._run.clear_cache()

    def grad(
        self, argnums: tuple[int, ...], has_cotangent: tuple[bool, ...] | None, operand_count: int
    ) -> Kernel:
        """The kernel `(operands..., cotangents...) -> gradients` with respect to the operands at `argnums`.

        Args:
            argnums: numbers of operands; a single gradient comes without a tuple.
            has_cotangent: for each of several results, whether its cotangent is passed; the others count as
                zero. None for a single result.
            operand_count: number of operands of this kernel.
        """
        if has_cotangent is None:
            key = argnums
        else:
            key = (argnums, has_cotangent)
        kernel = self.grads.get(key)
        if kernel is None:
            derivation = Derivation(self, argnums, has_cotangent or (True,), operand_count)
            kernel = self.grads[key] = Kernel(
                self.name + "_grad",
                backward_function(*derivation),
                product_precision=self.product_precision,
            )
            kernel.derived_from = derivation
            kernel.has_templates = self.has_templates
            if self.family is not None:
                kernel.family = self.family.gradient(derivation)
                kernel.numbers = self.numbers
        return kernel

    def note_unread_operands(self, signature: OpSignature) -> None:
        """For a new signature of a gradient: tells the operation which operands its nodes need not keep.

        A gradient of several results has one kernel for each set of cotangents, and each may read others.
        """
        derivation = self.derived_from
        if derivation is None or len(derivation.has_cotangent) > 1:
            return
        # An accelerator compiles the first step. The later ones must record the same operations.
        if default_device().platform != "cpu":
            return
        kernel = derivation.kernel
        count = derivation.operand_count
        forward = kernel.signatures.get(signature.operand_avals[:count])
        if (
            forward is None
            or forward.container is not None
            # A recorded gradient computes the result again from all operands.
            or (kernel.declaration is not None and kernel.declaration[0].by_result is not None)
            # The runner finds the gradient of a loop by its operands.
            or dependence.has_loop(forward.equations.structure)
        ):
            return
        unread = signature.equations.unread_operands()
        forward.note_unread(derivation.argnums, [i for i in unread if i < count])

    def gradient_mask(self, values: Sequence[Any]) -> int:
        """Bit i is set if a gradient can flow to operand i; -1 (everywhere) if that is not known."""
        try:
            avals = tuple([value.aval for value in values])
        except AttributeError:  # a NumPy array
            return -1
        mask = self.gradient_masks.get(avals)
        if mask is None:
            if len(self.gradient_masks) >= _MAX_MASKS:
                self.gradient_masks.clear()
            mask = -1
            if self.deferrable:
                mask = dependence.gradient_mask(self, tuple(map(as_aval, avals)))
            self.gradient_masks[avals] = mask
        return mask


def is_of_package(op: Any) -> bool:
    """Whether the function of a declared operation is code of this package, not of a user."""
    return op.home.startswith("paddle_jax.")


def _has_known_lengths(operands: Sequence[Any]) -> bool:
    """Whether all lengths are ints."""
    return all(type(length) is int for operand in operands for length in operand.shape)


def _aval(operand: Any) -> Aval:
    aval = getattr(operand, "aval", None)
    if aval is None:  # a NumPy array
        return aval_of(operand.shape, operand.dtype)
    return as_aval(aval)


def execute(kernel: Kernel, values: Sequence[Any]) -> Any:
    """Runs or records a kernel on what Tensors hold: all computation starts here."""
    ctx = local.ctx
    if ctx.segment is not None:
        return record(ctx, kernel, values)
    executor = ctx.frame.executor
    if executor is None:
        return compute(kernel, values)
    return executor(kernel, values)


def compute(kernel: Kernel, values: Sequence[Any]) -> Any:
    """Runs the compiled form of a kernel now."""
    values = [to_array(value) if type(value) is LazyArray else value for value in values]
    if MultiDevice.placed and kernel.deferrable:
        values = on_one_accelerator(kernel.name, values)
    if kernel.last_used == DROPPED:
        # The cache gave its program up for memory.
        SignatureCache.recompiled_programs += 1
    kernel.last_used = Counters.compiled
    if kernel.last_used >= SignatureCache.next_check:
        evict_if_over_budget()
    try:
        if MultiDevice.in_use:
            return MultiDevice.run(kernel.run, values)
        if is_staging():
            return kernel.stage(values)
        return kernel.run(*values)
    except BaseException as error:
        repair_tracing()
        failure: Any = error  # KeyboardInterrupt and the like come back as they are
        translated = translate(kernel.name, values, failure, kernel)
        raise translated from cause_for(translated, failure)


ADD = Kernel("add", lambda x, y: x + y)
ONES = Kernel("ones_like", jnp.ones_like)
ADD.has_templates = True
ONES.has_templates = True
