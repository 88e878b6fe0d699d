"""state_dict of a layer: gathering and loading."""

from __future__ import annotations

import collections
import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.transfer import materialize, to_numpy
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.layout import restore_layout
from paddle_jax._core.tensors.tensor import Tensor, read_raw
from paddle_jax.nn.layer.registrations import Registered

if TYPE_CHECKING:
    from paddle_jax._annotations import StateDict


_Keys = collections.namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])

_LISTED = 10  # names of each kind that a warning lists


class _IncompatibleKeys(_Keys):
    """The names that did not match in load_state_dict."""

    __slots__ = ()

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            return super().__repr__()
        return "<All keys matched successfully>"

    __str__ = __repr__


def _paddle_form(
    destination: StateDict | None = None,
    include_sublayers: bool = True,
    structured_name_prefix: str = "",
    use_hook: bool = True,
    keep_vars: bool = True,
) -> tuple[Any, ...]:
    return destination, include_sublayers, structured_name_prefix, use_hook, keep_vars


def _torch_form(
    destination: StateDict | None = None, prefix: str = "", keep_vars: bool = False
) -> tuple[Any, ...]:
    return destination, True, prefix, True, keep_vars


class StateMixin:
    """What Layer has to do with its state dict."""

    def state_dict(self, *args: Any, **kwargs: Any) -> StateDict:
        """Returns parameters and persistable buffers by name, in the order of the tree.

        Call it as `state_dict(destination=None, include_sublayers=True, structured_name_prefix="",
        use_hook=True, keep_vars=True)` or as `state_dict(destination=None, prefix="", keep_vars=False)`.

        Args:
            destination: dict to put them in.
            include_sublayers: also those of the layers below.
            structured_name_prefix: str put before every name (`prefix` in the second form).
            use_hook: call the hooks of `register_state_dict_hook`.
            keep_vars: give the parameters themselves; False gives detached Tensors.
        Returns:
            dict from name to Tensor, e.g. "encoder.0.weight".
        Raises:
            TypeError: unknown arguments.
        Example:
            >>> list(paddle.nn.Linear(2, 2).state_dict())
            ['weight', 'bias']
        """
        # Code written for torch passes (destination, prefix, keep_vars) by keyword or position.
        torch_like = "prefix" in kwargs or any(isinstance(a, str) for a in args[1:2])
        form = _torch_form if torch_like else _paddle_form
        # For Python's own message about wrong arguments.
        try:
            inspect.signature(form).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"state_dict: {error}") from None
        return self._gather(*form(*args, **kwargs), everything=False)

    def sharded_state_dict(self, structured_name_prefix: str = "") -> StateDict:
        """Returns the state dict as parts for `paddle.distributed.save_state_dict` and `load_state_dict`. A
        layer that holds only its part of a Tensor overrides it, with
        `paddle.distributed.build_sharded_state_dict`; layers around it ask it.

        Args:
            structured_name_prefix: str put before every name.
        Returns:
            dict from name to ShardedWeight; a part is the Tensor of `state_dict`, so loading fills the layer.
        Example:
            >>> parts = paddle.nn.Linear(2, 3).sharded_state_dict("net.")
            >>> parts["net.weight"].global_shape
            (2, 3)
        """
        own_state = self.state_dict(include_sublayers=False)
        parts = Registered.build_sharded_state_dict(own_state, prefix=structured_name_prefix)
        for name, layer in self._sub_layers.items():
            if layer is not None:
                parts |= layer.sharded_state_dict(f"{structured_name_prefix}{name}.")
        return parts

    def to_static_state_dict(
        self,
        destination: StateDict | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> StateDict:
        """Like `state_dict`, with the buffers that are not persistable as well."""
        return self._gather(
            destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, everything=True
        )

    def _gather(
        self,
        destination: StateDict | None,
        include_sublayers: bool,
        prefix: str,
        use_hook: bool,
        keep_vars: bool,
        everything: bool,
    ) -> StateDict:
        gathered = collections.OrderedDict() if destination is None else destination
        tensors = [*self._parameters.items(), *self._buffers.items()]
        # `to_static_state_dict` has buffers that are not persistable too.
        hidden = () if everything else self._non_persistable_buffer_names_set
        for name, tensor in tensors:
            if tensor is not None and not (name in hidden and name in self._buffers):
                gathered[prefix + name] = tensor if keep_vars else tensor.detach()
        if include_sublayers:
            for name, layer in self._sub_layers.items():
                if layer is not None:
                    gathered = layer._gather(
                        gathered, True, f"{prefix}{name}.", use_hook, keep_vars, everything
                    )
        if use_hook:
            for hook in list(self._state_dict_hooks.values()):
                replacement = hook(gathered)
                # A hook may change the dict in place and return nothing.
                if replacement is not None:
                    gathered = replacement
        return gathered

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Loads parameters and persistable buffers.

        Args:
            state_dict: dict from name to Tensor or NumPy array.
            use_structured_name: names are those of `state_dict()`; False: they are the parameters' own names
                ("linear_0.w_0").
        Returns:
            (missing, unexpected): the names that got no value, and those in state_dict that were not used. A
            value of another shape is not loaded and is in both. One warning lists what was not loaded.
        Raises:
            AssertionError: a value has another dtype. Nothing is loaded then.
            AttributeError: state_dict is no dict.
        Example:
            >>> layer = paddle.nn.Linear(1, 1)
            >>> layer.set_state_dict({"weight": paddle.ones([1, 1]), "bias": paddle.zeros([1])})
            ([], [])
        """
        require_dict("set_state_dict", state_dict)
        missing = []
        problems = []
        used = set()
        pairs = []
        for key, tensor in self._gather(None, True, "", False, True, everything=False).items():
            name = key if use_structured_name else tensor.name
            value = state_dict.get(name)
            if value is None:
                problem = f"{name} is not found in the provided dict."
            elif list(_shape_of(value)) != list(tensor.shape):
                problem = (
                    f"{name} receives a shape {list(_shape_of(value))}, but the expected shape is "
                    f"{list(tensor.shape)}."
                )
            else:
                used.add(name)
                pairs.append((tensor, _matching(tensor, value)))
                continue
            missing.append(name)
            problems.append(f"Skip loading for {key}. {problem}")
        unexpected = [name for name in state_dict if name not in used]
        if problems:
            warnings.warn(_listed(problems, len(pairs), unexpected), stacklevel=2)
        # All values are checked before the first one is put in.
        for tensor, array in pairs:
            tensor._rebind(places.beside(array, tensor.place))  # the parameter stays on its device
            # A distributed parameter is spread over its devices as before.
            restore_layout(tensor)
        return missing, unexpected

    set_dict = set_state_dict
    load_dict = set_state_dict

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Loads parameters and persistable buffers, and by default insists that all names match.

        Args:
            state_dict: dict from name to Tensor or NumPy array.
            strict: raise when a name is missing or not used.
            assign: accepted for compatibility; parameters keep their identity either way.
        Returns:
            A named tuple (missing_keys, unexpected_keys).
        Raises:
            RuntimeError: names do not match and strict is True.
            AssertionError: a value has another dtype.
            AttributeError: state_dict is no dict.
        """
        missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            parts = [
                f"\n\t{kind} key(s) in state_dict: {', '.join(map(repr, keys))}."
                for kind, keys in (("Missing", missing), ("Unexpected", unexpected))
                if keys
            ]
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:{''.join(parts)}")
        return _IncompatibleKeys(missing, unexpected)


def _listed(problems: Sequence[str], loaded: int, unused: Sequence[str]) -> str:
    """The text of the warning about values that were not loaded, the first of each kind by name."""
    lines = [*problems[:_LISTED]]
    if len(problems) > _LISTED:
        lines.append(f"{len(problems) - _LISTED} more were not loaded.")
    names = ", ".join(unused[:_LISTED]) + (", ..." if len(unused) > _LISTED else "")
    lines.append(f"{loaded} were loaded; not used from the provided dict: {names or 'none'}.")
    return "\n".join(lines)


def _shape_of(value: Any) -> Sequence[int]:
    if isinstance(value, list):
        return np.shape(value)
    return value.shape


def _matching(tensor: Tensor, value: Any) -> Any:
    """The array to put into `tensor`; its dtype must be the same. uint16 is how NumPy files hold bfloat16."""
    if (
        not isinstance(value, Tensor | np.ndarray | np.generic)
        and not hasattr(value, "__jax_array__")
        and not hasattr(value, "devices")
    ):
        raise AssertionError(
            f"set_state_dict: {tensor.name}: got {type(value).__name__}; "
            "values must be Tensors or NumPy arrays"
        )
    if isinstance(value, Tensor):
        array = read_raw(value)
    else:
        array = np.array(value)
    target = np.dtype(numpy_dtype(tensor))
    if array.dtype == np.uint16 and target.name == "bfloat16":
        return persistent_from_numpy(np.array(to_numpy(materialize(array))).view(target))
    if array.dtype != target:
        raise AssertionError(
            f"set_state_dict: {tensor.name}: got dtype {array.dtype}; "
            f"the parameter has {target}; cast one of them"
        )
    if isinstance(value, Tensor):
        return array
    return persistent_from_numpy(array)
