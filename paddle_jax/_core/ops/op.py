"""Declaring operations: one declaration gives function, method, in-place twin, aliases, gradients of every
order and test cases.

    @op("x y", promote=True, scalars=True, out=True, inplace=True, alias={"input": "x", "other": "y"},
        cases=["f(2,3), f(3)"])
    def add(x, y, name=None):
        return x + y

An op body is a pure function over jax arrays with Paddle's public signature. `tensors` names the parameters
that are arrays (`*x` a list of arrays; one with default None may be left out); every other parameter is a
static attribute: lists arrive as tuples, Tensors as Python numbers. A `composite` is an ordinary function
over Tensors that calls ops: for what needs host values or several ops.

Cases are argument lists as text, evaluated by the tests: f/d/i/c make float32/float64/int64/complex64 tensors
(see tests/ops).
"""

from __future__ import annotations

import functools as ft
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.error_translation import cause_for
from paddle_jax._core.base.errors import ArgumentError, MixedDtypesError
from paddle_jax._core.base.interrupt_safe import eager_evaluation, swapped_attributes
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.base.state import local, state
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.fast_path import run1, run2, run3, run_any
from paddle_jax._core.kernels.kernel import Kernel, is_of_package
from paddle_jax._core.kernels.lifted_attributes import NUMBER, AttributeLifting
from paddle_jax._core.kernels.op_record import NONE, OWN
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.lazy_array import host_numbers
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.lazy.signature_cache import register_owner
from paddle_jax._core.ops.argument_errors import CAUGHT, too_many, translate_call_error
from paddle_jax._core.ops.attribute_keys import DISTINCT_TYPES, PLAIN_TYPES, freeze, typed_key, with_ints
from paddle_jax._core.ops.fast_tracing import is_loop_free, without_inner_jit
from paddle_jax._core.ops.generated_source import shown, source, without_types
from paddle_jax._core.ops.inplace_doc import inplace_doc
from paddle_jax._core.ops.twins import ALIASED_TWINS, TWINS_WITH_OUT
from paddle_jax._core.tensors.random import default_generator, key_from
from paddle_jax._core.tensors.tensor import NumberTensor, Tensor, init_tensor, wrap

Layout = tuple[int, ...]
"""How operands are laid out in a flat list: -2 for one, -1 for none, else the length of a list."""

OPS: dict[str, Op] = {}  # every declared op and composite by name, filled at import
_MISSING = inspect.Parameter.empty
_MAX_KERNELS = 4096
_UNCOMPILED = 2  # calls of an op before its code is compiled


class Op:
    """A declared operation.

    Attributes:
        fn: the declared function: over arrays, or over Tensors for a composite.
        name: str.
        public: the function that users call.
        method: str, its name as a method of Tensor.
        home: str, the module it is written in, by which files and rules know it; of typed-in code perhaps "".
        out: bool or "unlisted", whether it takes `out=`.
        record: OpRecord, what model files and other formats call it (`known_as`).
        alias: {extra keyword name: parameter, or (parameter, {other parameter: default})}.
        refuses: {keyword name that is refused: what the error says}.
        cases: tuple of argument lists for the tests.
        promote, scalars, random, nondiff, jit, composite, view: as declared; see `op`.
        by_result: Kernel of the gradient as a function of the result, or None.
        tensors: names of the parameters that are arrays.
        lists: names of those that are lists of arrays.
        optional: names of those that may be left out.
        constant: names of those that get no gradient.
        same_dtype: names of those whose dtypes must not be mixed.
        signature: inspect.Signature of the function.
        params: its parameters without the random key.
        attrs: names of the parameters that are attributes.
        kernels: {(layout, attribute values): Kernel}.
        fast: {attribute values as the generated code looks them up: Kernel}.
        lifting: AttributeLifting, which makes operands of float attributes that change from call to call.
    """

    record = NONE

    def __init__(
        self,
        fn: Callable[..., Any],
        tensors: str = "",
        *,
        alias: dict[str, Any] | None = None,
        promote: bool | str | tuple[str, ...] = False,
        same_dtype: bool | str = "",
        scalars: bool | str = False,
        random: bool = False,
        nondiff: bool = False,
        jit: bool = True,
        grad_from_output: Callable[[Any], Any] | None = None,
        view: Callable[..., Any] | None = None,
        constant: str = "",
        cases: Sequence[str] = (),
        composite: bool = False,
        refuses: dict[str, str] | None = None,
    ) -> None:
        self.fn = fn
        self.name: str = fn.__name__
        self.alias: dict[str, Any] = alias or {}
        self.cases: tuple[str, ...] = tuple(cases)
        self.refuses = {name: why for names, why in (refuses or {}).items() for name in names.split()}
        self.public: Any = None
        self.method: str = self.name
        self.out: bool | str = False
        self.home: str = fn.__module__ or ""
        self.promote = promote
        self.scalars = scalars
        self.random = random
        self.nondiff = nondiff
        self.jit = jit
        self.composite = composite
        if grad_from_output is None:
            self.by_result = None
        else:
            self.by_result: Kernel | None = Kernel(
                fn.__name__ + "_grad", lambda y, ct: ct.astype(y.dtype) * grad_from_output(y)
            )
            self.by_result.has_templates = is_of_package(self)
        self.view = view
        names = tensors.split()
        self.lists: frozenset[str] = frozenset(n[1:] for n in names if n.startswith("*"))
        self.tensors: tuple[str, ...] = tuple(n.lstrip("*") for n in names)
        self.constant: tuple[str, ...] = tuple(constant.split())  # a set has another order in each process
        if same_dtype is True:
            self.same_dtype = self.tensors
        else:
            self.same_dtype: tuple[str, ...] = tuple(str(same_dtype or "").split())
        signature = inspect.signature(fn)
        self.signature = signature if composite else without_types(signature)
        params = [p for p in self.signature.parameters.values() if not (random and p.name == "key")]
        self.params = tuple(params)
        self.optional = frozenset(p.name for p in params if p.name in self.tensors and p.default is None)
        self.attrs = tuple(p.name for p in params if p.name not in self.tensors and p.name != "name")
        self.kernels: dict[Any, Any] = {}
        self.fast: dict[Any, Any] = {}
        self.lifting: AttributeLifting = AttributeLifting(self)
        register_owner(self)

    def __repr__(self) -> str:
        return f"<Op {self.name}>"

    # calling ------------------------------------------------------------------------------------------------

    def call(self, operands: Sequence[Any], attrs: Sequence[Any]) -> Any:
        """Runs the op on operands as the user gave them (Tensors, numbers, lists of Tensors, None)."""
        frame = local.ctx.frame
        if frame.recording:  # attributes may be Variables, which are operands of a Program
            if frame.symbolic and frame.has_unknown(attrs):
                return frame.call_with_lengths(self, operands, attrs)
            if frame.has_variables(attrs):
                return frame.record_opaque(self.name, self.call, (operands, attrs), {})
        flat, layout = self._flatten(operands)
        amp = local.ctx.amp
        if amp is not None:
            flat = amp(self, flat, attrs)
        kernel, flat = self.prepared(flat, layout, attrs)
        if self.random:
            flat = [*flat, *default_generator().draw_operands()]
        return run_any(kernel, flat)

    def call_first(self, operands: Sequence[Any], attrs: Sequence[Any], key: Callable[[], Any]) -> Any:
        """First call with these attribute values: runs it and, when they make a safe key, remembers the
        kernel for the fast path.

        Args:
            operands: as for `call`.
            attrs: tuple of attribute values.
            key: function that returns the key.
        """
        flat, layout = self._flatten(operands)
        kernel, operands = self.prepared(flat, layout, attrs)
        # With numbers as operands the call has no fixed kernel to remember.
        if len(operands) > len(flat):
            return run_any(kernel, operands)
        found = key() if all(type(a) in PLAIN_TYPES for a in attrs) else with_ints(key())
        if found is not None:
            self.remember(found, kernel)
        return run_any(kernel, flat)

    def prepared(self, flat: list[Any], layout: Layout, attrs: Sequence[Any]) -> tuple[Kernel, list[Any]]:
        """The kernel of a call and its operands, without the random key. Float attributes that change from
        call to call are among them."""
        kernel = self.kernel(layout, attrs)
        ctx = local.ctx
        if ctx.product_precision is not None:  # the kernels with numbers as operands have the highest
            return kernel, flat
        if self.jit and ctx.frame.eager and kernel.declaration is not None:
            frozen = kernel.declaration[2]
            lifted = self.lifting.lift_if_varying(layout, frozen)
            if lifted is not None:
                numbers = [frozen[i] for i in lifted.lifted]
                if lifted.can_replace(kernel, flat, numbers):
                    return lifted.kernel, [*flat, *[scalar(number, NUMBER) for number in numbers]]
        return kernel, flat

    def kernel(self, layout: Layout, attrs: Sequence[Any]) -> Kernel:
        """The kernel for a layout of operands and attribute values."""
        frozen = tuple([a if type(a) in PLAIN_TYPES else freeze(a) for a in attrs])
        # Typed keys, since 1, 1.0 and True are equal and hash alike.
        key: Any = (layout, tuple([a if type(a) in DISTINCT_TYPES else typed_key(a) for a in frozen]))
        precision = local.ctx.product_precision
        if precision is not None:
            key = (key, precision)
        kernel = self.kernels.get(key)
        if kernel is None:
            if _MISSING in frozen:
                raise ArgumentError(
                    f"{self.name}: argument '{self.attrs[frozen.index(_MISSING)]}' is missing"
                )
            # Attributes that change in each call would fill the memory.
            if len(self.kernels) >= _MAX_KERNELS:
                self.kernels.clear()
            kernel = self.kernels[key] = Kernel(
                self.name,
                self._bind(layout, frozen),
                jit=self.jit,
                nondiff=self.nondiff,
                product_precision=precision,
            )
            kernel.declare(self, layout, frozen, self._bind)
            kernel.constant_mask = self.constants(layout)
            kernel.view = self.view and self.view(layout, frozen)
        return kernel

    def constants(self, layout: Layout) -> int:
        """Bit i is set when operand i gets no gradient."""
        mask = 0
        index = 0
        if not self.constant:
            return mask
        for name, count in zip(self.tensors, layout, strict=False):
            size = 1 if count == -2 else max(count, 0)
            if name in self.constant:
                mask |= ((1 << size) - 1) << index
            index += size
        return mask

    def drop_idle(self, is_idle: Callable[[Kernel], bool]) -> None:
        """Forgets the kernels for which `is_idle(kernel)` is true."""
        for cache in (self.kernels, self.fast):
            for key, kernel in cache.copy().items():
                if is_idle(kernel):
                    cache.pop(key, None)

    def remember(self, key: tuple[Any, ...], kernel: Kernel) -> Kernel:
        """Keeps a kernel for a direct look-up in `fast`, within bounds; returns it."""
        if len(self.fast) >= _MAX_KERNELS:
            self.fast.clear()
        self.fast[key] = kernel
        return kernel

    def _bind(self, layout: Layout, attrs: Sequence[Any]) -> Callable[..., Any]:
        """The function of a kernel: of its operands, the random key last."""
        attributes = dict(zip(self.attrs, attrs, strict=True))
        body = self.body()

        def fn(*flat: Any) -> Any:
            values = self._arrays_by_name(layout, flat)
            if self.same_dtype:
                check_equal_dtypes(self.name, *self._arrays_of(self.same_dtype, values), whole=True)
            if self.promote:
                self._promote(values)
            for name in self.constant:
                values[name] = jax.lax.stop_gradient(values[name])
            if self.random:
                values["key"] = key_from(flat[-2], flat[-1])
            return body(**values, **attributes)

        return fn

    def _arrays_by_name(self, layout: Layout, flat: Sequence[Any]) -> dict[str, Any]:
        """The arrays of a kernel's call by the names of the parameters."""
        values: dict[str, Any] = {}
        index = 0
        for name, count in zip(self.tensors, layout, strict=True):
            if count == -1:
                values[name] = None
            elif count == -2:
                values[name] = flat[index]
                index += 1
            else:
                values[name] = list(flat[index : index + count])
                index += count
        return values

    @staticmethod
    def _arrays_of(names: Sequence[str], values: dict[str, Any]) -> list[Any]:
        """The arrays of some parameters, those of lists one by one."""
        arrays: list[Any] = []
        for name in names:
            value = values[name]
            if isinstance(value, list):
                arrays.extend(value)
            else:
                arrays.append(value)
        return arrays

    def body(self) -> Callable[..., Any]:
        """What a kernel runs: the declared function, which a trace goes through quickly if it has no loop."""
        if not self.jit or not is_loop_free(self.fn):
            return self.fn

        def traced(**arguments: Any) -> Any:
            with without_inner_jit():
                return self.fn(**arguments)

        return traced

    def _promote(self, values: dict[str, Any]) -> None:
        """Brings arrays to their common dtype."""
        if isinstance(self.promote, tuple):
            names = self.promote
        else:
            names = self.tensors
        arrays = [array for array in self._arrays_of(names, values) if array is not None]
        if isinstance(self.promote, str) and min(a.ndim for a in arrays) == 0:
            first, second = arrays
            common = dtypes.mixed_np(first, second, self.promote == "wide")
        else:
            common = ft.reduce(dtypes.promote_np, [a.dtype for a in arrays])
        for name in names:
            value = values[name]
            if isinstance(value, list):
                values[name] = [array.astype(common) for array in value]
            elif value is not None:
                values[name] = value.astype(common)

    # operands -----------------------------------------------------------------------------------------------

    def _flatten(self, operands: Sequence[Any]) -> tuple[list[Any], Layout]:
        """The operands of a call in one list, and their layout."""
        flat: list[Any] = []
        layout: list[int] = []
        for position, (name, value) in enumerate(zip(self.tensors, operands, strict=True)):
            # a lone Tensor for a list arrives as one array; the body accepts or refuses it
            if isinstance(value, Tensor):
                flat.append(value)
                layout.append(-2)
            elif name in self.lists:
                items = self._items(name, position, value)
                flat.extend(items)
                layout.append(len(items))
            elif value is None and name in self.optional:
                layout.append(-1)
            else:
                flat.append(self._one(name, position, value, operands))
                layout.append(-2)
        return flat, tuple(layout)

    def _items(self, name: str, position: int, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ArgumentError(self._expected(name, position, value, "a list or tuple of Tensors"))
        return [v if isinstance(v, Tensor) else self._one(name, position, v, value) for v in value]

    def _one(self, name: str, position: int, value: Any, operands: Sequence[Any]) -> Any:
        if isinstance(value, jax.Array):
            return wrap(value)
        if self.scalars == "one" and isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if self.scalars and position and isinstance(value, dtypes.NUMBER_TYPES):
            like = next((v for v in operands if isinstance(v, Tensor)), None)
            if like is not None:
                return scalar(value, self._scalar_dtype(value, like._raw.dtype))
        raise ArgumentError(self._expected(name, position, value, "Tensor"))

    def _scalar_dtype(self, value: Any, like: np.dtype) -> np.dtype:
        """The dtype of a number beside a Tensor of dtype `like`."""
        if self.scalars == "own":
            return dtypes.number_np(value)
        if dtypes.keeps_dtype(self.scalars, value, like):
            return like
        return dtypes.scalar_np(value, like)

    def _expected(self, name: str, position: int, value: Any, what: str) -> str:
        if value is _MISSING:
            got = "nothing"
        elif value is None:
            got = "None"
        else:
            got = type(value).__name__
        return f"{self.name}(): argument '{name}' (position {position}) must be {what}, but got {got}"


def _number(value: Any, dtype: np.dtype) -> Any:
    """A 0-d array in another dtype: 1e40 is infinity in float32, without a warning."""
    if value.dtype.kind == "f" and not -6e4 < value.item() < 6e4 or value.dtype.kind == "c":
        with np.errstate(over="ignore", invalid="ignore"):
            return value.astype(dtype)
    return value.astype(dtype)


@ft.lru_cache(maxsize=4096)
def _cached_scalar(kind: type, value: Any, sign: str, dtype: np.dtype, deferring: bool) -> Tensor:
    number = _number(np.asarray(value), dtype)
    if deferring:
        return wrap(host_numbers((number.item(),), aval_of((), dtype)))
    with eager_evaluation():
        tensor = NumberTensor.__new__(NumberTensor)
        init_tensor(tensor, put(number), True)
        return tensor


def scalar(value: Any, dtype: np.dtype) -> Tensor:
    """A 0-d Tensor of a Python number, not to be changed: equal numbers share it, so loops do not copy them
    again and again."""
    if is_length(value):
        return local.ctx.frame.tensor_of(value, dtype)
    # 0.0 and -0.0 would be the same key.
    return _cached_scalar(
        type(value), value, str(value) if value == 0 else "", dtype, local.ctx.segment is not None
    )


_WHOLE = frozenset("iub")


def check_equal_dtypes(name: str, *operands: Any, whole: bool = False) -> None:
    """Refuses float32 beside float64, as Paddle's compiled functions do that promote nothing; with `whole`
    also floats beside integers or bools."""
    kinds = [v._raw.dtype if isinstance(v, Tensor) else v.dtype for v in operands if v is not None]
    wide = {np.dtype(np.float32), np.dtype(np.float64)}.intersection(kinds)
    if len(wide) == 2 or whole and wide and not _WHOLE.isdisjoint([k.kind for k in kinds]):
        raise MixedDtypesError(
            f"(InvalidArgument) {name}: got {' and '.join(map(str, kinds))}; "
            "the dtypes must be equal; cast one with astype"
        )


# declaration ------------------------------------------------------------------------------------------------


def op(
    tensors: str = "x",
    *,
    alias: dict[str, Any] | None = None,
    refuses: dict[str, str] | None = None,
    inplace: bool | str = False,
    out: bool | str = False,
    method: bool | str = True,
    promote: bool | str | tuple[str, ...] = False,
    same_dtype: bool | str = "",
    scalars: bool | str = False,
    random: bool = False,
    nondiff: bool = False,
    jit: bool = True,
    grad_from_output: Callable[[Any], Any] | None = None,
    view: Callable[..., Any] | None = None,
    constant: str = "",
    register: bool = True,
    cases: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Any]:
    """Declares an op from a pure function over arrays. See the module's docstring.

    Args:
        tensors: names of the array parameters, `*x` for a list of arrays.
        alias: extra keyword names of the call, e.g. {"input": "x", "dim": "axis"}; a pair ("axis", {"mode":
            "min"}) changes defaults too.
        refuses: names that torch's function of this name takes, as one text, and what the error says of them:
            where `paddle.compat` has that function, which differs.
        inplace: also make `name_`, which puts the result into its first argument ("reshapes": of another
            shape; "copies": and returns a copy of that).
        out: accept `out=`, a Tensor that receives the result ("unlisted": the signature does not show it).
        method: make it a method of Tensor (a string: under that name).
        promote: bring arrays to Paddle's common dtype first (True: all; or a tuple of names; "mixed": two, of
            which a 0-d one counts as a number; "wide": as "mixed", but never to a narrower dtype).
        same_dtype: names of arrays that must not mix float32, float64 and integers, as in Paddle (True: all).
        scalars: accept Python numbers for array parameters ("whole": an integer Tensor stays one with 2.5;
            "own": its dtype is that of `to_tensor`; "like": of the Tensor; "one": arrays of 1 element, too).
        random: the body gets a jax `key`.
        nondiff: no gradient flows through.
        jit: False for bodies that need host values.
        grad_from_output: for an elementwise function of one real operand, its derivative as a function of its
            result: gradients of gradients then go through the result, where those of several orders meet,
            instead of each through the operand.
        view: for an op whose result shows elements of its first array, function (layout of operands,
            attribute values) -> `Showing`, or None where the result is a copy; see views.py.
        constant: names of arrays that get no gradient, not even zeros, such as the labels of a loss.
        register: False keeps it out of OPS: an internal building block that public names are tested through.
        cases: argument lists for the tests.
    """

    def declare(fn: Callable[..., Any]) -> Any:
        operation = Op(
            fn,
            tensors,
            alias=alias,
            promote=promote,
            same_dtype=same_dtype,
            scalars=scalars,
            random=random,
            nondiff=nondiff,
            jit=jit,
            grad_from_output=grad_from_output,
            view=view,
            constant=constant,
            cases=cases,
            refuses=refuses,
        )
        return _publish(operation, _wrapper(operation, out), inplace, method, register)

    return declare


def composite(
    *,
    alias: dict[str, Any] | None = None,
    refuses: dict[str, str] | None = None,
    inplace: bool | str = False,
    out: bool | str = False,
    method: bool | str = True,
    register: bool = True,
    cases: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Any]:
    """Declares a function over Tensors as part of the API: aliases, method, in-place twin and
    cases as for `op`."""

    def declare(fn: Callable[..., Any]) -> Any:
        operation = Op(fn, alias=alias, cases=cases, composite=True, refuses=refuses)
        return _publish(operation, _wrapper(operation, out), inplace, method, register)

    return declare


def _publish(operation: Op, public: Any, inplace: bool | str, method: bool | str, register: bool) -> Any:
    operation.public = public
    if public is not operation.fn:
        ft.update_wrapper(public, operation.fn)
        del public.__wrapped__
    public.op = operation
    if not operation.composite and operation.home.startswith("paddle_jax."):
        OWN.setdefault(operation.name, operation)
    operation.method = method if isinstance(method, str) else operation.name
    if register:
        if operation.name in OPS:
            raise ValueError(f"op {operation.name} is declared twice")
        OPS[operation.name] = operation
    if method:
        setattr(Tensor, operation.method, public)
    if inplace:
        public.inplace = _inplace(operation, public, inplace)
        if method:
            setattr(Tensor, operation.name + "_", public.inplace)
    return public


def _placeholder(*args: Any, **kwargs: Any) -> Any:
    # a global of each public function
    return _compile_now(*args, **kwargs)  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


def _wrapper(operation: Op, out: bool | str) -> Any:
    """The public function. Its code is compiled at the third call: compiling takes as long as a few hundred
    calls, and many ops are called once."""
    operation.out = out
    names = {
        "__name__": __name__,
        "_op": operation,
        "_call": operation.call,
        "_aliased": _aliased,
        "_into": _into,
        "_fast": operation.fast,
        "_Tensor": Tensor,
        "_local": local,
        "_run": run,
        "_run1": run1,
        "_run2": run2,
        "_run3": run3,
        "_first": _first,
        "_with_ints": with_ints,
        "_fn": operation.fn,
        "_CAUGHT": CAUGHT,
        "_told": translate_call_error,
        "_cause_for": cause_for,
        "_too_many": too_many,
    }
    public = types.FunctionType(_placeholder.__code__, names, operation.name)
    public.__signature__ = operation.signature.replace(parameters=shown(operation, out))

    calls = []

    def compile_now(*args: Any, **kwargs: Any) -> Any:
        if len(calls) < _UNCOMPILED and (values := _bound(operation, args, kwargs)) is not None:
            calls.append(None)
            return _called(operation, values)
        namespace = {}
        text, defaults = source(operation, out)
        # the text is made of the parameter names of a declaration
        exec(text, defaults, namespace)  # noqa: S102
        compiled = namespace[operation.name]
        public.__defaults__ = compiled.__defaults__
        public.__kwdefaults__ = compiled.__kwdefaults__
        public.__code__ = compiled.__code__
        return public(*args, **kwargs)

    names["_compile_now"] = compile_now
    return public


def _bound(operation: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of an ordinary call by name; None where the compiled code has to see to it: other names,
    `out=`, what is missing or too much."""
    names = [p.name for p in operation.params]
    if (
        local.ctx.frame.recording
        or len(args) > len(names)
        or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in operation.params)
    ):
        return None
    values = {p.name: p.default for p in operation.params} | dict(zip(names, args)) | kwargs  # noqa: B905
    clear = len(values) == len(names) and kwargs.keys().isdisjoint(names[: len(args)])
    if not clear or any(v is _MISSING for v in values.values()):
        return None
    return values


def _called(operation: Op, values: dict[str, Any]) -> Any:
    """As the compiled code."""
    try:
        if operation.composite:
            return operation.fn(*values.values())
        return operation.call(
            tuple([values[n] for n in operation.tensors]), tuple([values[n] for n in operation.attrs])
        )
    except CAUGHT as error:
        translated = translate_call_error(operation, error, values)
        if translated is error:
            raise
        raise translated from translated.__cause__ or cause_for(translated, error)


def _first(operation: Op, operands: Sequence[Any], attrs: Sequence[Any], key: Callable[[], Any]) -> Any:
    """First call with these attribute values, or a call while a Program is recorded."""
    return local.ctx.frame.call_first(operation, operands, attrs, key)


def _aliased(operation: Op, values: dict[str, Any], extra: dict[str, Any], out: Any) -> Any:
    """A call that uses extra keyword names: puts them where they belong."""
    defaults = {p.name: p.default for p in operation.params}
    for name, value in extra.items():
        target = operation.alias.get(name)
        if isinstance(target, tuple):
            target, implied = target
            # A name may imply values of others, unless they are given.
            values |= {k: v for k, v in implied.items() if values[k] is defaults[k]}
        if target is None and name in operation.refuses:
            raise ArgumentError(
                f"{operation.name}() got an unexpected keyword argument '{name}'; {operation.refuses[name]}"
            )
        if target is None:
            raise ArgumentError(
                f"{operation.name}() got an unexpected keyword argument '{name}'; "
                f"allowed are {', '.join([*defaults, *operation.alias])}"
            )
        if values[target] is not defaults[target]:
            raise ArgumentError(
                f"{operation.name}() got both '{name}' and '{target}', which are the same argument"
            )
        values[target] = value
    positional = [values.pop(p.name) for p in operation.params if p.kind is p.POSITIONAL_OR_KEYWORD]
    rest = {k: v for k, v in values.items()}
    if out is not None:
        rest["out"] = out
    return operation.public(*positional, **rest)


def _into(out: Any, result: Any) -> Any:
    """Puts a result into the Tensor(s) given as out=."""
    if isinstance(result, tuple | list):
        filled = [_into(o, r) for o, r in zip(out, result, strict=True)]
        return make_sequence(type(result), filled)
    out._adopt(result)
    out.stop_gradient = result.stop_gradient
    return out


def _inplace(operation: Op, public: Any, how: bool | str) -> Any:
    first = operation.params[0].name
    names = [p.name for p in operation.params if p.name != "out"]
    if operation.name in ALIASED_TWINS:
        names += operation.alias
    takes_out = operation.name in TWINS_WITH_OUT

    def inplace(*args: Any, **kwargs: Any) -> Tensor:
        if takes_out:
            kwargs.pop("out", None)
        for name in kwargs:
            if name not in names:
                raise ArgumentError(
                    f"{operation.name}_() got an unexpected keyword argument '{name}'; "
                    f"allowed are {', '.join(names)}"
                )
        target: Any = args[0] if args else kwargs.get(first)
        if target is None:
            target = next((kwargs[k] for k, v in operation.alias.items() if v == first and k in kwargs), None)
        check_inplace(operation.name + "_", target, leaf=operation.nondiff)
        if local.ctx.amp is None:
            result = public(*args, **kwargs)
        else:
            result = _uncast(public, args, kwargs)
        if how != "reshapes" and list(result.shape) != list(target.shape):
            raise ValueError(
                f"{operation.name}_: the result has shape {list(result.shape)}; "
                f"an in-place operation keeps {list(target.shape)}"
            )
        target._adopt(result)
        if how == "copies":
            return target.clone()
        return target

    ft.update_wrapper(inplace, operation.fn)
    del inplace.__wrapped__  # pyright: ignore[reportFunctionMemberAccess]
    inplace.__name__ = inplace.__qualname__ = operation.name + "_"
    inplace.__signature__ = operation.signature.replace(
        parameters=[p for p in operation.params if p.name != "out"]
    )
    inplace.__doc__ = inplace_doc(operation.name, first, operation.fn.__doc__, how == "reshapes", takes_out)
    return inplace


def _uncast(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call without mixed precision: what changes in place keeps its dtype."""
    with swapped_attributes(local.ctx, amp=None):
        return function(*args, **kwargs)


def check_inplace(name: str, target: Any, leaf: bool = False) -> None:
    """Refuses to overwrite a leaf that waits for a gradient, as Paddle does, unless the operation has no
    gradient (`leaf`)."""
    if not isinstance(target, Tensor):
        raise ArgumentError(
            f"{name}(): argument 'x' (position 0) must be Tensor, but got {type(target).__name__}"
        )
    if not leaf and state.grad and not target.stop_gradient and target._node is None:
        state.frame.refuse_leaf_change(name, target)
