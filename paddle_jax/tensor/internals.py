"""Methods of Tensor with a leading underscore that programs take from Paddle's inside."""

import hashlib

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.tensor import held, wrap
from paddle_jax.tensor.methods import _attach, _moved

_CLEARED = np.zeros((0,), np.float32)  # the value of a tensor whose memory was given back


@_attach
def _is_initialized(self):
    return self._raw is not _CLEARED


@_attach
def _clear_data(self):
    self._rebind(_CLEARED)


@_attach
def _numel(self):
    return int(self._raw.size)


@_attach
def _copy_to(self, place, blocking=True):
    return wrap(jnp.array(_moved(self, place)._value), self.stop_gradient)


@_attach
def _share_buffer_to(self, other):
    other._rebind(held(self))


@_attach
def _is_shared_buffer_with(self, other):
    return self._raw is other._raw


@_attach
def _grad_ivar(self):
    return self._grad


@_attach
def _slice(self, begin, end):
    return wrap(self._value[begin:end])


@_attach
def _md5sum(self):
    return hashlib.md5(np.ascontiguousarray(self._value).tobytes(), usedforsecurity=False).hexdigest()


@_attach
def _bump_inplace_version(self):
    self._version += 1


@_attach
def _offset(self):
    return 0


@_attach
def _inplace_version(self):
    return self._version
