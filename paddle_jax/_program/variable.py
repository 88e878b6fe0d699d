"""Variables: Tensors without a value, made while a static Program is recorded."""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.base.caller_info import is_users
from paddle_jax._core.base.size import Size
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lengths import asking_frame
from paddle_jax._core.lazy.symbol import NoValueError, Symbol, SymbolError
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import element_count, held_symbol, plain_shape, replace_held
from paddle_jax._core.tensors.tensor import Parameter, Tensor, wrap
from paddle_jax._program.scope import put_into, value_in
from paddle_jax.tensor.attribute import numel, shape
from paddle_jax.tensor.creation import assign
from paddle_jax.tensor.indexing import setitem

if TYPE_CHECKING:
    from paddle_jax._core.base.dtype import DType
    from paddle_jax._core.tensors.place import Place
    from paddle_jax._program.operation import Operation
    from paddle_jax._program.program import Program
    from paddle_jax._program.scope import Scope


# The property of Tensor, which its stub calls an attribute.
_STOP_GRADIENT: Any = Tensor.__dict__["stop_gradient"]


def _unknown(what: str, instead: str) -> SymbolError:
    error = SymbolError(
        f"{what}(Tensor) is not supported in static graph mode: the value is not known while "
        f"a program is recorded; {instead}"
    )
    _note_refusal(error)
    return error


def _note_refusal(error: Exception) -> None:
    """Has the recording fail where code of the user asks for a value, even if that code catches the error.

    What such code does next would be recorded for one case. Our own code catches the error and does without.
    """
    recorder = local.ctx.frame
    if not recorder.recording:
        return
    # Three frames up is what has called the method of the Variable.
    if is_users(asking_frame(3).f_globals):
        recorder.on_refusal(error)


def _no_value(name: str) -> NoValueError:
    error = NoValueError(
        f"{name}: a Variable of a static program has no value to ask for; "
        "run the program and fetch it, or call paddle.disable_static()"
    )
    _note_refusal(error)
    return error


def _eager_only(name: str) -> Callable[..., Any]:
    def method(self: Variable, *args: Any, **kwargs: Any) -> NoReturn:
        raise _no_value(name)

    method.__name__ = name
    method.__doc__ = "Raises AssertionError: only eager Tensors have it."
    return method


def _absent(name: str) -> property:
    def get(self: Variable) -> NoReturn:
        raise AttributeError(f"'Variable' object has no attribute '{name}': eager Tensors alone have it")

    return property(get, doc="Eager Tensors alone have it.")


def _assigned(x: Tensor, item: Any, value: Any) -> Tensor:
    """`x` after `x[item] = value`; the Tensor that was given stays as it is."""
    if isinstance(x, Variable):
        copy = wrap(held_symbol(x), x.stop_gradient)  # operations on it are recorded: it needs no copy
    else:
        copy = x.clone()
    setitem(copy, item, value)
    return copy


class Variable(Tensor):
    """A Tensor of a static program: shape and dtype are known, the value is there when the program runs.

    Programs make them: `paddle.static.data`, parameters, and the results of operations. All functions of
    Tensors take them.
    """

    # Hidden on purpose: there is no value yet.
    numpy, tolist, clear_gradient, clear_grad, register_hook = map(  # pyright: ignore[reportAssignmentType]
        _eager_only,
        ("numpy", "tolist", "clear_gradient", "clear_grad", "register_hook"),
    )
    # Shown as absent, so that `hasattr(x, "grad")` is False and libraries take it for no eager Tensor.
    backward, grad, gradient, data, is_leaf, grad_fn, __dlpack__ = map(  # pyright: ignore
        _absent,
        ("backward", "grad", "gradient", "data", "is_leaf", "grad_fn", "__dlpack__"),
    )
    # `None` makes `for row in x` a TypeError. Tensor's own would ask for a length that is not known.
    __iter__ = None  # type: ignore[assignment]
    is_parameter = False
    _is_detached = False  # whether it came from `detach`, with the Symbol of another Variable

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            "Variable: a program makes them; use paddle.static.data for an input, "
            "paddle.static.create_parameter for a parameter"
        )

    # what is known ------------------------------------------------------------------------------------------

    @property  # the stub of Tensor calls it an attribute
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name; that of a result is made on first use."""
        symbol = held_symbol(self)
        # Most results are never named, and a name costs a count in the generator that users' names come
        # from.
        if symbol.name is None:
            symbol.name = unique_name.generate("tmp")
        return symbol.name

    @name.setter
    def name(self, value: str) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        held_symbol(self).name = value

    @property
    def shape(self) -> Size:
        """The lengths of the axes, -1 for those that are not known.

        Code of dynamic mode that becomes a static program computes with lengths. It gets a Variable for each
        that is not known.
        """
        lengths = plain_shape(self)
        # With -1 such code would go on as with a number.
        if local.ctx.frame.in_dynamic_code and -1 in lengths and is_users(sys._getframe(1).f_globals):
            known: Any = shape(self)
            return Size([known[axis] if n == -1 else n for axis, n in enumerate(lengths)])
        return Size(lengths)

    def _set_stop_gradient(self, value: Any) -> None:
        is_new_leaf = self._is_detached and self.stop_gradient and value is False
        # Gradients by it must not count what the other Variable of its Symbol is used for.
        if is_new_leaf and local.ctx.frame.recording and held_symbol(self).dtype.kind in INEXACT:
            leaf = assign(self)
            local.ctx.frame.on_assign(self)
            replace_held(self, held_symbol(leaf))
            self._is_detached = False
        _STOP_GRADIENT.__set__(self, value)

    # Read in C, as that of Tensor.
    stop_gradient = property(  # pyright: ignore[reportAssignmentType]
        _STOP_GRADIENT.fget, _set_stop_gradient, doc="Whether no gradient flows to the Variable."
    )

    @property
    def size(self) -> Any:
        """The number of elements: an int, or a Variable where a length is not known."""
        # With an unknown length the number of elements is a result of the program too.
        if -1 in plain_shape(self):
            return numel(self)
        return Tensor.size.__get__(self)

    @property
    def dtype(self) -> DType:
        """The data type."""
        return dtypes.of(held_symbol(self))

    @property
    def place(self) -> Place:
        """The device that programs run on."""
        return places.current()

    @property
    def block(self) -> Program:
        """The Program it belongs to, which is its only block."""
        return held_symbol(self).program

    @property
    def op(self) -> Operation | None:
        """The Operation that makes it; None for inputs and parameters."""
        return held_symbol(self).op

    def get_defining_op(self) -> Operation | None:
        """The Operation that makes it; None for inputs and parameters."""
        return held_symbol(self).op

    # what is not --------------------------------------------------------------------------------------------

    def __bool__(self) -> NoReturn:
        raise _unknown("bool", "use paddle.static.nn.cond or while_loop")

    def __float__(self) -> NoReturn:
        raise _unknown("float", "use astype('float64')")

    def __int__(self) -> NoReturn:
        raise _unknown("int", "use astype('int64')")

    def __complex__(self) -> NoReturn:
        raise _unknown("complex", "use astype('complex64')")

    def __index__(self) -> NoReturn:
        raise _unknown("index", "use gather or slice")

    def item(self, *args: int) -> NoReturn:
        """Raises TypeError, as the value is not known; ValueError for more than one element."""
        if not args and element_count(self) != 1:
            raise ValueError(
                f"item: got a Variable of shape {list(self.shape)}; "
                "only one element can become a Python number"
            )
        raise _unknown("item", "run the program and fetch it")

    def __len__(self) -> NoReturn:
        raise TypeError("object of type 'Variable' has no len() in static graph mode; use its shape")

    def __contains__(self, item: object) -> NoReturn:
        raise _unknown("bool", "use paddle.isin")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise _unknown("array", "run the program and fetch it")

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __repr__(self) -> str:
        raw = held_symbol(self)
        op_name = raw.kind if raw.op is None else raw.op.name
        return (
            f"Variable(name={raw.name}, op={op_name}, shape={list(raw.shape)}, dtype={self.dtype._key}, "
            f"stop_gradient={self.stop_gradient})"
        )

    __str__ = __repr__

    # copies -------------------------------------------------------------------------------------------------

    def detach(self) -> Variable:
        """A Variable with the same value that no gradient flows through."""
        detached = self._snapshot()
        detached._is_detached = True
        return detached

    def detach_(self) -> Variable:
        """Ends gradients at this Variable."""
        super().detach_()
        self._is_detached = True
        return self

    def _snapshot(self) -> Variable:
        return self._with_same_symbol(True)

    def _with_same_symbol(self, stop_gradient: bool) -> Variable:
        """A new Variable of the same value. No operation is needed, as a Symbol never changes."""
        return variable(held_symbol(self), stop_gradient, type(self))

    def __copy__(self) -> Variable:
        # In a function that is saved a copy is a leaf, as it is when the function runs.
        if local.ctx.frame.symbolic:
            leaf = self.detach()
            leaf.stop_gradient = self.stop_gradient
            return leaf
        return self._with_same_symbol(self.stop_gradient)

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        memo[id(self)] = new = self.__copy__()
        return new

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "cannot pickle a Variable: it has no value; fetch it, or save the program with paddle.static.save"
        )

    def __getitem__(self, item: Any) -> Any:
        recorder = local.ctx.frame
        getitem = Tensor.__getitem__
        # Negative indices and slices need lengths: a composite, which runs under the probes.
        if recorder.recording:
            # Every op has its declaration in `op`.
            return recorder.composite(getattr(getitem, "op"), (self, item), {})  # noqa: B009
        return getitem(self, item)

    def __setitem__(self, item: Any, value: Any) -> None:
        recorder = local.ctx.frame
        if not recorder.recording:
            setitem(self, item, value)
            return
        # `x[i] = v` makes a new value. This Variable stands for it from here on; others that had the old
        # value keep it.
        code = types.SimpleNamespace(name="set_value", fn=_assigned)
        self._adopt(recorder.composite(code, (self, item, value), {}))


class PersistentVariable(Variable):
    """A Variable whose value lives in the Scope under its name. What it stands for is looked up in the
    Program that is being recorded, if that has it: another one may have a Variable of the same name.

    Attributes:
        _own_name: str, the name in the Scope.
        _avals: pair of Avals, shape and dtype.
        _program: Program that has made it.
    """

    _own_name: str
    _avals: Any
    _program: Program

    def _get(self) -> Symbol:
        # Two programs may have Variables of one name. Only the one that the Program knows has a current
        # Symbol there.
        recorder = local.ctx.frame
        if recorder.recording and recorder.program.vars.get(self.name) is self:
            program = recorder.program
        else:
            program = self._program
        return program.symbol_of(self)

    def _set(self, symbol: Symbol) -> None:
        if not isinstance(symbol, Symbol):
            raise TypeError(
                f"{self._own_name}: a Variable of a program cannot be given a value; "
                "use global_scope().find_var(name).get_tensor().set"
            )
        recorder = local.ctx.frame
        if recorder.recording:
            program = recorder.program
        else:
            program = self._program
        program.write(self, symbol)

    _raw = property(_get, _set)
    is_data = False

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride] the Scope knows it by this name
        """The name in the Scope."""
        return self._own_name

    @property
    def avals(self) -> Any:
        """Shape and dtype, as a Symbol has them."""
        return self._avals

    def get_value(self, scope: Scope | None = None) -> Tensor:
        """The value in the Scope, as an eager Tensor."""
        return value_in(scope, self._own_name)

    def set_value(self, value: Any, scope: Scope | None = None) -> None:
        """Puts a value into the Scope."""
        put_into(scope, self._own_name, value, self._avals)

    def _with_same_symbol(self, stop_gradient: bool) -> Variable:
        return variable(held_symbol(self), stop_gradient)

    def __copy__(self) -> PersistentVariable:
        # It is a name in the Scope, so a copy would be the same Variable.
        return self


class ParameterVariable(PersistentVariable, Parameter):  # pyright: ignore[reportIncompatibleVariableOverride]
    """A Parameter of a static program."""

    is_parameter = True
    optimize_attr: dict[str, Any]

    def initialize(self) -> NoReturn:
        """Raises AssertionError: running the startup program fills it."""
        raise AssertionError(f"initialize: {self.name} is filled by running the startup program")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A Parameter of its own, with a new name and the same initialisation."""
        recorder = local.ctx.frame
        if not recorder.recording:
            raise TypeError("deepcopy of a Parameter of a static program outside paddle.enable_static()")
        memo[id(self)] = found = recorder.copy_parameter(self)
        found.optimize_attr = copy.copy(self.optimize_attr)
        return found


def variable(symbol: Symbol, stop_gradient: bool = True, kind: type[Variable] = Variable) -> Any:
    """Makes a Variable round a Symbol."""
    new = kind.__new__(kind)
    # The constructor is for users and refuses, so the object is made without it.
    replace_held(new, symbol)
    return _with_tensor_fields(new, stop_gradient, False)


def persistent(
    program: Program,
    name: str,
    avals: Any,
    stop_gradient: bool = True,
    kind: type[PersistentVariable] = PersistentVariable,
) -> Any:
    """Makes a Variable that lives in the Scope."""
    new = kind.__new__(kind)
    new._own_name = name
    new._avals = avals
    new._program = program
    return _with_tensor_fields(new, stop_gradient, True)


def _with_tensor_fields(new: Any, stop_gradient: bool, persistable: bool) -> Any:
    # As `Tensor.__init__` sets them; a Variable has no value and does not run it.
    """A new Variable with the fields that every Tensor has."""
    new.stop_gradient = stop_gradient
    new._node = None
    new._idx = 0
    new._grad = None
    new._alias = None
    new._hooks = None
    new._name = None
    new._version = 0
    new.persistable = persistable
    return new


__all__ = ["ParameterVariable", "PersistentVariable", "Variable", "persistent", "variable"]
