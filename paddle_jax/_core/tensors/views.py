"""Views: Tensors that show elements of another Tensor, as Paddle's do: `x[0][1] = 9` changes x.

Arrays do not change and share nothing. So a Tensor remembers, weakly, which Tensor it is a view of, and by
which operation. When a Tensor of a family gets another value in place, the others get theirs by the same
operations, or by those that write a view back. Tensors share values only: the tape keeps the recorded
history, as in Paddle. A Tensor that is changed otherwise (by an optimizer's step, by a compiled function)
leaves its views as snapshots: the version that a view remembers is then no longer that of the Tensor.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel, execute
from paddle_jax._core.lazy.lazy_array import LazyArray

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

_MAX_DEPTH = 64  # views of views in between that are gone
# References of a family before dead ones are looked for.
_FIRST_LIMIT = 64


@dataclasses.dataclass(frozen=True)
class ViewRule:
    """How the result of a kernel shows elements of its first operand.

    Attributes:
        write_back: function from the kernel to another Kernel, of (operand, value of the result, other
            operands), which gives the operand with that value in it.
        dense: bool, whether the elements of the result are contiguous in Paddle's memory where those of the
            operand are.
        copies: bool, whether the result is a copy where the elements of the operand are not contiguous.
    """

    write_back: Callable[[Kernel], Kernel]
    dense: bool = True
    copies: bool = False


class Family:
    """Tensors that share elements.

    Attributes:
        refs: list of weak references to them, in the order in which they were made.
        limit: int, number of references from which dead ones are removed.
    """

    __slots__ = ("limit", "refs")

    def __init__(self, first: weakref.ref) -> None:
        self.refs = [first]
        self.limit = _FIRST_LIMIT

    def living(self) -> list[Tensor]:
        """The Tensors that are still alive."""
        living = [tensor for ref in self.refs if (tensor := ref()) is not None]
        if len(living) < len(self.refs):
            self.refs = list(map(_ref, living))
            self.limit = _FIRST_LIMIT + 2 * len(living)
        return living


class LivingBase(NamedTuple):
    """The nearest Tensor above a view that is still alive.

    Attributes:
        tensor: that Tensor.
        alias: the Alias just below it.
        path: the Aliases from it down to the view.
    """

    tensor: Tensor
    alias: Alias
    path: Sequence[Alias]


class Alias(NamedTuple):
    """How a Tensor is a view of another one.

    Attributes:
        base: weak reference to that Tensor; None for a Tensor that is no view.
        kernel: the Kernel that takes the view; None where it shows all of base.
        rest: tuple of the other operands of the kernel.
        parent: the Alias of base, which may live longer than base; None for a Tensor that is no view.
        family: the Family.
        version: list of one int, the version of base at which the view last had the same elements.
    """

    base: weakref.ref | None
    kernel: Any
    rest: tuple[Tensor, ...]
    parent: Any
    family: Family
    version: list[int]

    def living_base(self) -> LivingBase | None:
        """The nearest Tensor above that is still alive; None without one."""
        if self.base is None:
            return None
        base = self.base()
        if base is not None:  # nearly always
            return _new(LivingBase, (base, self, (self,)))
        path = [self]
        alias = self.parent
        # Tensors in between may be gone while one above them lives.
        while alias.base is not None and len(path) < _MAX_DEPTH:
            base = alias.base()
            path.append(alias)
            if base is not None:
                return LivingBase(base, alias, path[::-1])
            alias = alias.parent
        return None

    def is_current(self) -> bool:
        """Whether the view still shows its nearest living base."""
        base = self.living_base()
        return base is None or base.alias.version[0] == base.tensor._version

    def is_dense(self) -> bool:
        """Whether the elements are contiguous in Paddle's memory."""
        alias = self
        while alias.base is not None:
            if alias.kernel is not None and not alias.kernel.view.dense:
                return False
            alias = alias.parent
        return True

    def take(self, base_value: Any) -> Any:
        """The value of the view for a value of base."""
        if self.kernel is None:
            return base_value
        return execute(self.kernel, (base_value, *self._rest_values()))

    def write(self, base_value: Any, value: Any) -> Any:
        """A value of base with another value of the view in it."""
        if self.kernel is None:
            return value
        kernel = self.kernel.view.write_back(self.kernel)
        return execute(kernel, (base_value, value, *self._rest_values()))

    def _rest_values(self) -> Iterable[Any]:
        return map(local.ctx.frame.read, self.rest)


_new = tuple.__new__
_ref = weakref.ref


def register_view(
    view: Tensor, base: Tensor, kernel: Kernel | None = None, rest: tuple[Any, ...] = ()
) -> None:
    """Registers a new Tensor as a view of another one.

    Args:
        view: the new Tensor.
        base: the Tensor that it shows.
        kernel: the Kernel that took the view; None where it shows all of base.
        rest: the other operands of the kernel.
    """
    parent = base._alias
    if parent is None or parent.base is not None and parent.base() is None and parent.living_base() is None:
        # All Tensors above are gone, so a new family starts here.
        parent = base._alias = Alias(None, None, (), None, Family(_ref(base)), [0])
    if kernel is not None and kernel.view.copies and not parent.is_dense():
        return
    family = parent.family
    view._alias = _new(Alias, (_ref(base), kernel, rest, parent, family, [base._version]))
    family.refs.append(_ref(view))
    # Dead references are removed now and then, not at each view.
    if len(family.refs) > family.limit:
        family.living()


def propagate_change(tensor: Tensor, old_raw: Any, old_version: int) -> None:
    """Gives the Tensors that share elements with one their values, after it got another value in place.

    Args:
        tensor: the Tensor that changed.
        old_raw: its value before.
        old_version: its version before.
    """
    family = tensor._alias.family
    living = family.living()
    new_raw = tensor._raw
    if len(living) == 1 or not _are_alike(old_raw, new_raw):
        # no other Tensor is left, or the Tensor shows nothing of others now
        tensor._alias = None
        return
    old_versions = {id(tensor): old_version}
    _update_bases(tensor, old_versions)
    if len(old_versions) < len(living):
        members = [t for t in living if t._alias is not None and t._alias.family is family]
        _update_views(members, old_versions)


def _are_alike(raw: Any, other: Any) -> bool:
    """Whether what two Tensors hold has the same shape and dtype."""
    if type(raw) is type(other) is LazyArray and raw.aval is other.aval:
        return True
    return raw.shape == other.shape and raw.dtype == other.dtype


def _update_bases(tensor: Tensor, old_versions: dict[int, int]) -> None:
    """Writes the value of a view into the Tensors that it is a view of.

    Args:
        tensor: the view.
        old_versions: versions before the change, by id of the Tensors that were changed; more are added.
    """
    read = local.ctx.frame.read
    alias = tensor._alias
    value = read(tensor)
    while alias.base is not None:
        found = alias.living_base()
        if found is None:
            return
        base, below, path = found
        before = base._version
        if below.version[0] != before:
            return  # base was changed otherwise
        value = _write_through(path, read(base), value)
        old_versions[id(base)] = before
        _replace(base, value)
        below.version[0] = base._version
        alias = base._alias


def _write_through(path: Sequence[Alias], base_value: Any, value: Any) -> Any:
    """A value of a Tensor with another value of a view in it, by way of the views in between."""
    if len(path) == 1:
        return path[0].write(base_value, value)
    return path[0].write(base_value, _write_through(path[1:], path[0].take(base_value), value))


def _update_views(members: list[Tensor], old_versions: dict[int, int]) -> None:
    """Takes the other views of the Tensors that were changed again."""
    read = local.ctx.frame.read
    for view in members:
        if id(view) in old_versions:
            base = None
        else:
            base = view._alias.living_base()
        if base is None or id(base.tensor) not in old_versions:
            continue
        # Such a view was not current before, so the change is not for it.
        if base.alias.version[0] not in (old_versions[id(base.tensor)], base.tensor._version):
            continue
        value = read(base.tensor)
        for alias in base.path:
            value = alias.take(value)
        old_versions[id(view)] = view._version
        read(view)  # a run that follows Tensors has to see it before it changes
        _replace(view, value)
        base.alias.version[0] = base.tensor._version


def _replace(tensor: Tensor, value: Any) -> None:
    tensor._assign_raw(value)
    tensor._version += 1


class Relation(NamedTuple):
    """How a Tensor shares elements with others.

    A program that changes some of them must find them as they were in its captured run.

    Attributes:
        ref: weak reference to the Tensor.
        alias: its Alias.
        is_current: bool, whether it shows its nearest living base.
    """

    ref: weakref.ref
    alias: Alias
    is_current: bool


def _every(tensor: Tensor) -> bool:
    return True


def relations(tensors: Iterable[Tensor], counts: Callable[[Tensor], bool] = _every) -> list[Relation]:
    """The Relations of all Tensors that share elements with some, these included.

    A Tensor that shares with no other has none.

    Args:
        tensors: the Tensors.
        counts: whether a Tensor counts.
    """
    families = {id(t._alias.family): t._alias.family for t in tensors if t._alias is not None}
    result = []
    for family in families.values():
        members = [
            tensor
            for tensor in family.living()
            if tensor._alias is not None and tensor._alias.family is family and counts(tensor)
        ]
        if len(members) > 1:
            result += [Relation(_ref(t), t._alias, t._alias.is_current()) for t in members]
    return result


def have_relations(
    tensors: Iterable[Tensor], before: list[Relation], counts: Callable[[Tensor], bool]
) -> bool:
    """Whether Tensors share elements with the same others as before, in the same way."""
    now = relations(tensors, counts)
    return len(now) == len(before) and all(
        [
            a.ref() is b.ref() and a.alias is b.alias and a.is_current is b.is_current
            for a, b in zip(now, before, strict=True)
        ]
    )


def relink_views(captured: list[Relation]) -> None:
    """Makes the views current that were so at the end of a run, after a program has changed them alike."""
    for relation in captured:
        if not relation.is_current or relation.ref() is None:
            continue
        base = relation.alias.living_base()
        if base is not None:
            base.alias.version[0] = base.tensor._version
