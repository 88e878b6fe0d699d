"""Views: Tensors that show elements of the Tensor they were taken from, as Paddle's do.
`x[0][1] = 9` changes x.

Arrays do not change and share nothing. So a Tensor remembers what it was taken from, weakly, and by which
operation; when one of a family gets another value in place, the others get theirs by the same operations, or
by those that put back. Only values are shared: what is recorded for gradients stays as it was, as in Paddle.
A Tensor that is changed otherwise (by an optimizer's step, by a compiled function) leaves its views as
snapshots: the version that a view remembers is no longer that of the Tensor.
"""

import dataclasses
import typing
import weakref

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import execute

_DEEPEST = 64  # views of views in between that are gone


@dataclasses.dataclass(frozen=True)
class Showing:
    """How a kernel's result shows elements of its first operand."""

    # function (the kernel) -> Kernel (operand, value of the result, other operands) -> the operand with that
    # value in it
    back: typing.Any
    # whether its elements lie side by side in Paddle's memory where those of the operand do
    dense: bool = True
    copies: bool = False  # whether it is a copy of an operand whose elements do not


class Family:
    """refs: weak references to the Tensors that share elements, in the order they were made; those that are
    gone are left out above `limit`."""

    __slots__ = ("limit", "refs")

    def __init__(self, first):
        self.refs, self.limit = [first], 64

    def living(self):
        """The Tensors that are still there."""
        living = [tensor for ref in self.refs if (tensor := ref()) is not None]
        if len(living) < len(self.refs):
            self.refs, self.limit = list(map(_ref, living)), 64 + 2 * len(living)
        return living


class Alias(typing.NamedTuple):
    """What a Tensor is a view of."""

    base: typing.Any  # weak reference to that Tensor; None for a Tensor that is no view
    kernel: typing.Any  # the operation that takes the view; None where it shows all of base
    rest: tuple  # the other operands of that
    parent: typing.Any  # the Alias of base, which base may not live as long as
    family: Family
    version: list  # one item: that of base, when the view was last the same

    def nearest(self):
        """(nearest Tensor above that is still there, the Alias just below it, the views in between from
        above); None without one."""
        if self.base is None:
            return None
        if (base := self.base()) is not None:  # nearly always
            return base, self, (self,)
        between, alias = [self], self.parent
        while alias.base is not None and len(between) < _DEEPEST:
            base = alias.base()
            between.append(alias)
            if base is not None:
                return base, alias, between[::-1]
            alias = alias.parent
        return None

    def is_dense(self):
        """Whether the elements lie side by side in Paddle's memory."""
        alias = self
        while alias.base is not None:
            if alias.kernel is not None and not alias.kernel.view.dense:
                return False
            alias = alias.parent
        return True

    def take(self, whole):
        """The value of the view in a value of base."""
        return whole if self.kernel is None else execute(self.kernel, (whole, *self._rest()))

    def put(self, whole, value):
        """A value of base with another one of the view in it."""
        return (
            value
            if self.kernel is None
            else execute(self.kernel.view.back(self.kernel), (whole, value, *self._rest()))
        )

    def _rest(self):
        return map(local.ctx.frame.read, self.rest)


def link(view, base, kernel=None, rest=()):
    """Notes that a new Tensor is a view of another one."""
    parent = base._alias
    if parent is None or parent.base is not None and parent.base() is None and parent.nearest() is None:
        parent = base._alias = Alias(None, None, (), None, Family(_ref(base)), [0])
    if kernel is not None and kernel.view.copies and not parent.is_dense():
        return
    family = parent.family
    view._alias = _new(Alias, (_ref(base), kernel, rest, parent, family, [base._version]))
    family.refs.append(_ref(view))
    if len(family.refs) > family.limit:
        family.living()


_new, _ref = tuple.__new__, weakref.ref


def share(tensor, raw, version):
    """Called after a Tensor got another value in place: those that share elements with it get theirs. raw,
    version: what it had until then."""
    family = tensor._alias.family
    living = family.living()
    if len(living) == 1 or raw.shape != tensor._raw.shape or raw.dtype != tensor._raw.dtype:
        tensor._alias = None  # there is nobody to share with, or what it shows now is nothing of others
        return
    versions = {id(tensor): version}
    _upwards(tensor, versions)
    if len(versions) < len(living):
        _downwards([t for t in living if t._alias is not None and t._alias.family is family], versions)


def _upwards(tensor, versions):
    """Puts a view's value into what it is a view of. versions: of the Tensors that were changed,
    until then, by id."""
    read = local.ctx.frame.read
    alias, value = tensor._alias, read(tensor)
    while (found := alias.nearest()) is not None:
        base, last, between = found
        if last.version[0] != base._version:
            return  # it was changed otherwise
        value = _put_through(between, read(base), value)
        versions[id(base)] = base._version
        _replace(base, value)
        last.version[0], alias = base._version, base._alias


def _put_through(between, whole, value):
    """A value of a Tensor with another one of a view in it, by way of the views in between."""
    if len(between) == 1:
        return between[0].put(whole, value)
    return between[0].put(whole, _put_through(between[1:], between[0].take(whole), value))


def _downwards(living, versions):
    """Takes all other views of what was changed anew."""
    read = local.ctx.frame.read
    for view in living:
        found = None if id(view) in versions else view._alias.nearest()
        if found is None or id(found[0]) not in versions:
            continue
        base, last, between = found
        if last.version[0] not in (versions[id(base)], base._version):
            continue
        value = read(base)
        for each in between:
            value = each.take(value)
        versions[id(view)] = view._version
        read(view)  # a run that follows Tensors has to know of it before it changes
        _replace(view, value)
        last.version[0] = base._version


def _replace(tensor, value):
    tensor._put(value)
    tensor._version += 1


class Relation(typing.NamedTuple):
    """How a Tensor shares elements with others. A run as a program, which changes some of them, must find
    them as they were."""

    ref: typing.Any  # weak reference to it
    alias: Alias
    linked: bool  # whether it is what it shows of the nearest Tensor above


def relations(tensors, wanted=lambda tensor: True):
    """The Relations of all that share elements with Tensors, these included; none for a Tensor that is alone.
    wanted: which of them count."""
    families = {id(t._alias.family): t._alias.family for t in tensors if t._alias is not None}
    found = []
    for family in families.values():
        living = [
            one
            for one in family.living()
            if one._alias is not None and one._alias.family is family and wanted(one)
        ]
        found += (
            [Relation(_ref(one), one._alias, _is_linked(one._alias)) for one in living]
            if len(living) > 1
            else []
        )
    return found


def _is_linked(alias):
    nearest = alias.nearest()
    return nearest is None or nearest[1].version[0] == nearest[0]._version


def are_related(tensors, before, wanted):
    """Whether Tensors share elements with the same others as before, in the same way."""
    now = relations(tensors, wanted)
    return len(now) == len(before) and all(
        [
            a.ref() is b.ref() and a.alias is b.alias and a.linked is b.linked
            for a, b in zip(now, before, strict=True)
        ]
    )


def linked_again(found):
    """Links those that were linked at the end of a run, now that a program has changed them as it did."""
    for ref, alias, linked in found:
        if linked and ref() is not None and (nearest := alias.nearest()) is not None:
            nearest[1].version[0] = nearest[0]._version
